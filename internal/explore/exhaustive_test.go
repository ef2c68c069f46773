package explore

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

var redisLocks = []string{"redis-setnx", "redis-setnx-expire", "redis-set-del", "redis-set-get-del", "redis-set-lua"}

// scope returns settings with clients, one acquire for each, and count faults of a
// kind.
func scope(lock, fault string, clients, count int) *Settings {
	s := &Settings{
		Lock: lock, On: "sim", Lease: 10 * time.Second,
		Clients: Exactly(clients), Acquires: Exactly(1), Count: Exactly(count),
	}
	s.Kinds = kindsOf(fault)
	return s
}

// kindsOf returns the kind of fault with that name; nil for "none".
func kindsOf(fault string) []faults.Fault {
	if f, ok := faults.Find(fault); ok {
		return []faults.Fault{f}
	}
	return nil
}

func exhaust(tb testing.TB, s *Settings) *Exhausted {
	tb.Helper()
	b, err := Exhaustive(tb.Context(), sim.Simulator, s, nil)
	must(tb, err)
	return b
}

// plainly searches without skipping anything.
func plainly(t *testing.T, s *Settings) *Exhausted {
	t.Helper()
	e := newExhaustion(t.Context(), sim.Simulator, s, nil)
	e.thorough = true
	b, err := e.run()
	must(t, err)
	return b
}

// outcomes returns the outcome of each property in one line.
func (b *Exhausted) outcomes() string {
	var text bytes.Buffer
	for _, p := range checker.Properties {
		fmt.Fprintf(&text, "%s %s; ", p, b.Outcomes[p].Outcome)
	}
	return text.String()
}

// The proofs and refutations with two clients, and with one fault of a kind.
func TestExhaustiveProvesAndRefutes(t *testing.T) {
	t.Parallel()
	safe := []checker.Property{checker.Exclusion, checker.LeaseExclusion, checker.Ownership, checker.Resource, checker.Answers}
	for _, tt := range []struct {
		lock, fault     string
		refutes, proves []checker.Property
	}{
		{"redis-set-lua", "none", nil, safe},
		{"redis-set-get-del", "none", nil, safe},
		{"redis-set-del", "none", nil, safe},
		{"redis-setnx-expire", "none", nil, safe},
		{"redis-setnx", "none", nil, []checker.Property{checker.Exclusion, checker.Ownership, checker.Resource, checker.Answers}},
		{"redis-set-lua", "pause", []checker.Property{checker.Exclusion, checker.Resource}, []checker.Property{checker.LeaseExclusion, checker.Ownership, checker.Answers}},
		{"redis-set-lua", "kill", nil, safe},
		{"redis-set-lua", "poweroff", nil, safe},
		{"redis-set-lua", "restart", nil, safe},
		{"redis-set-lua", "restart-lost", []checker.Property{checker.Exclusion, checker.LeaseExclusion}, []checker.Property{checker.Ownership}},
		{"redis-set-lua", "server-jump", []checker.Property{checker.Exclusion, checker.LeaseExclusion}, []checker.Property{checker.Ownership}},
		{"redis-set-lua", "drop-reply", nil, safe},
		{"redis-set-lua", "delay", nil, safe},
		{"redis-set-get-del", "delay", []checker.Property{checker.Ownership}, nil},
		{"redis-set-del", "delay", []checker.Property{checker.Ownership}, nil},
		{"redis-setnx-expire", "delay", []checker.Property{checker.Ownership}, nil},
		{"redis-set-get-del", "pause", []checker.Property{checker.Exclusion, checker.Ownership}, []checker.Property{checker.Answers}},
		{"redis-set-del", "pause", []checker.Property{checker.Exclusion, checker.Ownership}, []checker.Property{checker.Answers}},
		{"redis-setnx", "pause", nil, []checker.Property{checker.Exclusion, checker.Ownership, checker.Resource, checker.Answers}},
		{"mysql-optimistic", "none", nil, safe},
		{"mysql-optimistic", "restart-lost", []checker.Property{checker.Exclusion, checker.LeaseExclusion}, nil},
		{"redis-setnx", "restart-lost", []checker.Property{checker.Exclusion, checker.Ownership}, nil},
		// These clients compare dates with a clock.
		{"mysql-fair-fixed", "pause", []checker.Property{checker.Exclusion}, nil},
		{"mysql-fair", "pause", []checker.Property{checker.Exclusion}, nil},
		{"mysql-optimistic", "pause", []checker.Property{checker.Exclusion, checker.Ownership}, nil},
		{"redis-setnx-getset", "pause", []checker.Property{checker.Exclusion}, nil},
		{"redis-setnx-getset-fixed", "pause", []checker.Property{checker.Exclusion, checker.Ownership}, nil},
	} {
		if !alltests.Wanted() && tt.fault != "none" {
			continue
		}
		b := exhaust(t, scope(tt.lock, tt.fault, 2, 1))
		if !b.Complete || b.States < 100 || b.Ends < 2 {
			t.Errorf("%s under %s: %d states, %d ends, complete %v", tt.lock, tt.fault, b.States, b.Ends, b.Complete)
		}
		for _, p := range tt.proves {
			if got := b.Outcomes[p].Outcome; got != checker.Valid {
				t.Errorf("%s under %s: %s is %s", tt.lock, tt.fault, p, got)
			}
		}
		for _, p := range tt.refutes {
			if got := b.Outcomes[p].Outcome; got != checker.Violated {
				t.Errorf("%s under %s: %s is %s", tt.lock, tt.fault, p, got)
			}
		}
	}
}

