package explore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/workloads"
)

// BenchmarkJudgedRuns measures a batch on one core: 5 clients × 20 acquires of
// redis-set-lua, or of a lock on MySQL, which sends twice as much, and one random
// fault, judged. Only runs count that had all their grants, contention, and a fault
// with an effect. The other runs, whose fault came too late, cost time, too. Faults
// that end a client are left out, because a dead client cannot take its share of the
// grants.
func BenchmarkJudgedRuns(b *testing.B) {
	pause := kindsOf("pause")
	all := slices.DeleteFunc(faults.All(), func(f faults.Fault) bool { return f.On == faults.OnClient && f.Heal == nil })
	b.Run("pause", func(b *testing.B) { judgedRuns(b, "redis-set-lua", pause) })
	b.Run("all", func(b *testing.B) { judgedRuns(b, "redis-set-lua", all) })
	b.Run("mysql", func(b *testing.B) { judgedRuns(b, "mysql-optimistic", pause) })
}

func batch(lock string, kinds []faults.Fault) Settings {
	return Settings{
		Lock: lock, On: "sim", Lease: 10 * time.Second,
		Clients: Exactly(5), Acquires: Exactly(20), Kinds: kinds, Count: Exactly(1), Shape: workloads.Usual(10 * time.Second),
	}
}

// judgedRuns runs with one fault of these kinds each. An event is one element of the
// scheduler's queue. All costs of a run, including its plan and the judge, are divided
// by its events.
func judgedRuns(b *testing.B, lock string, kinds []faults.Fault) {
	s := batch(lock, kinds)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	buffer := newBuffer(sim.Simulator)
	defer buffer.Close()
	all, counting, events := NewResult(), 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		before := all.Reached
		must(b, all.run(&s, i, buffer))
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
	if b.N > 100 && counting < b.N*9/10 {
		b.Errorf("%d of %d runs had all their grants, contention and a fault with an effect: %v", counting, b.N, all.Reached.Map())
	}
}

// BenchmarkTwoJobs compares two jobs on two cores with two processes of one job each,
// running at the same time: jobs should not wait for each other. Other work on the
// machine disturbs either side, so the median of several comparisons counts.
func BenchmarkTwoJobs(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("there is one core")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	s := batch("redis-set-lua", kindsOf("pause"))
	s.Jobs, s.Runs = 2, 10_000
	var shares []float64
	for range b.N {
		r, err := Random(context.Background(), sim.Simulator, &s, nil)
		must(b, err)
		together := float64(r.Runs) / r.Took.Seconds()
		var apart [2]float64
		var group sync.WaitGroup
		for i := range apart {
			group.Go(func() { apart[i] = runOtherProcess(b, s.Runs/2) })
		}
		group.Wait()
		shares = append(shares, together/(apart[0]+apart[1]))
	}
	slices.Sort(shares)
	median := shares[len(shares)/2]
	b.ReportMetric(median, "of-two-processes")
	if b.N >= 5 && median < 0.85 {
		b.Errorf("two jobs do %.2f of what two processes do, want 0.85: %.2f", median, shares)
	}
}

// runOtherProcess returns how many judged runs a second another process does.
func runOtherProcess(b *testing.B, runs int) float64 {
	out, err := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkJudgedRuns$/^pause$",
		"-test.cpu=1", fmt.Sprintf("-test.benchtime=%dx", runs)).Output()
	words := strings.Fields(string(out))
	i := slices.Index(words, "runs/s")
	if err != nil || i < 1 {
		b.Errorf("%v: %s", err, out)
		return 0
	}
	rate, err := strconv.ParseFloat(words[i-1], 64)
	if err != nil {
		b.Error(err)
	}
	return rate
}
