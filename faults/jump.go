package faults

var jump = Fault{
	Name:  "jump",
	Does:  "a client's wall clock jumps, forward or back, 0.5–3 T",
	On:    OnClient,
	Need:  NeedClientClock,
	Once:  true,
	Clock: true,
	Words: Words{
		Lane: "clock",
		Past: "the clock|clocks of {on} jumped {by}",
		Now:  "the clock|clocks of {on} jumps|jump {by}",
	},
	Start: leap,
	Draw:  drawAmount,
}

var serverJump = jump.onServer("server-jump", NeedClock, "a server's wall clock jumps, forward or back, 0.5–3 T")

// leap moves a wall clock by the injection's amount, and leapBack reverts that.
func leap(p Place, _ int, in Injection) error { return p.Jump(in.On[0], in.Amount) }

func leapBack(p Place, _ int, in Injection) (int, error) { return -1, p.Jump(in.On[0], -in.Amount) }
