package explore

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/alltests"
)

// flaws are the known flaws of the locks.
var flaws = []struct {
	lock     string
	property checker.Property
}{
	{"redis-setnx", checker.Liveness},
	{"redis-setnx-expire", checker.Liveness},
	{"redis-setnx-expire", checker.Ownership},
	{"redis-set-del", checker.Ownership},
	{"redis-set-get-del", checker.Ownership},
	{"redis-set-lua", checker.Exclusion},
}

// The limits for finding a flaw: runs, and time on one core.
const (
	soonRuns = 5_000
	soonTime = time.Second
)

func anything(lock string, seed uint64) *Settings {
	return &Settings{
		Lock: lock, On: "sim", Lease: 10 * time.Second, Seed: seed, Runs: soonRuns,
		Clients: AnyClients, Acquires: AnyAcquires, Count: AnyCount, Kinds: faults.All(),
	}
}

// With default settings and all faults, every flaw shows within 5,000 runs from any
// seed.
func TestFlawsShowSoon(t *testing.T) {
	seeds := alltests.Budget[uint64](20, 4)
	for _, f := range flaws {
		for seed := range seeds {
			if first(t, anything(f.lock, seed*1_000_000), f.property, soonRuns) == 0 {
				t.Errorf("%s, seed %d: %s is not violated in %d runs", f.lock, seed*1_000_000, f.property, soonRuns)
			}
		}
	}
}

// BenchmarkFlawsShow measures the time until a flaw shows, on one core: the median and
// the worst of 20 seeds.
func BenchmarkFlawsShow(b *testing.B) {
	for _, f := range flaws {
		b.Run(f.lock+"/"+string(f.property), func(b *testing.B) {
			for range b.N {
				var runs []int
				var worst time.Duration
				for seed := range uint64(20) {
					start := time.Now()
					runs = append(runs, cmp.Or(first(b, anything(f.lock, seed*1_000_000), f.property, soonRuns), soonRuns+1))
					worst = max(worst, time.Since(start))
				}
				slices.Sort(runs)
				b.ReportMetric(float64(runs[len(runs)/2]), "median-runs")
				b.ReportMetric(float64(runs[len(runs)-1]), "worst-runs")
				b.ReportMetric(worst.Seconds(), "worst-s")
				if worst > soonTime {
					b.Errorf("the slowest seed took %v", worst)
				}
			}
		})
	}
}
