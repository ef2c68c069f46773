package harness

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// simulateAll executes plans one after the other.
func simulateAll(plans []*Plan, _ []string) ([]*Judged, error) {
	var judged []*Judged
	for _, p := range plans {
		j, _, err := Simulate(sim.Simulator, p)
		if err != nil {
			return nil, err
		}
		judged = append(judged, j)
	}
	return judged, nil
}

// runs returns all runs of a case's result.
func runs(r *CaseResult) []*Judged {
	var list []*Judged
	for _, s := range r.Schedules {
		for _, j := range []*Judged{s.Flawed, s.Healthy, s.Remedied} {
			if j != nil {
				list = append(list, j)
			}
		}
	}
	return list
}

func TestEveryCaseIsReproducedAndRemedied(t *testing.T) {
	for _, c := range catalogue.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			r, err := Case(c, "sim", 10*time.Second, simulateAll)
			must(t, err)
			if !r.Reproduced {
				t.Errorf("not reproduced: %s", r.Why())
			}
			want := "valid"
			if c.Remedy.None != "" {
				want = "none"
			}
			if r.Remedy != want {
				t.Errorf("the remedy is %s: %s", r.Remedy, r.Why())
			}
		})
	}
}

// The lease is only a scale: a case comes out the same for any lease.
func TestCasesScaleWithTheLease(t *testing.T) {
	for _, scale := range []time.Duration{time.Second, 30 * time.Second} {
		for _, c := range catalogue.Cases {
			lease := scale
			if c.Impossible("sim", lease) != "" {
				lease = c.LeastLease
			}
			r, err := Case(c, "sim", lease, simulateAll)
			must(t, err)
			if !r.Reproduced || r.Remedy == "violated" || r.Remedy == "unknown" {
				t.Errorf("%s with T = %v: %s", c.ID, lease, r.Why())
			}
		}
	}
}

// The seed of the network's latencies does not change the outcome of a case.
func TestCasesDoNotDependOnLuck(t *testing.T) {
	for _, c := range catalogue.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds(100) {
				r, err := Case(c, "sim", 10*time.Second, func(plans []*Plan, names []string) ([]*Judged, error) {
					for _, p := range plans {
						p.Seed = seed
					}
					return simulateAll(plans, names)
				})
				must(t, err)
				if !r.Reproduced || r.Remedy == "violated" || r.Remedy == "unknown" {
					t.Fatalf("seed %d: %s", seed, r.Why())
				}
			}
		})
	}
}

// With the remedy each client that is granted the lock gives it back, unless it dies or
// hangs: one that holds to the end would keep the others from showing what the remedy does.
func TestRemediesEndInReleases(t *testing.T) {
	for _, c := range catalogue.Cases {
		if c.Remedy.None != "" {
			continue
		}
		r, err := Case(c, "sim", 10*time.Second, simulateAll)
		must(t, err)
		for _, s := range r.Schedules {
			held := map[int]string{}
			for _, e := range s.Remedied.History.Entries {
				switch {
				case e.F == history.Acquire && e.Type == history.OK:
					held[e.Grant] = e.Client
				case e.F == history.Release && e.Type == history.Invoke:
					delete(held, e.Grant)
				case e.F == "kill" || e.F == "poweroff" || e.F == "hang":
					maps.DeleteFunc(held, func(_ int, client string) bool { return slices.Contains(e.On, client) })
				}
			}
			for grant, client := range held {
				t.Errorf("%s: %s does not release grant %d", ScheduleName(c, s.Schedule), client, grant)
			}
		}
	}
}

// A lock promises no order where nobody asks in turn, so fairness is not unknown there.
func TestOutOfTurnThereIsNoOrder(t *testing.T) {
	c, _ := catalogue.FindCase("mysql-client-clock-skew")
	r, err := Case(c, "sim", 10*time.Second, simulateAll)
	must(t, err)
	for _, s := range r.Schedules {
		for _, j := range []*Judged{s.Flawed, s.Healthy} {
			if got, fair := j.Outcome(checker.Fairness), s.Schedule.Name == "fair"; (got == checker.NA) == fair || got == checker.Unknown {
				t.Errorf("%s: fairness is %s", s.Schedule.Name, got)
			}
		}
	}
}

