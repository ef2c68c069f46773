package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
)

// Waiting is a way to wait for a lock that somebody else holds.
type Waiting struct {
	Name, Does string
	Options    catalogue.Options // that make the lock wait so
}

// Waitings are those that are compared, in the order in which they are shown.
var Waitings = []Waiting{
	{"spin", "asks again at once", catalogue.Options{Spin: true}},
	{"fixed", "waits T/50", catalogue.Options{FixedWait: true}},
	{"random", "waits T/100 to T/25, drawn each time", catalogue.Options{}},
	{"exponential", "waits a random time that doubles, from T/1000 to T/10", catalogue.Options{ExponentialWait: true}},
}

// Contended is the lock that is fought for: the one whose sources let it spin.
const Contended = "redis-set-lua"

// Contention is the load of clients that wait so for Contended. They hold it
// for T/200: no lease ever ends, and a hand-over is short beside it where
// messages take no longer than they do in sim.
func Contention(w Waiting, clients int, lease, measured time.Duration, seed uint64) Load {
	lock, _ := catalogue.FindLock(Contended)
	return Load{
		Lock: lock, Options: w.Options, Clients: clients,
		Lease: lease, Hold: hold(lease), For: measured, Seed: seed,
	}
}

func hold(lease time.Duration) time.Duration { return lease / 200 }

// Comparison is contention among more and more clients, in each way to wait.
type Comparison struct {
	On      string        // the place: sim, or one with a real server
	Lease   time.Duration // T
	For     time.Duration // how long each cell is measured
	Seed    uint64        // of every cell, in sim
	Clients []int
	Cores   int // of the machine, where time is real

	Cells [][]Figures // by Waitings, and by Clients
}

// NewComparison is what is compared in a place unless something else is asked
// for. Where time is real a cell is shorter, and there are fewer clients: more
// than 16 on one machine would compare how it shares its cores.
func NewComparison(on string, lease time.Duration) *Comparison {
	if on == "sim" {
		return &Comparison{On: on, Lease: lease, For: 20 * lease, Seed: 1, Clients: []int{2, 4, 8, 16, 32, 64}}
	}
	return &Comparison{On: on, Lease: lease, For: 2 * lease, Clients: []int{2, 4, 8, 16}, Cores: runtime.NumCPU()}
}

// CompareInSim fills in the cells of c, in virtual time. See AllInSim.
func (c *Comparison) CompareInSim(ctx context.Context, jobs int, done func(int)) error {
	var loads []Load
	for _, w := range Waitings {
		for _, n := range c.Clients {
			loads = append(loads, Contention(w, n, c.Lease, c.For, c.Seed))
		}
	}
	figures, err := AllInSim(ctx, loads, jobs, done)
	c.Cells = nil
	for len(figures) > 0 {
		c.Cells = append(c.Cells, figures[:len(c.Clients)])
		figures = figures[len(c.Clients):]
	}
	return err
}

// CompareOnServer fills in the cells of c with a real Redis server, one after
// the other; those that are compared follow one another, so that they have the
// same from a machine that does other things, too. It ends with the first error,
// with the cells that it has.
func (c *Comparison) CompareOnServer(ctx context.Context, addr string, done func(int)) error {
	c.Cells = make([][]Figures, len(Waitings))
	for i := range c.Cells {
		c.Cells[i] = make([]Figures, len(c.Clients))
	}
	for k, n := range c.Clients {
		for i, w := range Waitings {
			f, err := OnServer(ctx, addr, Contention(w, n, c.Lease, c.For, c.Seed))
			if err != nil {
				return fmt.Errorf("%d clients, %s: %w", n, w.Name, err)
			}
			c.Cells[i][k] = f
			if done != nil {
				done(k*len(Waitings) + i + 1)
			}
		}
	}
	return nil
}

// Failed is how many operations of all cells ended with an error.
func (c *Comparison) Failed() (n int) {
	for _, row := range c.Cells {
		for _, f := range row {
			n += f.Failed
		}
	}
	return n
}
