package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/exit"
)

// Limits of a herd. In sim the work of a cell grows with the third power of the number
// of waiters; on docker each waiter is a client of this process.
const (
	maxHerd         = 512
	maxHerdOnDocker = 128
	minHerdTime     = time.Second
	maxHerdTime     = 10 * time.Minute
)

// herdOf returns the herd that the flags ask for.
func (f *benchFlags) herdOf(cmd *cobra.Command, p *batch.Runner) (h *bench.Herd, err error) {
	h = bench.NewHerd(p.Name())
	changed := cmd.Flags().Changed
	if changed("seed") {
		h.Seed = f.seed
	}
	if changed("for") {
		h.For = f.limit
	}
	if changed("lease") {
		h.Lease = f.environment.Lease
	}
	most := maxHerd
	if p.Name() != "sim" {
		most = maxHerdOnDocker
	}
	if h.Waiters, err = f.numbers(cmd, h.Waiters, 1, most); err != nil {
		return nil, err
	}
	shortest, longest := docker.Sessions()
	switch {
	case h.For < minHerdTime || h.For > maxHerdTime:
		return nil, exit.Errorf(exit.Usage, "--for %v: it has to be from %v to %v", h.For, minHerdTime, maxHerdTime)
	case p.Name() != "sim" && (h.Lease < shortest || h.Lease > longest):
		return nil, exit.Errorf(exit.Usage, "--lease %v: the ensembles of docker let sessions last from %v to %v", h.Lease, shortest, longest)
	}
	return h, f.ofSim(cmd, p)
}

// herd compares queues by the entries that their waiters watch.
func (a *app) herd(cmd *cobra.Command, f benchFlags) error {
	p, err := a.open(cmd.Context(), f.environment)
	if err != nil {
		return err
	}
	h, err := f.herdOf(cmd, p)
	if err = cmp.Or(err, a.Out.CanKeep()); err != nil {
		return err
	}
	done := a.benchProgress(len(bench.Queued) * len(h.Waiters))
	if p.Name() == "sim" {
		err = h.CompareInSim(p.Ctx, f.jobs, done)
	} else {
		err = a.herdOnDocker(p, h, done)
	}
	return a.compared(p, h, func() any { return newHerdDocument(h) }, h.Cells != nil, err)
}

// herdOnDocker measures with an ensemble of its own.
func (a *app) herdOnDocker(p *batch.Runner, h *bench.Herd, done func(int)) error {
	e, err := docker.ZooKeeper(p.Ctx, bench.HerdServers, docker.Options{Log: a.Stderr})
	if err == nil {
		err = h.CompareOnEnsemble(p.Ctx, e.Addrs(), done)
		err = errors.Join(err, e.Close(context.WithoutCancel(p.Ctx)))
	}
	return failedServer(p, err)
}

// herdDocument is what bench herd prints with --json.
type herdDocument struct {
	Schema    int          `json:"schema"`          // version of this document
	Bench     string       `json:"bench"`           // herd
	On        string       `json:"on"`              // the place: sim or docker
	SessionMS int64        `json:"session_ms"`      // session time-out of the clients, in ms
	Seconds   float64      `json:"seconds"`         // how long each cell was measured
	Seed      uint64       `json:"seed,omitempty"`  // seed of every cell, in sim
	Cores     int          `json:"cores,omitempty"` // cores of the machine, where time is real
	Load      []float64    `json:"load,omitempty"`  // load of the machine before and after, where time is real
	Cells     []herdCell   `json:"cells"`           // the figures, by lock and number of waiters
	Growth    []herdGrowth `json:"growth"`          // how the figures grow with the number of waiters
}

// herdCell is what was measured with a number of waiters.
type herdCell struct {
	Lock      string             `json:"lock"`       // the lock
	Waiters   int                `json:"waiters"`    // how many clients wait in its queue
	HandOvers int                `json:"hand_overs"` // how often the lock went from one to the next
	Figures   map[string]float64 `json:"figures"`    // what was measured, by the name of the figure; times in ms
}

// herdGrowth says that a figure of a lock grows as the number of waiters to the
// power of a number.
type herdGrowth struct {
	Lock   string  `json:"lock"`   // the lock
	Figure string  `json:"figure"` // name of the figure
	Power  float64 `json:"power"`  // that number: with 0 it does not grow, with 1 twice as many waiters double it
}

func newHerdDocument(h *bench.Herd) herdDocument {
	d := herdDocument{
		Schema: 1, Bench: "herd", On: h.On, SessionMS: h.Lease.Milliseconds(), Seconds: h.For.Seconds(),
		Seed: h.Seed, Cores: h.Cores, Cells: []herdCell{}, Growth: []herdGrowth{},
	}
	if h.Load[0] > 0 {
		d.Load = h.Load[:]
	}
	for i, lock := range bench.Queued {
		for k, n := range h.Waiters {
			changes := &h.Cells[i][k]
			if !changes.Measured() {
				continue // not measured because of an interrupt
			}
			c := herdCell{lock, n, len(changes.Left), map[string]float64{}}
			for _, m := range bench.HerdMeasures {
				c.Figures[m.ID] = m.Of(changes)
			}
			d.Cells = append(d.Cells, c)
		}
		for _, m := range bench.HerdMeasures {
			if power, ok := h.Growth(i, &m); ok {
				d.Growth = append(d.Growth, herdGrowth{lock, m.ID, power})
			}
		}
	}
	return d
}
