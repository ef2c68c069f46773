package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// bound says what the search came to, and carries out again, to the end and
// with both judges, the schedules that it convicts on.
func (e *exhaustion) bound(complete bool) (*Exhausted, error) {
	s := e.settings
	b := &Exhausted{
		Bound: Bound{
			Clients: s.Clients.Least, Acquires: s.Acquires.Least, Faults: s.Count.Least,
			States: len(e.seen), Schedules: int(e.schedules.Load()), Complete: complete,
		},
		Ends: len(e.ends), Outcomes: map[checker.Property]Proof{}, ends: e.ends,
	}
	if len(s.Kinds) > 0 {
		b.Fault = s.Kinds[0].Name
	} else {
		b.Faults = 0
	}
	calm, err := e.carryOut(nil, "")
	if err != nil {
		return nil, err
	}
	for _, v := range calm.Verdicts {
		proof := Proof{Outcome: checker.Valid}
		path, violated := e.found[v.Property]
		switch {
		case violated:
			proof.Outcome, proof.Steps = checker.Violated, len(path)
			if proof.Judged, err = e.carryOut(path, v.Property); err != nil {
				return nil, err
			}
			if proof.Judged.Outcome(v.Property) != checker.Violated {
				return nil, &Unconfirmed{v.Property, proof.Judged}
			}
		case v.Outcome == checker.NA:
			proof = Proof{Outcome: checker.NA, Reason: v.Reason}
		case !slices.Contains(checker.Monitored, v.Property):
			proof = Proof{Outcome: checker.NA, Reason: lengths}
		case !complete:
			proof = Proof{Outcome: checker.Unknown, Reason: "bounded, not complete"}
		}
		b.Outcomes[v.Property] = proof
	}
	b.Took = time.Since(e.start)
	return b, nil
}

// Unconfirmed is a bug of lockcheck: what judges during a search said that a
// property is violated, and the judge of the whole run does not.
type Unconfirmed struct {
	Property checker.Property
	Judged   *harness.Judged
}

func (e *Unconfirmed) Error() string {
	return fmt.Sprintf("a search found %s violated, and the judge of the run found it %s", e.Property, e.Judged.Outcome(e.Property))
}

// carryOut turns a path into a plan that needs no search: the names of its
// steps, and of the faults only those that struck. The run goes on by itself
// after the path's end. What it promises is the property that it is about, so
// that a replay asks for that.
func (e *exhaustion) carryOut(path []uint8, property checker.Property) (*harness.Judged, error) {
	w := newWalker(e)
	defer w.buffer.Close()
	names, struck, err := w.buffer.Names(&w.plan, &harness.Walk{Path: path, Faults: e.settings.Count.Least})
	if err != nil {
		return nil, err
	}
	plan := *e.plan
	plan.Order = names
	if property != "" {
		plan.Promises = []string{string(property)}
	}
	plan.Faults = []faults.Injection{}
	for _, i := range struck {
		plan.Faults = append(plan.Faults, e.plan.Faults[i])
	}
	j, _, err := harness.Simulate(e.sim, &plan)
	return j, err
}
