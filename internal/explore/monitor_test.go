package explore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/workloads"
)

// eachMonitored calls each with the batches of the monitor's tests.
func eachMonitored(each func(name string, s *Settings)) {
	for _, lock := range redisLocks {
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
			{"that claims", catalogue.Options{Token: true, ReuseID: true, Claim: true}, history.FencingOff},
		} {
			s := monitored(lock, o.options)
			s.Fencing = o.fencing
			each(lock+" "+o.name, s)
		}
	}
	each("redis-setnx-getset, whose releases return ok and do nothing", monitored("redis-setnx-getset", catalogue.Options{}))
	for _, misuse := range []struct {
		lock, workload string
		options        catalogue.Options
	}{
		{"redis-set-del", "finally", catalogue.Options{Token: true}},
		{"redis-setnx", "finally", catalogue.Options{}},
		{"redis-set-lua", "nested", catalogue.Options{Token: true, ReuseID: true, Claim: true}},
		{"redis-set-get-del", "nested", catalogue.Options{}},
	} {
		w, _ := workloads.Find(misuse.workload)
		s := monitored(misuse.lock, misuse.options)
		s.Workloads = []workloads.Workload{w}
		each(misuse.lock+" "+w.Name, s)
	}
}

// monitored returns the settings of such a batch, under all faults.
func monitored(lock string, o catalogue.Options) *Settings {
	s := anything(lock, 1)
	s.Options, s.Clients, s.Acquires, s.Count = o, Range{2, 3}, Range{1, 4}, Range{1, 2}
	return s
}

// agree feeds m with h, compares it with Judge, and returns the violated properties.
func agree(t *testing.T, m *checker.Monitor, h *history.History, name string) []checker.Property {
	t.Helper()
	m.Reset(h.Header)
	for i := range h.Entries {
		before := m.Violated()
		m.Add(&h.Entries[i])
		if before&^m.Violated() != 0 {
			t.Errorf("%s: line %d takes back %v", name, i+1, (before &^ m.Violated()).List())
		}
	}
	for _, v := range checker.Judge(h)[:len(checker.Monitored)] {
		if m.Violated().Has(v.Property) != (v.Outcome == checker.Violated) {
			t.Errorf("%s: %s is %s, and the monitor's are %v", name, v.Property, v.Outcome, m.Violated().List())
		}
	}
	if !slices.ContainsFunc(h.Entries, func(e history.Entry) bool { return e.F == history.Exit }) {
		sure := checker.Monitor{NoExit: true}
		sure.Reset(h.Header)
		for i := range h.Entries {
			sure.Add(&h.Entries[i])
		}
		if sure.Violated() != m.Violated() {
			t.Errorf("%s: %v, and %v if clients cannot exit", name, m.Violated().List(), sure.Violated().List())
		}
	}
	return m.Violated().List()
}

// At the end of a run the monitor agrees with Judge.
func TestTheMonitorAgreesWithTheJudge(t *testing.T) {
	t.Parallel()
	runs := alltests.Budget(500, 100) // of each of 30 batches
	seen := map[checker.Property]int{}
	buffer := harness.NewBuffer(sim.Simulator)
	defer buffer.Close()
	var m checker.Monitor
	eachMonitored(func(name string, s *Settings) {
		for i := range runs {
			plan := s.Plan(i)
			h, err := buffer.Simulate(plan, plan.Decide(false), nil)
			if err != nil {
				t.Fatalf("%s, run %d: %v", name, i, err)
			}
			for _, p := range agree(t, &m, h, fmt.Sprintf("%s, run %d", name, i)) {
				seen[p]++
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

// The monitor agrees on the scripted cases, with the fault, without it, and remedied.
func TestTheMonitorAgreesOnCases(t *testing.T) {
	t.Parallel()
	var m checker.Monitor
	for _, c := range catalogue.Cases {
		for _, schedule := range c.Schedules {
			flawed, healthy, remedied := harness.CasePlans(c, schedule, "sim", 10*time.Second)
			for i, plan := range []*harness.Plan{flawed, healthy, remedied} {
				if plan == nil {
					continue
				}
				if lock, _ := catalogue.FindLock(plan.Lock); SearchableLock(&lock) != nil {
					continue // the monitor is for searchable locks only
				}
				h, err := harness.Repeat(sim.Simulator, plan)
				if err != nil {
					t.Fatalf("%s: %v", c.ID, err)
				}
				agree(t, &m, h, fmt.Sprintf("%s, run %d", harness.ScheduleName(c, schedule), i+1))
			}
		}
	}
}

// Clients that ask without a pause use up their budgets, and exit.
func TestTheMonitorAgreesOnClientsThatEnd(t *testing.T) {
	t.Parallel()
	runs := alltests.Budget(100, 10)
	exits := 0
	var m checker.Monitor
	for i := range runs {
		s := monitored("redis-set-lua", catalogue.Options{Spin: true})
		s.Shape = workloads.Shape{Hold: 30 * time.Second, Latency: 200 * time.Microsecond}
		plan := s.Plan(i)
		h, err := harness.Repeat(sim.Simulator, plan)
		must(t, err)
		agree(t, &m, h, fmt.Sprintf("run %d", i))
		for j := range h.Entries {
			if h.Entries[j].F == history.Exit {
				exits++
			}
		}
	}
	if exits == 0 {
		t.Error("no client ended")
	}
	t.Logf("%d clients ended", exits)
}
