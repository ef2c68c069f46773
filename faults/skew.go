package faults

import "time"

var skew = Fault{
	Name:  "skew",
	Does:  "a client's wall clock is wrong by 0.5–3 T, for 0.1–2.5 T",
	On:    OnClient,
	Need:  NeedClientClock,
	Start: leap,
	Heal:  back,
	Draw:  off,
}

var serverSkew = Fault{
	Name:  "server-skew",
	Does:  "a server's wall clock is wrong by 0.5–3 T, for 0.1–2.5 T",
	On:    OnServer,
	Need:  NeedClock,
	Start: leap,
	Heal:  back,
	Draw:  off,
}

// off draws how wrong a clock is, and for how long.
func off(in *Injection, t time.Duration, draw func(int64) int64) {
	lasts(in, t, draw)
	eitherWay(in, t, draw)
}
