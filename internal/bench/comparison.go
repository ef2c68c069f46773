package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
)

// Contest is what is compared: locks, or ways to ask for one, under one load.
type Contest struct {
	Name     string // as commands and files call it
	Heading  string // of its page
	Subject  string // of a table and a picture
	Server   string // as words call a real one
	Sides    []Side
	Measures []Measure // what is shown, in that order; the first four are drawn

	Least    time.Duration // that a lease may last
	Shortest time.Duration // that a cell may be measured: so many leases
	Most     int           // clients with a real server

	patience func(lease time.Duration) time.Duration
	virtual  extent
	real     extent
	// beside: a server is asked so little that all sides are measured at the same time.
	beside bool
}

// extent is how much is measured unless something else is asked for: how many
// clients, and for how many leases.
type extent struct {
	clients []int
	leases  time.Duration
}

// Side is one of those that are compared.
type Side struct {
	Name, Does string
	Lock       string
	Options    catalogue.Options
	hold       func(lease time.Duration) time.Duration // nil: T/200
}

// Hold is how long clients hold the lock: for T/200, unless a side has another
// time. No lease ends then, and a hand-over is short beside it where messages take
// no longer than they do in sim.
func (s *Side) Hold(lease time.Duration) time.Duration {
	if s.hold != nil {
		return s.hold(lease)
	}
	return lease / 200
}

// Lock is the one that all sides have; "": they differ.
func (c *Contest) Lock() string {
	lock := c.Sides[0].Lock
	if slices.ContainsFunc(c.Sides, func(s Side) bool { return s.Lock != lock }) {
		return ""
	}
	return lock
}

// Load is that of clients who want the lock of a side.
func (c *Contest) Load(side, clients int, lease, measured time.Duration, seed uint64) Load {
	s := &c.Sides[side]
	lock, _ := catalogue.FindLock(s.Lock)
	return Load{
		Lock: lock, Name: fmt.Sprintf("%s, %d clients", s.Name, clients), Options: s.Options, Clients: clients,
		Lease: lease, Hold: s.Hold(lease), Patience: c.patience(lease), For: measured, Seed: seed,
	}
}

// Comparison is a contest among more and more clients.
type Comparison struct {
	*Contest
	On      string        // the place: sim, or one with a real server
	Lease   time.Duration // T
	For     time.Duration // how long each cell is measured
	Seed    uint64        // of every cell, in sim
	Clients []int
	Cores   int // of the machine, where time is real

	Cells [][]Figures // by Sides, and by Clients
}

// Compare is what is compared in a place unless something else is asked for.
// Where time is real a cell is shorter.
func (c *Contest) Compare(on string, lease time.Duration) *Comparison {
	if on == "sim" {
		return &Comparison{Contest: c, On: on, Lease: lease, For: c.virtual.leases * lease, Seed: 1, Clients: c.virtual.clients}
	}
	return &Comparison{Contest: c, On: on, Lease: lease, For: c.real.leases * lease, Clients: c.real.clients, Cores: runtime.NumCPU()}
}

// CompareInSim fills in the cells of c, in virtual time. See AllInSim.
func (c *Comparison) CompareInSim(ctx context.Context, jobs int, done func(int)) error {
	var loads []Load
	for i := range c.Sides {
		for _, n := range c.Clients {
			loads = append(loads, c.Load(i, n, c.Lease, c.For, c.Seed))
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

// CompareOnServer fills in the cells of c with a real server. Those that are
// compared follow one another, or stand side by side, so that they have the same
// from a machine that does other things, too. It ends with the first error, with
// the cells that it has.
func (c *Comparison) CompareOnServer(ctx context.Context, addr string, done func(int)) error {
	jobs := 1
	if c.beside {
		jobs = len(c.Sides)
	}
	c.Cells = make([][]Figures, len(c.Sides))
	for i := range c.Cells {
		c.Cells[i] = make([]Figures, len(c.Clients))
	}
	for k, n := range c.Clients {
		var loads []Load
		for i := range c.Sides {
			loads = append(loads, c.Load(i, n, c.Lease, c.For, c.Seed))
		}
		further := func(ready int) {
			if done != nil {
				done(k*len(loads) + ready)
			}
		}
		figures, err := all(loads, jobs, further, func(l Load) (Figures, error) {
			f, err := OnServer(ctx, addr, l)
			if err != nil {
				err = fmt.Errorf("%s: %w", l.Name, err)
			}
			return f, err
		})
		for i := range figures {
			c.Cells[i][k] = figures[i]
		}
		if err != nil {
			return err
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
