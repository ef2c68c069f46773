package explore

import (
	"fmt"
	"reflect"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// sampleShare: one run in so many is executed twice, and judged by Porcupine as well. The
// numbers of the runs decide, so the choice does not depend on the jobs. The first run
// of a batch is one of them.
const sampleShare = 128

// UnrepeatedError reports that a run and its repetition differ: the simulator has a
// bug, or the lock draws from a source other than its host. No result of such a batch
// can be relied on.
type UnrepeatedError struct {
	Plan          *harness.Plan
	First, Second *history.History
	Entry         int // the first that differs, from 1; 0: the header
}

func (e *UnrepeatedError) Error() string {
	return fmt.Sprintf("its repetition differs from entry %d on", e.Entry)
}

// repeat executes run i again and compares its history with h. It uses new memory, so
// that leftovers cannot make the two alike.
func (s *Settings) repeat(sim env.Simulator, i int, h *history.History) (err error) {
	defer recoverError(&err)
	plan := s.Plan(i)
	again, err := harness.Repeat(sim, plan)
	if err != nil {
		return fmt.Errorf("its repetition failed: %w", err)
	}
	if entry, same := compare(h, again); !same {
		return &UnrepeatedError{Plan: plan, First: h, Second: again, Entry: entry}
	}
	return nil
}

// compare returns the first entry, from 1, in which two histories differ; 0 is the
// header.
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
