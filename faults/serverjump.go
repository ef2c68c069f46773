package faults

var serverJump = Fault{
	Name:  "server-jump",
	Does:  "a server's wall clock jumps, forward or back, 0.5–3 T",
	On:    OnServer,
	Need:  NeedClock,
	Start: leap,
	Draw:  drawAmount,
}