// A wrong expectation fails the case.
func TestACaseThatDoesNotHappenIsNotReproduced(t *testing.T) {
	c, _ := catalogue.FindCase("redis-get-del-race")
	for name, change := range map[string]func(*catalogue.Case){
		"a lock without the flaw": func(c *catalogue.Case) { c.Setup.Lock = "redis-set-lua" },
		"no fault":                func(c *catalogue.Case) { c.Schedules[0].Faults = nil },
		"another property":        func(c *catalogue.Case) { c.Schedules[0].Must = []checker.Property{checker.Liveness} },
		"another hazard":          func(c *catalogue.Case) { c.Schedules[0].Hazard = checker.RestartWithHolder },
		"something unexpected":    func(c *catalogue.Case) { c.Schedules[0].Must = c.Schedules[0].Must[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Schedules = append([]catalogue.Schedule(nil), c.Schedules...)
			change(&c)
			if r, err := Case(c, "sim", 10*time.Second, simulateAll); err != nil || r.Reproduced {
				t.Errorf("reproduced: %v, %v", r.Reproduced, err)
			}
		})
	}
	t.Run("a counter that must stay 0", func(t *testing.T) {
		c := c
		c.Schedules = append([]catalogue.Schedule(nil), c.Schedules...)
		c.Schedules[0].Must, c.Schedules[0].Never = nil, []checker.Counter{checker.Grants}
		if r, err := Case(c, "sim", 10*time.Second, simulateAll); err != nil || r.Reproduced || !r.Missed {
			t.Errorf("reproduced: %v, missed: %v, %v", r.Reproduced, r.Missed, err)
		}
	})
	t.Run("a remedy that does not help", func(t *testing.T) {
		c := c
		c.Remedy.Setup = c.Setup
		if r, err := Case(c, "sim", 10*time.Second, simulateAll); err != nil || r.Remedy != "violated" {
			t.Errorf("the remedy is %s, %v", r.Remedy, err)
		}
	})
}

// A failure that a slow machine explains is no verdict: the case may be repeated.
func TestFailuresOfASlowMachineAreOnlyMissed(t *testing.T) {
	overdue := func(_, p *Plan, _ *Judged) { p.Faults[0].For -= p.Lease } // as if it had lasted longer
	disturbed := func(flawed, p *Plan, _ *Judged) { p.Faults = flawed.Faults }
	stalled := func(_, _ *Plan, j *Judged) {
		j.History.Entries = append(j.History.Entries, history.Entry{F: history.Stall})
	}
	for _, tt := range []struct {
		name, id string
		before   func(flawed, p *Plan, _ *Judged) // changes the run without the fault
		after    func(flawed, p *Plan, j *Judged) // changes all runs
		flawed   bool                             // the remedied run is the flawed one
		missed   bool
		remedy   string
	}{
		{"nothing", "redis-single-crash-everysec", nil, nil, false, false, "valid"},
		{"the remedy breaks", "redis-single-crash-everysec", nil, nil, true, false, "violated"},
		{"the remedy breaks after a long restart", "redis-single-crash-everysec", nil, overdue, true, true, "unknown"},
		{"the remedy breaks while the machine stands still", "redis-single-crash-everysec", nil, stalled, true, true, "unknown"},
		{"a late turn without the fault", "mysql-fair-dead-waiters", disturbed, nil, false, true, "valid"},
		{"an overlap without the fault", "redis-get-del-race", disturbed, nil, false, false, "valid"},
		{"an overlap without the fault, in real time", "redis-get-del-race", disturbed, nil, false, true, "valid"},
		{"an overlap without the fault in a control, in real time", "redis-get-del-race", disturbed, nil, false, false, "valid"},
		{"an overlap while the machine stood still", "redis-get-del-race", disturbed, stalled, false, true, "valid"},
		{"nothing is expected", "redis-get-del-race", nil, nil, false, false, "valid"},
		{"nothing is expected in real time", "redis-get-del-race", nil, nil, false, true, "valid"},
		{"the remedy's turn comes late", "mysql-fair-dead-waiters", nil, nil, true, false, "violated"},
		{"the remedy's figure is too large", "mysql-timeout-drift", nil, nil, true, false, "violated"},
		{"the remedy's figure is too large in real time", "mysql-timeout-drift", nil, nil, true, true, "unknown"},
		{"the remedy's turn comes late in real time", "mysql-fair-dead-waiters", nil, nil, true, true, "unknown"},
		{"the remedy's lease ends too early", "redis-expiry-while-holding", nil, nil, true, false, "violated"},
		{"the remedy's lease ends too early in real time", "redis-expiry-while-holding", nil, nil, true, true, "unknown"},
		{"the remedy breaks in real time", "redis-single-crash-everysec", nil, nil, true, false, "violated"},
	} {
		on := "sim"
		if strings.HasSuffix(tt.name, "in real time") {
			on = "docker"
		}
		c, _ := catalogue.FindCase(tt.id)
		if strings.Contains(tt.name, "control") {
			c.Kind = catalogue.Control
		}
		unexpected := strings.Contains(tt.name, "nothing is expected")
		if unexpected {
			c.Schedules = slices.Clone(c.Schedules)
			c.Schedules[0].Must, c.Schedules[0].May = nil, nil
		}
		if tt.flawed {
			c.Remedy.Setup = c.Setup
		}
		if strings.Contains(tt.name, "lease ends") {
			c.Remedy.Keeps = []checker.Property{checker.Exclusion}
		}
		r, err := Case(c, on, 10*time.Second, func(plans []*Plan, names []string) ([]*Judged, error) {
			if tt.before != nil {
				tt.before(plans[0], plans[1], nil)
			}
			judged, err := simulateAll(plans, names)
			for _, j := range judged {
				if tt.after != nil && len(j.Plan.Faults) > 0 {
					p := *j.Plan
					p.Faults = slices.Clone(p.Faults)
					tt.after(plans[0], &p, j)
					j.Plan = &p
				}
			}
			return judged, err
		})
		if err != nil || r.Missed != tt.missed || r.Remedy != tt.remedy || r.Reproduced != (tt.before == nil && !unexpected) {
			t.Errorf("%s: missed: %v, remedy %s, %s, %v", tt.name, r.Missed, r.Remedy, r.Why(), err)
		}
	}
}

