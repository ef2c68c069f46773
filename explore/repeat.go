package explore

import (
	"fmt"
	"reflect"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// sampled is the share of the runs that are carried out twice, and that Porcupine
// judges as well: one of so many,
// by their numbers, so that it does not depend on what runs beside them. The
// first of a batch is one of them.
const sampled = 128

// UnrepeatedError says that a run did not come out twice in the same way: the
// simulator has a bug, or the lock draws from something that is not its host's.
// Nothing that such a batch finds can be relied on.
type UnrepeatedError struct {
	Plan          *harness.Plan
	First, Second *history.History
	Entry         int // the first in which they differ, from 1; 0: it is the header
}

func (e *UnrepeatedError) Error() string {
	return fmt.Sprintf("it came out otherwise when it was repeated, from entry %d on", e.Entry)
}

// repeat carries out run i again, which has given h, and compares. In fresh
// memory, so that nothing that is left over there makes them alike.
func (s *Settings) repeat(sim env.Simulator, i int, h *history.History) (err error) {
	defer caught(&err)
	plan := s.Plan(i)
	again, err := harness.Repeat(sim, plan)
	if err != nil {
		return fmt.Errorf("it ended when it was repeated: %w", err)
	}
	if entry, same := compare(h, again); !same {
		return &UnrepeatedError{Plan: plan, First: h, Second: again, Entry: entry}
	}
	return nil
}

// compare finds the first entry, from 1, in which two histories differ; 0 is
// the header.
func compare(a, b *history.History) (entry int, same bool) {
	if !reflect.DeepEqual(a.Header, b.Header) {
		return 0, false
	}
	n := min(len(a.Entries), len(b.Entries))
	for i := range n {
		if !a.Entries[i].Same(&b.Entries[i]) {
			return i + 1, false
		}
	}
	return n + 1, len(a.Entries) == len(b.Entries)
}
