package faults

import "time"

var rate = Fault{
	Name:  "rate",
	Does:  "a client's clocks run fast or slow, by up to 1 %, for 1–10 T",
	On:    OnClient,
	Need:  NeedClientClock,
	Start: drift,
	Heal:  undrift,
	Draw:  gain,
}

var serverRate = Fault{
	Name:  "server-rate",
	Does:  "a server's clocks run fast or slow, by up to 1 %, for 1–10 T",
	On:    OnServer,
	Need:  NeedRate,
	Start: drift,
	Heal:  undrift,
	Draw:  gain,
}

// gain draws what a clock gains or loses in T, and for how long.
func gain(in *Injection, t time.Duration, draw func(int64) int64) {
	in.For = between(draw, t, 10, 100)
	in.Amount = t / 10_000 * time.Duration(1+draw(100))
	if draw(2) == 1 {
		in.Amount = -in.Amount
	}
}

// drift makes a clock fast or slow, and undrift right again. Amount is what it
// gains in a T, which the place knows.
func drift(p Place, _ int, in Injection) error { return p.Rate(in.On[0], in.Amount) }

func undrift(p Place, _ int, in Injection) (int, error) { return -1, p.Rate(in.On[0], -in.Amount) }
