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
// acquisitions of redis-set-lua and one random fault, judged. Only runs that
// meant something count: those with all their grants, contention, and a fault
// that touched somebody. The others, in which a fault came too late, cost their
// time all the same. The faults that end a client are left out: it could not
// take its share of the grants.
func BenchmarkJudgedRuns(b *testing.B) {
	var all, pause []faults.Fault
	for _, f := range faults.All() {
		if f.On != faults.OnClient || f.Heal != nil {
			all = append(all, f)
		}
		if f.Name == "pause" {
			pause = append(pause, f)
		}
	}
	b.Run("pause", func(b *testing.B) { judgedRuns(b, pause) })
	b.Run("all", func(b *testing.B) { judgedRuns(b, all) })
}

func judgedRuns(b *testing.B, kinds []faults.Fault) {
	s := Settings{
		Lock: "redis-set-lua", On: "sim", Lease: 10 * time.Second,
		Clients: 5, Acquires: 20, Kinds: kinds, Count: 1,
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
	if b.N > 100 && counting < b.N*8/10 {
		b.Errorf("%d of %d runs had all their grants, contention and a fault that touched somebody: %v", counting, b.N, all.Reached.Map())
	}
}
