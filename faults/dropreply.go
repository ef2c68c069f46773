package faults

import "time"

var dropReply = Fault{
	Name:  "drop-reply",
	Does:  "a server executes a request, and its reply never comes: the ambiguous result",
	On:    OnLink,
	Stops: true,
	Start: impair(Swallow),
	Heal:  restore,
	Draw: func(in *Injection, t time.Duration, _ func(int64) int64) {
		in.Direction = ToClient
		in.For = t // until the first reply in this time
	},
}
