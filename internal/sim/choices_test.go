package sim

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/env"
)

// replayOf takes the choices from a record. Missing ones are 0.
func replayOf(record ...env.Choice) env.Decisions {
	return env.Decisions{Replay: append([]env.Choice{}, record...)}
}

// A record may have been edited, or come from a lock that drew from more.
func TestAReplayedChoiceStaysInItsBounds(t *testing.T) {
	c := replay([]env.Choice{{Name: env.Name{What: "think", Who: "c1", N: 1}, Value: -1}, {Name: env.Name{What: "think", Who: "c1", N: 2}, Value: 6}, {Name: env.Name{What: "think", Who: "c1", N: 3}, Value: 7}, {Name: env.Name{What: "think", Who: "c1", N: 4}, Value: 1 << 40}})
	w := new(World)
	w.choices = c
	for i, want := range []int64{0, 6, 6, 6, 0} {
		if got := w.Rand("c1", "think", 7); got != want {
			t.Errorf("choice %d is %d, want %d", i+1, got, want)
		}
	}
	if d := w.Decided(); d.Missing != 1 || d.Unused != 0 {
		t.Errorf("%d choices were missing and %d left over", d.Missing, d.Unused)
	}
}

func TestADrawnChoiceStaysInItsBounds(t *testing.T) {
	w := new(World)
	w.choices = draw(1, true)
	seen := map[int64]bool{}
	for range 1000 {
		seen[w.Rand("c1", "think", 7)] = true
	}
	for v := range seen {
		if v < 0 || v >= 7 {
			t.Errorf("drew %d of 7", v)
		}
	}
	if len(seen) != 7 || len(w.choices.made) != 1000 {
		t.Errorf("%d values in %d choices", len(seen), len(w.choices.made))
	}
}
