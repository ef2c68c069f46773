package explore

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
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

// judgedRuns does runs with one fault of these kinds each. An event is what the
// scheduler takes from its queue; everything that a run costs, its plan and the
// judge included, is shared out among its events.
func judgedRuns(b *testing.B, kinds []faults.Fault) {
	s := Settings{
		Lock: "redis-set-lua", On: "sim", Lease: 10 * time.Second,
		Clients: Exactly(5), Acquires: Exactly(20), Kinds: kinds, Count: Exactly(1), Shape: workloads.Usual(10 * time.Second),
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	var buffer buffer
	defer buffer.Close()
	all, counting, events := NewResult(), 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		before := all.Reached
		if err := all.run(&s, i, &buffer); err != nil {
			b.Fatal(err)
		}
		reached := func(c checker.Counter) int { return all.Reached[c] - before[c] }
		if reached(checker.Grants) == 100 && reached(checker.Contended) > 0 && reached(checker.FaultTouched) > 0 {
			counting++
		}
		events += buffer.Events()
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(counting)/b.Elapsed().Seconds(), "meaningful-runs/s")
	if b.N > 100 && counting < b.N*8/10 {
		b.Errorf("%d of %d runs had all their grants, contention and a fault that touched somebody: %v", counting, b.N, all.Reached.Map())
	}
}
