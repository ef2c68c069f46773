package faults

import "time"

var rate = Fault{
	Name: "rate",
	Does: "a client's clocks run fast or slow, by up to 1 %, for 1–10 T",
	On:   OnClient,
	Need: NeedClientClock,
	Rate: true,
	Words: Words{
		Lane: "clock",
		Past: "{clock} {gained} {amount}{each}{for}",
		Now:  "{clock} {gains} {amount}{each}{for}",
		Over: "{clock} runs|run as it|they should again",
	},
	Start: func(p Place, _ int, in Injection) error { return p.Rate(in.On[0], in.Amount) },
	Heal:  func(p Place, _ int, in Injection) (int, error) { return -1, p.Rate(in.On[0], -in.Amount) },
	// Amount is how much the clocks gain or lose in T; the environment knows T.
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		in.For = between(draw, t, 10, 100)
		in.Amount = t / 10_000 * time.Duration(1+draw(100))
		if draw(2) == 1 {
			in.Amount = -in.Amount
		}
	},
}

var serverRate = rate.onServer("server-rate", NeedRate, "a server's clocks run fast or slow, by up to 1 %, for 1–10 T")
