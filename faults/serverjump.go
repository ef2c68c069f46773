package faults

import "time"

var serverJump = Fault{
	Name:  "server-jump",
	Does:  "a server's wall clock jumps, forward or back, 0.5–3 T",
	On:    OnServer,
	Need:  NeedClock,
	Start: func(p Place, _ int, in Injection) error { return p.Jump(in.On[0], in.Amount) },
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		in.Amount = between(draw, t, 5, 30)
		if draw(2) == 1 {
			in.Amount = -in.Amount
		}
	},
}
