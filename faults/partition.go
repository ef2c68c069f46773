package faults

import "time"

var partition = Fault{
	Name:  "partition",
	Does:  "nothing passes between a client and a server, 0.1–2.5 T; messages arrive afterwards",
	On:    OnLink,
	Stops: true,
	Words: Words{
		Lane: "cut off",
		Past: "the network cut {on} off from {to}{for}",
		Now:  "{on} is|are cut off from {to}{for}",
		Over: "{on} and {to} are connected again",
	},
	Start: impair(Hold),
	Heal:  restore,
	Draw:  drawDuration,
}

var partitionOneway = Fault{
	Name:  "partition-oneway",
	Does:  "nothing passes in one direction between a client and a server, 0.1–2.5 T",
	On:    OnLink,
	Stops: true,
	Words: Words{
		Lane: "cut off",
		Past: "the network held back {what}{for}",
		Now:  "the network holds back {what}{for}",
		Over: "the network lets it pass",
	},
	Start: impair(Hold),
	Heal:  restore,
	Draw: func(in *Injection, t time.Duration, draw func(int64) int64) {
		drawDuration(in, t, draw)
		drawDirection(in, draw)
	},
}

func drawDirection(in *Injection, draw func(int64) int64) {
	in.Direction = ToServer + Direction(draw(2))
}

// impair starts a disturbance of a link.
func impair(a Action) func(Place, int, Injection) error {
	return func(p Place, id int, in Injection) error {
		return p.Impair(id, Impairment{
			Client: in.On[0], Server: in.On[1],
			Direction: in.Direction, Action: a, Delay: in.Amount,
		})
	}
}

// restore ends a disturbance of a link.
func restore(p Place, id int, _ Injection) (int, error) { return p.Restore(id) }
