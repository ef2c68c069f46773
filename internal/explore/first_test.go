package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// knownFlaw is a property that a lock is known to violate under a fault.
type knownFlaw struct {
	lock, fault string
	property    checker.Property
	use         *catalogue.Lock // replaces the lock called lock
}

// outlasted is a violation of fischer by order alone.
func outlasted(checks int) knownFlaw {
	return knownFlaw{fmt.Sprintf("fischer-%d", checks), "none", checker.Exclusion, newFischer(checks)}
}

// knownBad are the flaws of the catalogue's locks by which strategies are measured.
var knownBad = []knownFlaw{
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

// settings returns the default settings of the command.
func (k knownFlaw) settings(strategy string, seed uint64) *Settings {
	s := anything(k.lock, seed)
	s.Use, s.Strategy, s.Kinds, s.Runs = k.use, strategy, kindsOf(k.fault), 0
	return s
}

// first returns the number of runs until the property is violated; 0: more than most.
func first(tb testing.TB, s *Settings, property checker.Property, most int) int {
	tb.Helper()
	buffer := newBuffer(sim.Simulator)
	defer buffer.Close()
	for i := range most {
		plan := s.Plan(i)
		h, err := buffer.Simulate(plan, plan.Decide(false), nil)
		if err != nil {
			tb.Errorf("%s, seed %d: %v", s.Lock, plan.Seed, err)
			return 0
		}
		if verdicts, _, _ := buffer.Examine(h); isViolated(verdicts, property) {
			return i + 1
		}
	}
	return 0
}

// BenchmarkFirstViolation prints the table of docs/pct.md: the number of runs until a
// known violation, from 200 seeds that are far apart.
func BenchmarkFirstViolation(b *testing.B) {
	for range b.N { // once: it takes minutes
		fmt.Printf("\n| lock | fault | violates |%[1]s\n|---|---|---|%[2]s\n",
			" random: mean | median | 90 % | worst | pct: mean | median | 90 % | worst |", strings.Repeat("---:|", 8))
		for _, k := range append(knownBad, outlasted(1), outlasted(2), outlasted(3)) {
			fmt.Printf("| `%s` | %s | %s |", k.lock, k.fault, k.property)
			for _, strategy := range []string{harness.Random, harness.PCT} {
				runs := k.figures(b, strategy)
				sum := 0
				for _, n := range runs {
					sum += n
				}
				fmt.Printf(" %.1f | %d | %d | %d |", float64(sum)/float64(len(runs)), runs[len(runs)/2], runs[len(runs)*9/10], runs[len(runs)-1])
			}
			fmt.Println()
		}
	}
}

// figures returns the number of runs from each of 200 seeds, the least first.
func (k knownFlaw) figures(b *testing.B, strategy string) []int {
	const most = 100_000 // limit
	runs := make([]int, 200)
	must(b, inParallel(b.Context(), sim.Simulator, len(runs), 0, func(base int, _ *buffer) error {
		runs[base] = cmp.Or(first(b, k.settings(strategy, uint64(base+1)<<32), k.property, most), most)
		return nil
	}))
	slices.Sort(runs)
	return runs
}
