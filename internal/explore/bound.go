package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// bound returns the result of the search. It repeats the schedules that violate a
// property, to their end and with both judges.
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
	calm, err := e.executePath(nil, "")
	if err != nil {
		return nil, err
	}
	for _, v := range calm.Verdicts {
		proof := Proof{Outcome: checker.Valid}
		path, violated := e.found[v.Property]
		switch {
		case violated:
			proof.Outcome, proof.Steps = checker.Violated, len(path)
			if proof.Judged, err = e.executePath(path, v.Property); err != nil {
				return nil, err
			}
			if proof.Judged.Outcome(v.Property) != checker.Violated {
				return nil, &Unconfirmed{v.Property, proof.Judged}
			}
		case v.Outcome == checker.NA:
			proof = Proof{Outcome: checker.NA, Reason: v.Reason}
		case !slices.Contains(checker.Monitored, v.Property):
			proof = Proof{Outcome: checker.NA, Reason: durations}
		case !complete:
			proof = Proof{Outcome: checker.Unknown, Reason: "bounded, not complete"}
		}
		b.Outcomes[v.Property] = proof
	}
	b.Took = time.Since(e.start)
	return b, nil
}

// Unconfirmed is a bug of lockcheck: the monitor of a search found a property violated,
// and the judge of the whole run did not.
type Unconfirmed struct {
	Property checker.Property
	Judged   *harness.Judged
}

func (e *Unconfirmed) Error() string {
	return fmt.Sprintf("a search found %s violated, and the judge of the run found it %s", e.Property, e.Judged.Outcome(e.Property))
}

// executePath turns a path into a plan that needs no search, and executes it: the plan
// has the names of the path's steps, and only the faults that struck. After the path
// the run goes on by itself. It promises the given property, so that a replay asks for
// that.
func (e *exhaustion) executePath(path []uint8, property checker.Property) (*harness.Judged, error) {
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
