package explore

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/workloads"
)

func misuseSettings(lock string, does ...workloads.Workload) *Settings {
	s := anything(lock, 1)
	s.Kinds, s.Workloads, s.Runs, s.Jobs = nil, does, 100, 1
	return s
}

// One of several workloads is drawn for each run. Nothing else of the run depends on
// the list.
func TestWorkloadsAreDrawnLast(t *testing.T) {
	usual, several := misuseSettings("redis-set-del"), misuseSettings("redis-set-del", workloads.All()...)
	drawn := map[string]int{}
	for i := range 100 {
		a, b := usual.Plan(i), several.Plan(i)
		drawn[b.Workload]++
		if a.Workload != "" || a.Acquires != b.Acquires || a.Shape != b.Shape || !slices.Equal(a.Clients, b.Clients) {
			t.Errorf("run %d is %+v, and with workloads %+v", i, a, b)
		}
	}
	for _, name := range append(workloads.Names()[1:], "") {
		if drawn[name] < 5 {
			t.Errorf("%q was drawn %d times of 100", name, drawn[name])
		}
	}
}

// A shrunk run has the workload of the long one.
func TestShrinkingKeepsTheWorkload(t *testing.T) {
	finally, _ := workloads.Find("finally")
	s := misuseSettings("redis-set-del", finally)
	for i := range s.Runs {
		j := simulate(t, s.Plan(i))
		if j.Outcome(checker.Ownership) != checker.Violated {
			continue
		}
		short := shrinkRun(t, j, checker.Ownership)
		if short.Workload != "finally" || len(short.Clients) != 2 || short.SectionsOf(0)+short.SectionsOf(1) != 2 {
			t.Errorf("%q, %v, %d + %d sections", short.Workload, short.Clients, short.SectionsOf(0), short.SectionsOf(1))
		}
		return
	}
	t.Error("nothing was found")
}

// A release by name without a hold is a command like any other: the search is complete,
// and the shortest schedule has only the finally workload.
func TestTheFinallyIsFoundExhaustively(t *testing.T) {
	finally, _ := workloads.Find("finally")
	s := misuseSettings("redis-set-del", finally)
	s.Clients, s.Acquires, s.Runs = Exactly(2), Exactly(1), 0
	b := exhaust(t, s)
	for p, want := range map[checker.Property]checker.Outcome{
		checker.Ownership: checker.Violated, checker.Exclusion: checker.Valid, checker.Answers: checker.Valid,
	} {
		if got := b.Outcomes[p].Outcome; got != want || !b.Complete {
			t.Errorf("%s is %s, complete %v", p, got, b.Complete)
		}
	}
}

// A lock without a counter fails with nested acquires, without any fault.
func TestNestingIsFoundAtRandom(t *testing.T) {
	nested, _ := workloads.Find("nested")
	s := misuseSettings("redis-set-lua", nested)
	for options, want := range map[string]checker.Outcome{"": checker.Valid, "reuse-id,claim": checker.Violated} {
		s.Options, _ = catalogue.ParseOptions(options)
		if got := random(t, s).Outcome(checker.LeaseExclusion); got != want {
			t.Errorf("options %q: lease-exclusion is %s, want %s", options, got, want)
		}
	}
}
