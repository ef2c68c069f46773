package explore

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
)

// known is a property that a lock is known to violate under a fault.
type known struct {
	lock, fault string
	property    checker.Property
	use         *catalogue.Lock // instead of the one called lock
}

// outlasted is what order alone makes fischer violate.
func outlasted(checks int) known {
	return known{fmt.Sprintf("fischer, %d checks", checks), "none", checker.Exclusion, newFischer(checks)}
}

var knownBad = []known{ // by the catalogue's locks
	{"redis-setnx", "kill", checker.Liveness, nil},
	{"redis-setnx", "restart-lost", checker.Exclusion, nil},
	{"redis-setnx-expire", "kill", checker.Liveness, nil},
	{"redis-setnx-expire", "pause", checker.Ownership, nil},
	{"redis-set-del", "pause", checker.Ownership, nil},
	{"redis-set-get-del", "pause", checker.Ownership, nil},
	{"redis-set-lua", "pause", checker.Exclusion, nil},
	{"redis-set-lua", "server-jump", checker.LeaseExclusion, nil},
	{"redis-set-lua", "restart-lost", checker.Exclusion, nil},
	{"redis-set-lua", "partition", checker.Handover, nil},
	{"redis-set-lua", "delay", checker.Handover, nil},
}

// settings are what the command takes when nothing else is asked for.
func (k known) settings(strategy string, seed uint64) *Settings {
	s := &Settings{
		Lock: k.lock, Use: k.use, On: "sim", Lease: 10 * time.Second, Clients: AnyClients, Acquires: AnyAcquires, Count: AnyCount,
		Strategy: strategy, Seed: seed,
	}
	if f, ok := faults.Find(k.fault); ok {
		s.Kinds = []faults.Fault{f}
	}
	return s
}

// first is how many runs it takes to violate the property; 0: more than most.
func first(tb testing.TB, s *Settings, property checker.Property, most int, buffer *harness.Buffer) int {
	tb.Helper()
	for i := range most {
		h, err := harness.Run(s.Plan(i), harness.Sim(s.Plan(i).Decide(false)), buffer, nil)
		if err != nil {
			tb.Fatal(err)
		}
		for _, v := range checker.Judge(h) {
			if v.Property == property && v.Outcome == checker.Violated {
				return i + 1
			}
		}
	}
	return 0
}

var figures sync.Once // the table is printed once, however often the benchmark is tried

// BenchmarkFirstViolation prints the table of docs/pct.md: how many runs it
// takes to violate what is known to be violated, from 200 seeds that are far apart.
func BenchmarkFirstViolation(b *testing.B) {
	const bases, most = 200, 100_000
	for b.Loop() { // the table is the same each time
	}
	figures.Do(func() {
		fmt.Printf("\n| lock | fault | violates | strategy | mean | median | 90 %% | worst |\n|---|---|---|---|---|---|---|---|\n")
		for _, k := range append(knownBad, outlasted(1), outlasted(2), outlasted(3)) {
			for _, strategy := range []string{harness.Random, harness.PCT} {
				runs := make([]int, bases)
				var group sync.WaitGroup
				for w := range 2 {
					group.Go(func() {
						var buffer harness.Buffer
						for base := w; base < bases; base += 2 {
							runs[base] = cmp.Or(first(b, k.settings(strategy, uint64(base+1)<<32), k.property, most, &buffer), most)
						}
					})
				}
				group.Wait()
				slices.Sort(runs)
				sum := 0
				for _, n := range runs {
					sum += n
				}
				fmt.Printf("| `%s` | %s | %s | %s | %.1f | %d | %d | %d |\n", k.lock, k.fault, k.property,
					cmp.Or(strategy, "random"), float64(sum)/bases, runs[bases/2], runs[bases*9/10], runs[bases-1])
			}
		}
		fmt.Println()
	})
}
