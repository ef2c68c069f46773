package faults

var powerOff = Fault{
	Name:  "poweroff",
	Does:  "a client's machine goes dark; the servers hear nothing of it",
	On:    OnClient,
	Stops: true,
	Ends:  true,
	Start: func(p Place, _ int, in Injection) error { return p.PowerOff(in.On[0]) },
}
