// Package harness is one run: start the place, let clients and faults act,
// record what everybody saw, heal.
package harness

import (
	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/cluster/sim"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// Open makes the place of a run.
type Open func(cluster.Config, cluster.Observer) (cluster.Place, error)

// Run carries out a plan and returns what happened. With an error the history
// is what there was until then. Each entry also goes to sink, if there is one,
// at the moment when it is recorded.
func Run(plan *Plan, open Open, sink func(*history.Entry)) (*history.History, error) {
	cfg, err := plan.Config()
	if err != nil {
		return nil, err
	}
	rec := newRecorder(plan, sink)
	place, err := open(cfg, rec)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	rec.place = place
	rec.history.Header = plan.header(place.Observes())
	rec.injector.schedule(plan.Faults)

	running := len(plan.Clients)
	for i, name := range plan.Clients {
		c := rec.client(name)
		place.Go(func() {
			if plan.Scripts != nil {
				plan.Scripts[i].Run(c, plan.Lease)
			} else {
				workloads.Random{Acquires: plan.Acquires, Lease: plan.Lease}.Run(c)
			}
			rec.ended(&running)
		})
	}
	err = place.Run()
	rec.close(place.Observes())
	return rec.history, err
}

// Sim opens a place in virtual time. made, if not nil, gets the choices that
// the run made.
func Sim(plan *Plan, choices *sim.Choices) Open {
	return func(cfg cluster.Config, o cluster.Observer) (cluster.Place, error) {
		return sim.New(cfg, o, choices), nil
	}
}