// Three clients read a date of a client that has died, and two of them act on it.
func TestThreeClientsRefuteADateThatIsReadTwice(t *testing.T) {
	t.Parallel()
	if !alltests.Wanted() {
		t.Skip(manyCoroutines)
	}
	b := exhaust(t, scope("redis-setnx-del-stale", "kill", 3, 1))
	for _, p := range []checker.Property{checker.Exclusion, checker.LeaseExclusion, checker.Ownership} {
		if got := b.Outcomes[p].Outcome; got != checker.Violated {
			t.Errorf("%s is %s", p, got)
		}
	}
}

// Skipping known states, and taking steps first in which only one client learns
// something, loses no verdict and no end.
func TestPrunedAndPlainSearchAgree(t *testing.T) {
	t.Parallel()
	kinds := []string{"none", "pause", "kill", "restart-lost", "server-jump", "partition", "drop-reply"}
	for _, lock := range append([]string{"redis-setnx-getset-fixed"}, redisLocks...) {
		for _, kind := range kinds {
			if !alltests.Wanted() && (lock != "redis-set-get-del" || kind != "none") {
				continue
			}
			s := scope(lock, kind, 2, 1)
			pruned, thorough := exhaust(t, s), plainly(t, s)
			if pruned.outcomes() != thorough.outcomes() {
				t.Errorf("%s under %s: pruned\n  %s\nthorough\n  %s", lock, kind, pruned.outcomes(), thorough.outcomes())
			}
			if !maps.Equal(pruned.ends, thorough.ends) {
				t.Errorf("%s under %s: pruned ends in %d states, thorough in %d", lock, kind, len(pruned.ends), len(thorough.ends))
			}
			if pruned.States > thorough.States {
				t.Errorf("%s under %s: pruned has %d states, thorough %d", lock, kind, pruned.States, thorough.States)
			}
		}
	}
}

// With two acquires a client may use a connection that a restart has broken, or notice
// that before.
func TestABrokenConnectionIsNoticedAtAnyTime(t *testing.T) {
	t.Parallel()
	if !alltests.Wanted() {
		return // it takes ten seconds
	}
	s := scope("redis-setnx", "restart-lost", 2, 1)
	s.Acquires = Exactly(2)
	pruned, thorough := exhaust(t, s), plainly(t, s)
	if !maps.Equal(pruned.ends, thorough.ends) || pruned.outcomes() != thorough.outcomes() {
		t.Errorf("pruned ends in %d states, thorough in %d", len(pruned.ends), len(thorough.ends))
	}
}

// The plainest search goes down every path and compares no states. It finds the same as
// the other.
func TestTheSearchFindsTheEndOfEveryPath(t *testing.T) {
	t.Parallel()
	s := scope("redis-set-get-del", "none", 2, 1)
	b := exhaust(t, s)
	e := newExhaustion(t.Context(), sim.Simulator, s, nil)
	ends := map[harness.State]bool{}
	w := newWalker(e)
	defer w.buffer.Close()
	paths := 0
	var down func(path []uint8)
	down = func(path []uint8) {
		c, err := w.walk(path)
		must(t, err)
		if c.violated != 0 {
			t.Errorf("%v violates %v", path, c.violated.List())
		}
		if c.steps == 0 {
			ends[c.state] = true
			paths++
			return
		}
		for step := range c.steps {
			down(append(path, step))
			if paths > alltests.Budget(30_000, 1000) || t.Failed() {
				return
			}
		}
	}
	down(nil)
	for state := range ends {
		if !b.ends[state] {
			t.Errorf("one of %d paths has an end that the search does not know", paths)
		}
	}
}

