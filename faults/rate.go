package faults

import "time"

var rate = Fault{
	Name:  "rate",
	Does:  "a client's clocks run fast or slow, by up to 1 %, for 1–10 T",
	On:    OnClient,
	Need:  NeedClientClock,
	Rate:  true,
	Words: rated,
	Start: drift,
	Heal:  undrift,
	Draw:  drawRate,
}

var serverRate = Fault{
	Name:  "server-rate",
	Does:  "a server's clocks run fast or slow, by up to 1 %, for 1–10 T",
	On:    OnServer,
	Need:  NeedRate,
	Rate:  true,
	Words: rated,
	Start: drift,
	Heal:  undrift,
	Draw:  drawRate,
}

// drawRate draws the duration, and how much a clock gains or loses in T.
func drawRate(in *Injection, t time.Duration, draw func(int64) int64) {
	in.For = between(draw, t, 10, 100)
	in.Amount = t / 10_000 * time.Duration(1+draw(100))
	if draw(2) == 1 {
		in.Amount = -in.Amount
	}
}

// drift makes a clock fast or slow, and undrift reverts that. Amount is the gain in
// each T; the environment knows T.
func drift(p Place, _ int, in Injection) error { return p.Rate(in.On[0], in.Amount) }

func undrift(p Place, _ int, in Injection) (int, error) { return -1, p.Rate(in.On[0], -in.Amount) }
