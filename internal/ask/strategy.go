package ask

import (
	"strings"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// Strategies are the possible values of --strategy, the default first.
var Strategies = []string{"random", harness.PCT, Exhaustive}

// strategic sets the strategy of the runs.
func (f *Batch) strategic(given func(flag string) bool, s *explore.Settings) error {
	if f.Strategy == Exhaustive {
		return f.exhaustively(given, s)
	}
	if f.Strategy != Strategies[0] {
		s.Strategy = f.Strategy
	}
	s.Depth = f.Depth
	switch {
	case s.Strategy == harness.Random && given("depth"):
		return exit.Errorf(exit.Usage, "--depth is of --strategy %s only", harness.PCT)
	case given("depth") && (f.Depth < 1 || f.Depth > harness.MaxDepth):
		return exit.Errorf(exit.Usage, "--depth %d: it goes from 1 to %d", f.Depth, harness.MaxDepth)
	case s.Strategy == harness.PCT && f.Environment.On != "sim":
		return exit.Errorf(exit.Usage, "--strategy %s decides how long each message takes, and on %[2]s nobody does: leave out --on %[2]s", harness.PCT, f.Environment.On)
	}
	return nil
}

// Exhaustive is the strategy that searches all possible orders.
const Exhaustive = "exhaustive"

// exhaustively sets the bounds of a search: only small ones can be searched completely.
// It rejects flags and workloads that do not fit.
func (f *Batch) exhaustively(given func(flag string) bool, s *explore.Settings) error {
	for _, flag := range []string{"seed", "depth", "worker", "keep"} {
		if given(flag) {
			return exit.Errorf(exit.Usage, "--strategy %s goes through everything, so there is nothing for --%s to decide", Exhaustive, flag)
		}
	}
	if len(s.Workloads) > 1 {
		return exit.Errorf(exit.Usage, "--strategy %s goes through one workload at a time: leave out all but one of %s", Exhaustive, strings.Join(f.Workloads, ","))
	}
	if err := explore.SearchableWorkload(s.Workloads[0]); err != nil {
		return exit.Errorf(exit.Usage, "--strategy %s: %w", Exhaustive, err)
	}
	if f.Environment.On != "sim" {
		return exit.Errorf(exit.Usage, "--strategy %s decides what happens next, and on %[2]s nobody does: leave out --on %[2]s", Exhaustive, f.Environment.On)
	}
	s.Clients, s.Acquires, s.Count = asked(f.Clients, explore.Exactly(2)), asked(f.Acquires, explore.Exactly(1)), asked(f.Count, explore.Exactly(1))
	return nil
}

// SearchableLocks removes the locks that cannot be searched.
func SearchableLocks(say sayer, ids []string) ([]string, error) {
	if len(ids) == 1 {
		say = func(string, ...any) {} // the error says it
	}
	return searchable(say, ids, func(id string) error {
		lock, _ := catalogue.FindLock(id)
		return explore.SearchableLock(&lock)
	})
}

// SearchableFaults removes the faults that cannot be searched. The zero Fault means a search
// without a fault.
func SearchableFaults(say sayer, kinds []faults.Fault) ([]faults.Fault, error) {
	if kinds == nil {
		return []faults.Fault{{}}, nil
	}
	return searchable(say, kinds, explore.SearchableFault)
}

// searchable returns the items of a list that can be searched, and prints a message for
// each other one. It returns an error if no item is left.
func searchable[T any](say sayer, list []T, fits func(T) error) (some []T, err error) {
	for _, it := range list {
		if why := fits(it); why != nil {
			err = why
			say("lockcheck: skipped: %v\n", why)
			continue
		}
		some = append(some, it)
	}
	if some == nil {
		return nil, exit.Errorf(exit.Usage, "--strategy %s: %w", Exhaustive, err)
	}
	return some, nil
}