// One scope gives the same numbers and the same schedules, with any number of jobs.
func TestJobsDoNotChangeASearch(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"none", "pause", "restart-lost", "delay"}[:alltests.Budget(4, 1)] {
		var first *Exhausted
		for _, jobs := range []int{1, 2, 1, 3}[:alltests.Budget(4, 2)] {
			s := scope("redis-set-get-del", fault, 2, 1)
			s.Jobs = jobs
			b := exhaust(t, s)
			if first == nil {
				first = b
				continue
			}
			if b.States != first.States || b.Schedules != first.Schedules || !maps.Equal(b.ends, first.ends) {
				t.Errorf("%s, %d jobs: %d states, %d schedules; before %d and %d", fault, jobs, b.States, b.Schedules, first.States, first.Schedules)
			}
			for _, p := range checker.Properties {
				if x, y := b.Outcomes[p].Judged, first.Outcomes[p].Judged; (x == nil) != (y == nil) || x != nil && !slices.Equal(x.Plan.Order, y.Plan.Order) {
					t.Errorf("%s, %d jobs: another schedule violates %s", fault, jobs, p)
				}
			}
		}
	}
}

// A schedule that a search found replays from its file, to the same bytes.
func TestFoundSchedulesReplay(t *testing.T) {
	t.Parallel()
	if !alltests.Wanted() {
		t.Skip(manyCoroutines)
	}
	for _, lock := range redisLocks {
		for _, f := range faults.All() {
			if l, _ := catalogue.FindLock(lock); l.Applies(f, catalogue.Server{}) != nil {
				continue
			}
			b := exhaust(t, scope(lock, f.Name, 2, 1))
			for _, p := range checker.Properties {
				found := b.Outcomes[p].Judged
				if found == nil {
					continue
				}
				var file, before, after bytes.Buffer
				must(t, found.Plan.Write(&file))
				plan, err := harness.ReadPlan(&file)
				must(t, err)
				again, fit, err := harness.Simulate(sim.Simulator, plan)
				must(t, err)
				must(t, cmp.Or(history.Encode(&before, found.History), history.Encode(&after, again.History)))
				if fit != (harness.Replay{}) || !bytes.Equal(before.Bytes(), after.Bytes()) || again.Outcome(p) != checker.Violated {
					t.Errorf("%s under %s, %s: %+v, %s", lock, f.Name, p, fit, again.Outcome(p))
				}
			}
		}
	}
}

// manyCoroutines is why short tests leave out searches under a fault.
const manyCoroutines = "the race detector takes gigabytes for the coroutines of a search"

func TestASearchThatIsCutShortProvesNothing(t *testing.T) {
	s := scope("redis-set-lua", "kill", 2, 1)
	s.Runs = 100
	b := exhaust(t, s)
	if b.Complete || b.Outcomes[checker.Exclusion].Outcome != checker.Unknown || b.Outcomes[checker.Exclusion].Reason != "bounded, not complete" {
		t.Errorf("complete %v, %+v", b.Complete, b.Outcomes[checker.Exclusion])
	}
}

func BenchmarkExhaustive(b *testing.B) {
	for _, lock := range []string{"redis-set-lua", "redis-set-get-del"} {
		for count := 1; count <= 2; count++ {
			b.Run(fmt.Sprintf("%s/3x1/%d", lock, count), func(b *testing.B) {
				for range b.N {
					bound := exhaust(b, scope(lock, "pause", 3, count))
					b.ReportMetric(float64(bound.States), "states")
					b.ReportMetric(float64(bound.Schedules), "schedules")
				}
			})
		}
	}
}

// A change that multiplies states shows here: each search must be complete within so
// many schedules.
func TestSearchesStaySmall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lock, fault string
		clients     int
		most        int
	}{
		{"redis-set-lua", "pause", 3, 100_000},      // what its releases removed is a part of the state
		{"redis-setnx-expire", "delay", 3, 220_000}, // it reads a clock, and writes no date
		{"redis-setnx-getset", "delay", 2, 40_000},
		{"redis-setnx-getset", "restart", 2, 20_000},
		{"redis-setnx-getset", "kill-connection", 3, 250_000},
		{"mysql-fair-fixed", "pause", 2, 20_000},
	} {
		if tt.most > 20_000 && !alltests.Wanted() {
			continue
		}
		s := scope(tt.lock, tt.fault, tt.clients, 1)
		s.Runs = tt.most
		if b := exhaust(t, s); !b.Complete {
			t.Errorf("%s under %s with %d clients has more than %d schedules", tt.lock, tt.fault, tt.clients, tt.most)
		}
	}
}
