package redis_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// The expected slots come from a server's CLUSTER KEYSLOT.
func TestSlot(t *testing.T) {
	for key, want := range map[string]int{
		"":              0,
		"k":             7629,
		"123456789":     12739,
		"{a}b":          15495,
		"a":             15495,
		"foo{}{bar}":    8363,
		"foo{{bar}}zap": 4015,
		"{bar":          4015,
		"foo{bar}{zap}": 5061,
		"bar":           5061,
	} {
		if got := redis.Slot(key); got != want {
			t.Errorf("%q: got %d, want %d", key, got, want)
		}
	}
}

// The masters of a cluster divide all slots among them.
func TestSlotsOf(t *testing.T) {
	for masters := range 10 {
		next := 0
		for m := range masters {
			from, to := redis.SlotsOf(m, masters)
			if from != next || to < from {
				t.Errorf("master %d of %d has the slots %d to %d, after %d", m, masters, from, to, next-1)
			}
			next = to + 1
		}
		if masters > 0 && next != redis.Slots {
			t.Errorf("%d masters have %d slots", masters, next)
		}
	}
}
