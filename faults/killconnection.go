package faults

import "time"

var killConnection = Fault{
	Name:  "kill-connection",
	Does:  "a connection is reset with a request in flight, which the server has executed or not",
	On:    OnLink,
	Stops: true,
	Once:  true,
	Words: Words{
		Lane: "reset",
		Past: "the network was set to reset the connection at the next {message}{did}{arrived}",
		Now:  "the next {message} will reset the connection",
	},
	Start: impair(Reset),
	Heal:  restore,
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		drawDirection(in, draw)
		in.For = t // until the first message in this time
	},
}
