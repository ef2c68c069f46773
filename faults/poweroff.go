package faults

var powerOff = Fault{
	Name:  "poweroff",
	Does:  "a client's machine loses power; the servers do not notice",
	On:    OnClient,
	Stops: true,
	Ends:  true,
	Start: func(p Place, _ int, in Injection) error { return p.PowerOff(in.On[0]) },
}
