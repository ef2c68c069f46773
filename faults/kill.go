package faults

var kill = Fault{
	Name:  "kill",
	Does:  "a client dies; its kernel closes its connections",
	On:    OnClient,
	Stops: true,
	Ends:  true, Restarts: true,
	Once: true,
	Words: Words{
		Past: "{on} was|were killed",
		Now:  "{on} is|are killed",
		Over: "{on} starts|start again",
	},
	Start: func(p Place, _ int, in Injection) error { return p.Kill(in.On[0]) },
}
