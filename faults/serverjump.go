package faults

var serverJump = Fault{
	Name:  "server-jump",
	Does:  "a server's wall clock jumps, forward or back, 0.5–3 T",
	On:    OnServer,
	Need:  NeedClock,
	Once:  true,
	Clock: true,
	Words: jumped,
	Start: leap,
	Draw:  drawAmount,
}
