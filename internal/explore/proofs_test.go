package explore

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// searchableScopes returns the searchable locks, each with its searchable faults.
func searchableScopes() (list []*Settings) {
	for i := range catalogue.Locks {
		lock := &catalogue.Locks[i]
		if SearchableLock(lock) != nil {
			continue
		}
		for _, fault := range lock.Columns() {
			f, strikes := faults.Find(fault)
			if fault == catalogue.NoFault || strikes && SearchableFault(f) == nil {
				list = append(list, scope(lock.ID, fault, 2, 1))
			}
		}
	}
	return list
}

// Random runs never refute a proof: within the bound of every proof, with the usual
// workload, random and pct runs find no violation.
//
// LOCKCHECK_PROOF_RUNS is the number of runs of each strategy. From 20,000 on the
// searches get as much time as they need, and the test prints the table of
// docs/exhaustive.md.
func TestRandomRefutesNoProof(t *testing.T) {
	if !alltests.Wanted() {
		t.Skip(manyCoroutines)
	}
	runs, err := strconv.Atoi(os.Getenv("LOCKCHECK_PROOF_RUNS"))
	if err != nil {
		runs = 500
	}
	whole := runs >= 20_000
	most := 6_000 // schedules of a search
	if whole {
		most = 200_000
	}
	proofs := 0
	for _, clients := range []int{2, 3} {
		for _, s := range searchableScopes() {
			s.Clients, s.Runs = Exactly(clients), most
			b := exhaust(t, s)
			proved := slices.DeleteFunc(slices.Clone(checker.Monitored), func(p checker.Property) bool {
				return b.Outcomes[p].Outcome != checker.Valid
			})
			if whole {
				fmt.Println(b.row(s))
			}
			if len(proved) == 0 {
				continue
			}
			proofs++
			for _, strategy := range []string{"", harness.PCT} {
				r := &Settings{
					Lock: s.Lock, On: "sim", Lease: s.Lease, Kinds: s.Kinds, Seed: 1, Runs: runs, Strategy: strategy,
					Clients: s.Clients, Acquires: s.Acquires, Count: s.Count,
				}
				found := random(t, r)
				for _, p := range proved {
					if o := found.Outcomes[p]; o.Count[checker.Violated] > 0 {
						t.Errorf("%s under %s, %d × 1: %s is proved in %d states, and %d of %d runs (%q) violate it, the first of them seed %d",
							s.Lock, b.Fault, clients, p, b.States, o.Count[checker.Violated], found.Runs, strategy, 1+o.First[checker.Violated])
					}
				}
			}
		}
	}
	if t.Logf("%d searches have a proof", proofs); proofs < 20 {
		t.Error("too few searches have a proof")
	}
}

// row returns a line of the table of docs/exhaustive.md.
func (b *Exhausted) row(s *Settings) string {
	var outcomes [3][]string
	for _, p := range checker.Monitored {
		if i := slices.Index([]checker.Outcome{checker.Valid, checker.Violated, checker.Unknown}, b.Outcomes[p].Outcome); i >= 0 {
			outcomes[i] = append(outcomes[i], string(p))
		}
	}
	cells := []string{"`" + s.Lock + "`", cmp.Or(b.Fault, catalogue.NoFault), fmt.Sprintf("%d × %d", b.Clients, b.Acquires), strconv.Itoa(b.States)}
	for _, list := range outcomes {
		cells = append(cells, strings.Join(list, ", "))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
