package faults

var powerOff = Fault{
	Name:  "poweroff",
	Does:  "a client's machine loses power; the servers do not notice",
	On:    OnClient,
	Stops: true,
	Ends:  true,
	Once:  true,
	Words: Words{
		Past: "{on} lost power",
		Now:  "{on} loses|lose power",
	},
	Start: func(p Place, _ int, in Injection) error { return p.PowerOff(in.On[0]) },
}
