package faults

import "time"

var evict = Fault{
	Name:   "evict",
	Does:   "a server runs out of memory, and evicts what it can, for 0.1–0.5 T",
	On:     OnServer,
	Need:   NeedMemory,
	Shares: "full",
	Words: Words{
		Lane: "full",
		Past: "{on} ran out of memory{for}",
		Now:  "{on} runs|run out of memory{for}",
	},
	Start: func(p Place, _ int, in Injection) error { return p.Evict(in.On[0]) },
	Heal:  func(p Place, _ int, in Injection) (int, error) { return -1, p.Relieve(in.On[0]) },
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		in.For = between(draw, t, 1, 5)
	},
}
