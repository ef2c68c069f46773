package explore

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/cluster/sim"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
)

// monitored are the batches that a monitor is tried on.
func monitored(each func(name string, s *Settings)) {
	for _, lock := range []string{"redis-setnx", "redis-setnx-expire", "redis-set-del", "redis-set-get-del", "redis-set-lua"} {
		for _, o := range []struct {
			name    string
			options catalogue.Options
			fencing history.Fencing
		}{
			{"alone", catalogue.Options{}, history.FencingOff},
			{"with tokens", catalogue.Options{Token: true}, history.FencingOff},
			{"fenced", catalogue.Options{Token: true}, history.FencingAll},
			{"with fenced writes", catalogue.Options{Token: true}, history.FencingWrites},
			{"with retries", catalogue.Options{Retries: true}, history.FencingOff},
		} {
			each(lock+" "+o.name, &Settings{
				Lock: lock, Options: o.options, Fencing: o.fencing, On: "sim", Lease: 10 * time.Second, Seed: 1,
				Clients: Range{2, 3}, Acquires: Range{1, 4}, Count: Range{1, 2}, Kinds: faults.All(),
			})
		}
	}
}

// A monitor says at the end of a run what Judge says of its history.
func TestTheMonitorAgreesWithTheJudge(t *testing.T) {
	t.Parallel()
	runs := 500 // of each of 25 batches
	if testing.Short() {
		runs = 40
	}
	seen := map[checker.Property]int{}
	var buffer harness.Buffer
	var m checker.Monitor
	monitored(func(name string, s *Settings) {
		for i := range runs {
			plan := s.Plan(i)
			h, err := harness.Run(plan, harness.Sim(sim.Draw(plan.Seed, false)), &buffer, nil)
			if err != nil {
				t.Fatalf("%s, run %d: %v", name, i, err)
			}
			m.Reset(h.Header)
			for j := range h.Entries {
				before := m.Violated()
				m.Add(&h.Entries[j])
				if before&^m.Violated() != 0 {
					t.Fatalf("%s, run %d: entry %d takes back %v", name, i, j+1, (before &^ m.Violated()).List())
				}
			}
			for _, v := range checker.Judge(h)[:len(checker.Monitored)] {
				violated := v.Outcome == checker.Violated
				if violated != m.Violated().Has(v.Property) {
					t.Errorf("%s, run %d: %s is %s, and the monitor says %v", name, i, v.Property, v.Outcome, m.Violated().List())
				}
				if violated {
					seen[v.Property]++
				}
			}
		}
	})
	t.Logf("violated: %v", seen)
	for _, p := range checker.Monitored {
		if seen[p] == 0 {
			t.Errorf("%s was never violated", p)
		}
	}
}
