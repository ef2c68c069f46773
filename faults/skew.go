package faults

import "time"

var skew = Fault{
	Name:  "skew",
	Does:  "a client's wall clock is wrong by 0.5–3 T, for 0.1–2.5 T",
	On:    OnClient,
	Need:  NeedClientClock,
	Clock: true,
	Words: skewed,
	Start: leap,
	Heal:  leapBack,
	Draw:  drawSkew,
}

var serverSkew = Fault{
	Name:  "server-skew",
	Does:  "a server's wall clock is wrong by 0.5–3 T, for 0.1–2.5 T",
	On:    OnServer,
	Need:  NeedClock,
	Clock: true,
	Words: skewed,
	Start: leap,
	Heal:  leapBack,
	Draw:  drawSkew,
}

// drawSkew draws by how much a clock is wrong, and for how long.
func drawSkew(in *Injection, t time.Duration, draw func(int64) int64) {
	drawDuration(in, t, draw)
	drawAmount(in, t, draw)
}
