package faults

var pause = Fault{
	Name:   "pause",
	Does:   "a client stands still (GC, SIGSTOP, a sleeping laptop), 0.1–2.5 T",
	On:     OnClient,
	Need:   NeedStop,
	Stops:  true,
	Shares: "standing",
	Words: Words{
		Lane: "paused",
		Past: "{on} was|were paused{for}",
		Now:  "{on} is|are paused{for}",
		Over: "{on} wakes|wake up",
	},
	Start: func(p Place, _ int, in Injection) error { return p.Pause(in.On[0]) },
	Heal:  func(p Place, _ int, in Injection) (int, error) { return -1, p.Resume(in.On[0]) },
	Draw:  drawDuration,
}
