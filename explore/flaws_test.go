package explore

import (
	"fmt"
	"testing"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// Whoever takes a lock that is wrong for a sound one is told by random runs,
// from any seed; and of the sound one they say nothing of the kind.
func TestFlawsAreConvictedWithoutTheirScripts(t *testing.T) {
	t.Parallel()
	const limit = 20_000
	seeds := 20
	if !alltests.Wanted() {
		seeds = 2
	}
	for i := range catalogue.Exposures {
		x := &catalogue.Exposures[i]
		if !alltests.Wanted() && x.Lock != "redis-watchdog-blind" && x.Lock != "zk-children" {
			continue // the race detector has to see the search, not the flaws
		}
		t.Run(fmt.Sprintf("%s violates %s under %s", x.Lock, x.Shows, x.Under()), func(t *testing.T) {
			list, err := Convict(t.Context(), sim.Simulator, catalogue.Exposures[i:i+1], seeds, limit, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &list[0]
			t.Logf("median %d, worst %d runs", c.Median(), c.Worst())
			if n := c.Missed(); n > 0 {
				t.Errorf("not found from %d of %d seeds", n, seeds)
			}
			if c.Sound == "" {
				return
			}
			// For three times as long as it took at worst.
			buffer := newBuffer(sim.Simulator)
			defer buffer.Close()
			look := min(3*c.Worst(), limit)
			run, err := exposes(t.Context(), x, c.Sound, 1, look, buffer)
			if err != nil {
				t.Fatal(err)
			}
			if run <= look {
				t.Errorf("%s violates it, too, in run %d", c.Sound, run)
			}
		})
	}
}
