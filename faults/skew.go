package faults

import "time"

var skew = Fault{
	Name:  "skew",
	Does:  "a client's wall clock is wrong by 0.5–3 T, for 0.1–2.5 T",
	On:    OnClient,
	Need:  NeedClientClock,
	Clock: true,
	Words: Words{
		Lane: "clock",
		Past: "{clock} was|were set {ahead}{for}",
		Now:  "{clock} is|are set {ahead}{for}",
		Over: "{clock} is|are right again",
	},
	Start: leap,
	Heal:  leapBack,
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		drawDuration(in, t, draw)
		drawAmount(in, t, draw)
	},
}

var serverSkew = skew.onServer("server-skew", NeedClock, "a server's wall clock is wrong by 0.5–3 T, for 0.1–2.5 T")
