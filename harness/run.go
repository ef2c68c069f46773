// Package harness is one run: start the place, let clients and faults act,
// record what everybody saw, heal.
package harness

import (
	"cmp"
	"errors"

	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// Open makes the place of a run.
type Open func(cluster.Config, cluster.Observer) (cluster.Place, error)

// Buffer is memory that one run after another may use. The history of a run
// is then good until the next.
type Buffer struct{ history history.History }

// Run carries out a plan and returns what happened. With an error the history
// is what there was until then. buffer and sink may be nil; sink gets each
// entry at the moment when it is recorded.
func Run(plan *Plan, open Open, buffer *Buffer, sink func(*history.Entry)) (h *history.History, err error) {
	cfg, err := plan.Config()
	if err != nil {
		return nil, err
	}
	if buffer == nil {
		buffer = new(Buffer)
	}
	rec := newRecorder(plan, &buffer.history, sink)
	place, err := open(cfg, rec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	rec.begin(place, plan.header(place.Observes()))
	rec.injector.steps = cfg.Lock.Steps
	rec.injector.schedule(plan.Faults)

	if plan.On != "sim" {
		place.Go(func() { rec.watch(plan.Lease) })
	}
	running := len(plan.Clients)
	for i, name := range plan.Clients {
		c := rec.processes[name]
		place.Go(func() {
			if plan.Scripts != nil {
				plan.Scripts[i].Run(c, plan.Lease)
			} else {
				workloads.Random{Acquires: plan.SectionsOf(i), Lease: plan.Lease, Shape: plan.shape()}.Run(c)
			}
			rec.ended(&running)
		})
	}
	err = cmp.Or(place.Run(), rec.injector.err)
	rec.close(place.Observes())
	return rec.history, err
}
