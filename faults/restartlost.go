package faults

var restartLost = Fault{
	Name:   "restart-lost",
	Does:   "a server loses power and comes back with the data that it had synced to its disk, after 0.02–0.3 T",
	On:     OnServer,
	Stops:  true,
	Shares: down,
	Words: Words{
		Lane: "down",
		Past: "{on} lost power{for}",
		Now:  "{on} loses|lose power{for}",
		Over: "{on} is|are back",
	},
	Start: func(p Place, _ int, in Injection) error { return p.Stop(in.On[0], true) },
	Heal:  start,
	Draw:  drawDowntime,
}
