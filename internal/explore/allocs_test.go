package explore

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// A worker runs in its own reused memory. The allocations that remain without a fault
// are: five Lockers, because a lock may keep anything in its own; in each of them its
// list of leases; the choices; two for the header; and four to find clients that waited
// in parallel, for the hazards. A pause adds its start and its end, its name in the
// header, the text of its point, and the search for the holds and the leases that it
// met. Not counted are the plan, the sentences of findings, and Porcupine, which also
// judges one run in sampled.
func TestARunAllocatesLittle(t *testing.T) {
	for kind, most := range map[string]float64{"none": 17, "pause": 26} {
		s := batch("redis-set-lua", kindsOf(kind))
		buffer := newBuffer(sim.Simulator)
		defer buffer.Close()
		r := NewResult()
		var plans []*harness.Plan
		for i := range 100 {
			plan, one := s.Plan(i), NewResult()
			if _, err := one.judged(i, plan, buffer); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(checker.Properties[:], func(p checker.Property) bool { return one.Outcome(p) == checker.Violated }) {
				plans = append(plans, plan)
			}
		}
		if len(plans) < 10 {
			t.Fatalf("%s: only %d runs without a violation", kind, len(plans))
		}
		i := 0
		if n := testing.AllocsPerRun(2*len(plans), func() {
			i++
			if _, err := r.judged(1+i%(sampleShare-1), plans[i%len(plans)], buffer); err != nil {
				t.Fatal(err)
			}
		}); n > most {
			t.Errorf("%s: %v allocations a run, want no more than %v", kind, n, most)
		} else {
			t.Logf("%s: %v allocations a run", kind, n)
		}
	}
}
