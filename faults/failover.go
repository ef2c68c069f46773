package faults

import "time"

var failover = Fault{
	Name:   "failover",
	Does:   "a master or leader dies, another takes its place, and it comes back as a replica after 0.5–1.5 T",
	On:     OnServer,
	Need:   NeedReplicas,
	Stops:  true,
	Shares: down,
	Words: Words{
		Lane: "down",
		Past: "{on} lost power{for}",
		Now:  "{on} loses|lose power{for}",
		Over: "{on} is|are back{replaced}",
	},
	Start: func(p Place, _ int, in Injection) error {
		k, ok := p.(keeper)
		return p.Stop(in.On[0], !(ok && k.Keeps(in.On[0])))
	},
	Heal: start,
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		in.For = between(draw, t, 5, 15)
	},
}

// keeper is a Place with servers that answer only from their disk: such a server loses
// nothing when it dies.
type keeper interface{ Keeps(server string) bool }
