package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// Contest is a comparison of locks, or of ways to wait for one, under one load.
type Contest struct {
	Name     string // name in commands and files
	Heading  string // of its page
	Subject  string // subject of a table and a picture
	Server   string // name of a real server in texts
	Sides    []Side
	Measures []Measure // the figures to show, in order; the first four are drawn

	Least    time.Duration // shortest possible lease
	Shortest time.Duration // shortest time of a cell, in leases
	Most     int           // most clients with a real server

	patience func(lease time.Duration) time.Duration
	virtual  extent
	real     extent
	// beside: the load on a server is so small that all sides can be measured at once.
	beside bool
}

// extent is the default size of a measurement: numbers of clients, and the time of a
// cell in leases.
type extent struct {
	clients []int
	leases  time.Duration
}

// Side is one lock, or one way to wait, in a contest.
type Side struct {
	Name, Does string
	Lock       string
	Options    catalogue.Options
	hold       func(lease time.Duration) time.Duration // nil: T/200
}

// Hold returns how long clients hold the lock: T/200, unless the side has another time.
// No lease ends in that time. If messages are as fast as in sim, a hand-over is short
// compared with it.
func (s *Side) Hold(lease time.Duration) time.Duration {
	if s.hold != nil {
		return s.hold(lease)
	}
	return lease / 200
}

// Lock returns the lock that all sides share, or "" if they differ.
func (c *Contest) Lock() string {
	lock := c.Sides[0].Lock
	if slices.ContainsFunc(c.Sides, func(s Side) bool { return s.Lock != lock }) {
		return ""
	}
	return lock
}

// Load returns the load of the clients of a side.
func (c *Contest) Load(side, clients int, lease, measured time.Duration, seed uint64) Load {
	s := &c.Sides[side]
	lock, _ := catalogue.FindLock(s.Lock)
	return Load{
		Lock: lock, Name: fmt.Sprintf("%s, %d clients", s.Name, clients), Options: s.Options, Clients: clients,
		Lease: lease, Hold: s.Hold(lease), Patience: c.patience(lease), For: measured, Seed: seed,
	}
}

// Comparison is a contest with growing numbers of clients.
type Comparison struct {
	*Contest
	On      string        // the environment: sim, or one with a real server
	Lease   time.Duration // T
	For     time.Duration // measured time of each cell
	Seed    uint64        // of every cell, in sim
	Clients []int
	Cores   int // of the machine, where time is real

	Cells [][]Figures // by Sides, and by Clients
}

// Compare returns the default comparison in an environment. Cells are shorter in real
// time.
func (c *Contest) Compare(on string, lease time.Duration) *Comparison {
	if on == "sim" {
		return &Comparison{Contest: c, On: on, Lease: lease, For: c.virtual.leases * lease, Seed: 1, Clients: c.virtual.clients}
	}
	return &Comparison{Contest: c, On: on, Lease: lease, For: c.real.leases * lease, Clients: c.real.clients, Cores: runtime.NumCPU()}
}

// CompareInSim measures the cells of c in virtual time, jobs at once (0: one for each
// core). When ctx ends, it stops with ctx's error. It calls done, which may be nil, with
// the number of finished cells.
func (c *Comparison) CompareInSim(ctx context.Context, jobs int, done func(int)) error {
	var loads []Load
	for i := range c.Sides {
		for _, n := range c.Clients {
			loads = append(loads, c.Load(i, n, c.Lease, c.For, c.Seed))
		}
	}
	figures, err := all(loads, jobs, done, func(l Load) (Figures, error) { return InSim(ctx, l) })
	c.Cells = slices.Collect(slices.Chunk(figures, len(c.Clients)))
	return err
}

// CompareOnServer measures the cells of c with a real server. The sides follow one
// another directly, or run at the same time, so that other load on the machine affects
// all of them. It stops at the first error, and keeps the cells measured so far.
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

// Failed returns the number of operations in all cells that ended with an error.
func (c *Comparison) Failed() (n int) {
	for _, row := range c.Cells {
		for _, f := range row {
			n += f.Failed
		}
	}
	return n
}
