package faults

import "time"

var delay = Fault{
	Name:  "delay",
	Does:  "messages sent between a client and a server in 0.1–1 T arrive 0.1–2.5 T later",
	On:    OnLink,
	Stops: true,
	Words: Words{
		Lane: "slow link",
		Past: "the network began to delay {what} by {amount}{until}",
		Now:  "the network delays {what} by {amount}{until}",
	},
	Start: impair(Slow),
	Heal:  restore,
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		in.For = between(draw, t, 1, 10)
		in.Amount = between(draw, t, 1, 25)
		drawDirection(in, draw)
	},
}
