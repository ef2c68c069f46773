package faults

var hang = Fault{
	Name:   "hang",
	Does:   "the task that a client's caller waits for stands still, its background tasks go on, 0.1–2.5 T",
	On:     OnClient,
	Alone:  true,
	Stops:  true,
	Shares: "hanging",
	Words: Words{
		Lane: "hangs",
		Past: "{on} hung{for}, all but its|their background tasks",
		Now:  "{on} hangs|hang{for}, all but its|their background tasks",
		Over: "{on} goes|go on",
	},
	Start: func(p Place, _ int, in Injection) error { return p.Hang(in.On[0]) },
	Heal:  func(p Place, _ int, in Injection) (int, error) { return -1, p.Unhang(in.On[0]) },
	Draw:  drawDuration,
}
