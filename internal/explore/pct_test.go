package explore

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

func encode(t *testing.T, h *history.History) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, history.Encode(&b, h))
	return b.Bytes()
}

// A run with pct records the decisions of its priorities as latencies: the timed
// scheduler alone replays the record to the byte, for every lock under every fault.
func TestPCTRecordsReplayWithoutPriorities(t *testing.T) {
	t.Parallel()
	runs, every := alltests.Budget(16, 3), alltests.Budget(1, 5)
	buffer := harness.NewBuffer(sim.Simulator)
	defer buffer.Close()
	execute := func(plan *harness.Plan) ([]byte, env.Decided) {
		h, err := buffer.Simulate(plan, plan.Decide(true), nil)
		if err != nil {
			t.Fatalf("%s under %v, seed %d: %v", plan.Lock, plan.Faults, plan.Seed, err)
		}
		return encode(t, h), buffer.Decided()
	}
	for l, lock := range catalogue.Locks {
		for f, fault := range faults.All() {
			if (l+f)%every != 0 {
				continue
			}
			s := anything(lock.ID, 1)
			s.Kinds, s.Count, s.Strategy = []faults.Fault{fault}, Range{1, 3}, harness.PCT
			for i := range runs {
				// A lock that spins takes a hundred times the steps: once is enough.
				s.Options = catalogue.Options{Spin: i == 3, Retries: i%4 > 1}
				plan := s.Plan(i)
				before, made := execute(plan)
				plan.Strategy, plan.Depth, plan.Choices = harness.Random, 0, made.Choices
				after, again := execute(plan)
				if again.Missing+again.Unused > 0 || !slices.Equal(made.Choices, again.Choices) {
					t.Errorf("%s under %s, seed %d: the choices are other ones", lock.ID, fault.Name, plan.Seed)
				}
				if !bytes.Equal(before, after) {
					t.Fatalf("%s under %s, seed %d: %s", lock.ID, fault.Name, plan.Seed, difference(before, after))
				}
			}
		}
	}
}

// difference returns the first line in which two texts differ.
func difference(a, b []byte) string {
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(as), len(bs)) {
		if !bytes.Equal(as[i], bs[i]) {
			return fmt.Sprintf("line %d is\n  %s\nand when replayed\n  %s", i+1, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d lines, and when replayed %d", len(as), len(bs))
}

// Every known flaw is found within 1,000 runs.
func TestPCTFindsKnownFlaws(t *testing.T) {
	t.Parallel()
	for _, k := range knownBad {
		if first(t, k.settings(harness.PCT, 1), k.property, 1000) == 0 {
			t.Errorf("%s under %s: %s is not violated", k.lock, k.fault, k.property)
		}
	}
}

// PCT finds an order of messages that is rare by chance: a single message outlasts
// seven others. Random runs need hundreds.
func TestPCTFindsARareOrder(t *testing.T) {
	t.Parallel()
	for base := range uint64(20) {
		if first(t, outlasted(3).settings(harness.PCT, base<<32), checker.Exclusion, 60) == 0 {
			t.Errorf("from seed %d exclusion is not violated in 60 runs", base<<32)
		}
	}
}

// Without a fault nothing is violated: priorities cause no order that time excludes.
func TestPCTRaisesNoFalseAlarm(t *testing.T) {
	t.Parallel()
	runs := alltests.Budget(500, 50)
	for _, lock := range catalogue.Locks {
		if e, err := catalogue.Expect(lock.ID, catalogue.NoFault); err != nil || len(e.May) > 0 {
			continue // it breaks without a fault
		}
		s := knownFlaw{lock: lock.ID, fault: "none"}.settings(harness.PCT, 1)
		s.Runs = runs
		r := random(t, s)
		for _, p := range checker.Properties {
			if out := r.Outcome(p); out == checker.Violated || out == checker.Unknown {
				t.Errorf("%s: %s is %s, first in run %d", lock.ID, p, out, r.Outcomes[p].First[out])
			}
		}
		if why := r.Vacuous(); why != "" {
			t.Errorf("%s: %s", lock.ID, why)
		}
	}
}

// One seed gives one run with any number of jobs, and each run has the same faults as
// at random.
func TestPCTIsDeterministic(t *testing.T) {
	t.Parallel()
	s := knownFlaw{lock: "redis-set-get-del", fault: "pause"}.settings(harness.PCT, 7)
	depths := map[int]bool{}
	for i := range 200 {
		one, two := s.Plan(i), s.Plan(i)
		a := simulate(t, one)
		b := simulate(t, two)
		if !bytes.Equal(encode(t, a.History), encode(t, b.History)) || !slices.Equal(one.Choices, two.Choices) {
			t.Fatalf("seed %d: %s", one.Seed, difference(encode(t, a.History), encode(t, b.History)))
		}
		depths[one.Depth] = true
		chance := *s
		chance.Strategy = harness.Random
		if drawn := chance.Plan(i); !reflect.DeepEqual(drawn.Faults, one.Faults) || drawn.Shape != one.Shape {
			t.Fatalf("seed %d: other faults, or another shape, than at random", one.Seed)
		}
	}
	if len(depths) != 4 || !depths[1] || !depths[4] {
		t.Errorf("drawn depths: %v", depths)
	}
	s.Runs = 300
	jobs := *s
	s.Jobs, jobs.Jobs = 1, 4
	if a, b := random(t, s), random(t, &jobs); !reflect.DeepEqual(a, b) {
		t.Errorf("one job:\n%+v\nfour:\n%+v", a, b)
	}
}

// The range from which change points are drawn is about the number of steps of a run.
func TestTheStepsOfARunAreForeseen(t *testing.T) {
	t.Parallel()
	buffer := harness.NewBuffer(sim.Simulator)
	defer buffer.Close()
	for i, lock := range catalogue.Locks {
		if !alltests.Wanted() && i%8 != 0 {
			continue
		}
		s := knownFlaw{lock: lock.ID, fault: "pause"}.settings(harness.PCT, 1)
		var parts []float64
		for i := range 100 {
			plan := s.Plan(i)
			if _, err := buffer.Simulate(plan, plan.Decide(false), nil); err != nil {
				t.Fatal(err)
			}
			d := buffer.Decided()
			parts = append(parts, float64(d.Steps)/float64(d.Expected))
		}
		slices.Sort(parts)
		median := parts[len(parts)/2]
		t.Logf("%s: %.2f (%.2f to %.2f)", lock.ID, median, parts[0], parts[len(parts)-1])
		// While a handover takes a lease all others keep asking.
		if e, err := catalogue.Expect(lock.ID, catalogue.NoFault); err != nil || !e.Holds() {
			continue
		}
		if median < 0.5 || median > 2 {
			t.Errorf("%s: half of the runs have more than %.2f times the steps that they are expected to have", lock.ID, median)
		}
	}
}
