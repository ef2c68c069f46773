package explore

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/workloads"
)

// byKind runs a lock under all faults, one or two in each run, and returns the properties
// that it broke although its kind can keep them.
func byKind(t *testing.T, id string, runs int, count Range) (broken []string) {
	t.Helper()
	lock, _ := catalogue.FindLock(id)
	kind := lock.Kind()
	s := batch(id, faults.All())
	s.Clients, s.Acquires, s.Shape = AnyClients, AnyAcquires, workloads.Shape{}
	s.Runs, s.Seed, s.Kind, s.Count, s.Mixed = runs, 1, &kind, count, count.Least > 1
	r := random(t, &s)
	for _, p := range checker.Properties {
		if r.Outcome(p) == checker.Violated && !r.Outcomes[p].Excused() {
			broken = append(broken, string(p))
		}
	}
	return broken
}

// The best locks of each kind break nothing that the kind can keep, also where two faults
// strike.
func TestTheBestLocksKeepWhatTheirKindCan(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"redis-set-lua", "redis-watchdog", "redlock", "zk-recipe", "mysql-fair-fixed", "mysql-get-lock", "mysql-for-update"} {
		for _, count := range []Range{AnyCount, Exactly(2)} {
			if broken := byKind(t, id, alltests.Budget(2000, 200), count); broken != nil {
				t.Errorf("%s with %v faults: %v", id, count, broken)
			}
		}
	}
}

// A mistake shows without a promise, because what all locks of the kind break counts for
// nothing.
func TestMistakesShowWithoutAPromise(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"redis-setnx":           "ownership",
		"redis-set-del":         "ownership",
		"redis-set-get-del":     "ownership",
		"mysql-optimistic":      "ownership",
		"redlock-flawed-quorum": "lease-exclusion",
		"zk-children":           "exclusion",
	} {
		if broken := byKind(t, id, 1000, AnyCount); !slices.Contains(broken, want) {
			t.Errorf("%s: broken is %v, want %s among them", id, broken, want)
		}
	}
}

// What counts comes before what does not, whatever came first.
func TestTheFirstViolationIsOneThatCounts(t *testing.T) {
	t.Parallel()
	var a, b Tally
	a.add(checker.Violated, 1, 3, "", 1)
	if !a.Excused() || a.First[checker.Violated] != 3 {
		t.Errorf("one that does not count: %+v", a)
	}
	a.add(checker.Violated, 1, 9, "", 0)
	a.add(checker.Violated, 1, 1, "", 1)
	if a.Excused() || a.First[checker.Violated] != 9 || a.Beyond != 2 {
		t.Errorf("with one that counts: %+v", a)
	}
	b.add(checker.Violated, 2, 2, "", 2)
	b.add(checker.Violated, a.Count[checker.Violated], a.First[checker.Violated], "", a.Beyond)
	if b.First[checker.Violated] != 9 || b.Count[checker.Violated] != 5 || b.Beyond != 4 {
		t.Errorf("joined: %+v", b)
	}
}
