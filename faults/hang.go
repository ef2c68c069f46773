package faults

var hang = Fault{
	Name:   "hang",
	Does:   "the task that a client's caller waits for stands still, its background tasks go on, 0.1–2.5 T",
	On:     OnClient,
	Alone:  true,
	Stops:  true,
	Shares: "hanging",
	Start:  func(p Place, _ int, in Injection) error { return p.Hang(in.On[0]) },
	Heal:   func(p Place, _ int, in Injection) (int, error) { return -1, p.Unhang(in.On[0]) },
	Draw:   drawDuration,
}