// The judge needs only the file: with the lock, the case and the clients renamed its
// verdicts are the same.
func TestAStoredHistoryIsJudgedAsTheRunWas(t *testing.T) {
	rename := strings.NewReplacer("c1", "zoe", "c2", "adam", "c3", "kim", "redis-1", "store")
	for _, c := range catalogue.Cases {
		r, err := Case(c, "sim", 10*time.Second, simulateAll)
		must(t, err)
		for i, j := range runs(r) {
			var file bytes.Buffer
			must(t, history.Encode(&file, j.History))
			h, warnings, err := history.Decode(&file, "history.jsonl")
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%s: %v, %v", c.ID, err, warnings)
			}
			if err := history.Check(h); err != nil {
				t.Errorf("%s, run %d: %v", c.ID, i, err)
			}
			h.Header.Lock, h.Header.Case, h.Header.Options, h.Header.Servers = "something", "else", "", ""
			for i := range h.Entries {
				e := &h.Entries[i]
				e.Client = rename.Replace(e.Client)
				e.Process.Name = rename.Replace(e.Process.Name)
				e.Point = rename.Replace(e.Point)
				if e.F == history.Promote {
					e.Text = rename.Replace(e.Text)
				}
				for k, on := range e.On {
					e.On[k] = rename.Replace(on)
				}
				if e.Lock != "" {
					e.Lock = "the-door"
				}
				if e.Key == LockName {
					e.Key = "the-door"
				}
				if e.Process.Client() {
					e.Process.N = 100 - e.Process.N
				}
			}
			for k, v := range checker.JudgeBoth(h) {
				if v.Outcome != j.Verdicts[k].Outcome {
					t.Errorf("%s, run %d: %s was %s and is %s", c.ID, i, v.Property, j.Verdicts[k].Outcome, v.Outcome)
				}
			}
		}
	}
}

// A value tells who wrote it, and a lost update does not put an old value in place.
func TestNoValueIsWrittenTwice(t *testing.T) {
	lost := 0
	for seed := range uint64(400) {
		j := simulate(t, randomPlan("redis-set-del", "pause", seed))
		if j.Outcome(checker.Resource) == checker.Violated {
			lost++
		}
		writers := map[int64]int{}
		for i := range j.History.Entries {
			e := &j.History.Entries[i]
			if e.Type != history.Invoke || e.F != history.Write {
				continue
			}
			if before, twice := writers[e.Value.V]; twice {
				t.Fatalf("seed %d: lines %d and %d both write %d", seed, before, e.Index, e.Value.V)
			}
			writers[e.Value.V] = e.Index
		}
	}
	if lost == 0 {
		t.Error("no update was lost")
	}
}
