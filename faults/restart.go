package faults

import "time"

var restart = Fault{
	Name:   "restart",
	Does:   "a server stops cleanly and comes back with its data, after 0.02–0.3 T",
	On:     OnServer,
	Stops:  true,
	Shares: down,
	Words: Words{
		Lane: "down",
		Past: "{on} was|were stopped{for}",
		Now:  "{on} is|are stopped{for}",
		Over: "{on} is|are back",
	},
	Start: func(p Place, _ int, in Injection) error { return p.Stop(in.On[0], false) },
	Heal:  start,
	Draw:  drawDowntime,
}

// start ends restarts and failovers.
func start(p Place, _ int, in Injection) (int, error) { return -1, p.Start(in.On[0]) }

// drawDowntime draws a short time: the hazard is the data that the server lost, not its
// absence.
func drawDowntime(in *Injection, t time.Duration, draw func(int64) int64) {
	in.For = t * time.Duration(2+draw(29)) / 100
}
