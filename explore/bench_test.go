package explore

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
)

// BenchmarkJudgedRuns is what a batch does, on one core: 5 clients × 20
// acquisitions of redis-set-lua, one random fault, judged. Only runs that
// meant something count: those with all their grants, contention, and a fault
// that touched somebody. The others cost their time all the same.
func BenchmarkJudgedRuns(b *testing.B) {
	s := Settings{
		Lock: "redis-set-lua", On: "sim", Lease: 10 * time.Second,
		Clients: 5, Acquires: 20, Kinds: faults.All(), Count: 1,
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	var buffer harness.Buffer
	all, counting := NewResult(), 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		one := NewResult()
		if err := one.run(&s, i, &buffer); err != nil {
			b.Fatal(err)
		}
		if r := one.Reached; r[checker.Grants] == 100 && r[checker.Contended] > 0 && r[checker.FaultTouched] > 0 {
			counting++
		}
		all.Add(one)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(counting)/b.Elapsed().Seconds(), "meaningful-runs/s")
	// A killed client does not take its share, and a fault may come too late:
	// these are not failures of the benchmark, but they must not be the rule.
	if b.N > 100 && counting < b.N*7/10 {
		b.Errorf("%d of %d runs had all their grants, contention and a fault that touched somebody: %v", counting, b.N, all.Reached.Map())
	}
}
