package faults

import "time"

var restart = Fault{
	Name:   "restart",
	Does:   "a server stops in good order and comes back with its data, after 0.02–0.3 T",
	On:     OnServer,
	Stops:  true,
	Shares: "down",
	Start:  func(p Place, _ int, in Injection) error { return p.Stop(in.On[0], false) },
	Heal:   start,
	Draw:   downtime,
}

// start ends both kinds of restart.
func start(p Place, _ int, in Injection) (int, error) { return -1, p.Start(in.On[0]) }

// downtime is short: the hazard is what the server has forgotten, not its absence.
func downtime(in *Injection, t time.Duration, draw func(int64) int64) {
	in.For = t * time.Duration(2+draw(29)) / 100
}
