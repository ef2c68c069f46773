package env_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/env"
)

// An operator counts entries in the order of their acquires, and begins again. Entries of
// operators do not count.
func TestNthEntry(t *testing.T) {
	t.Parallel()
	makers := map[string]int{"b": 3, "c": 1, "a": 3, "an operator's": -1}
	for nth, want := range []string{"c", "a", "b", "c"} {
		if got, ok := env.NthEntry(makers, nth); got != want || !ok {
			t.Errorf("entry %d: %q, %v, want %q", nth, got, ok, want)
		}
	}
	if name, ok := env.NthEntry(map[string]int64{}, 0); ok {
		t.Errorf("of no entries: %q", name)
	}
}
