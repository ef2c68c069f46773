package bench_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/bench"
)

// herd returns a herd whose figures grow with the square of the waiters, or not at all.
func herd(on string) *bench.Herd {
	h := &bench.Herd{On: on, Lease: lease, For: time.Minute, Seed: 7, Waiters: []int{2, 4}, Cores: 4, Load: [2]float64{1.5, 2}}
	for i := range bench.Queued {
		var row []bench.Changes
		for _, n := range h.Waiters {
			listed := 3
			if i == 0 {
				listed = 1000 * n * n
			}
			change := bench.Change{
				Traffic: bench.Traffic{Notified: 1, Listed: listed},
				Enters:  1500 * time.Microsecond, Rests: 20 * time.Millisecond,
			}
			row = append(row, bench.Changes{Left: []bench.Change{change, change}, Came: []bench.Change{{Traffic: change.Traffic}}})
		}
		h.Cells = append(h.Cells, row)
	}
	return h
}

func TestTheHerdsSection(t *testing.T) {
	fresh := herd("sim").Result().Section("")
	for _, words := range []string{
		"# The herd", "(herd-sim.svg)", "| waiters | 2 | 4 | growth |",
		"| zk-children | 4000 | 16000 | N^2.0 |", "| zk-recipe | 3 | 3 | N^0.0 |", "| zk-recipe | 1.5 | 1.5 | N^0.0 |",
		"sessions of 10 s", "60 s of virtual time, seed 7",
	} {
		if !strings.Contains(fresh, words) {
			t.Errorf("%q is missing in\n%s", words, fresh)
		}
	}
	both := herd("docker").Result().Section(fresh)
	if !strings.HasPrefix(both, fresh) || !strings.Contains(both, "4 cores") || !strings.Contains(both, "load was 1.5 before and 2.0 after") {
		t.Errorf("another place has no section of its own:\n%s", both)
	}
}

// A queue that was not measured has no figures, and its row no growth.
func TestAHerdThatWasInterrupted(t *testing.T) {
	h := herd("sim")
	h.Cells[1][1] = bench.Changes{}
	if text := h.Result().Section(""); !strings.Contains(text, "| zk-recipe | 3 | - | - |") || !strings.Contains(text, "| zk-children | 4000 | 16000 | N^2.0 |") {
		t.Error(text)
	}
}
