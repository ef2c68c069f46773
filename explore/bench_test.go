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
// acquisitions of redis-set-lua, one random fault, judged. It fails unless
// the runs meant something: all grants, contention, a fault that touched somebody.
func BenchmarkJudgedRuns(b *testing.B) {
	s := Settings{
		Lock: "redis-set-lua", On: "sim", Lease: 10 * time.Second,
		Clients: 5, Acquires: 20, Kinds: faults.All(), Count: 1,
	}
	r := NewResult()
	var buffer harness.Buffer
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if err := r.run(&s, i, &buffer); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	if b.N < 1000 {
		return
	}
	if grants := r.Reached[checker.Grants] / r.Runs; grants < 90 {
		b.Errorf("%d grants a run", grants)
	}
	if r.Reached[checker.Contended] < 10*r.Runs {
		b.Errorf("only %d of the acquires were contended", r.Reached[checker.Contended])
	}
	if r.Reached[checker.FaultTouched] < r.Runs/2 {
		b.Errorf("a fault touched somebody in %d of %d runs", r.Reached[checker.FaultTouched], r.Runs)
	}
}
