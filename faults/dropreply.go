package faults

import "time"

var dropReply = Fault{
	Name:  "drop-reply",
	Does:  "a server executes a request, and its reply never comes: the ambiguous result",
	On:    OnLink,
	Stops: true,
	Once:  true,
	Words: Words{
		Lane: "reply lost",
		Past: "the network was set to lose the next reply of {to} to {on}{did}",
		Now:  "the next reply of {to} to {on} will be lost",
	},
	Start: impair(Swallow),
	Heal:  restore,
	Draw: func(in *Injection, t time.Duration, _ func(int64) int64) {
		in.Direction = ToClient
		in.For = t // until the first reply in this time
	},
}
