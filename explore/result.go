package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
)

// Result is what came of a batch of runs.
type Result struct {
	Runs     int
	Asked    int // critical sections that the clients were to go through
	Retried  int // runs that were tried again: it was the place that failed, not the lock
	Empty    int // runs in which nobody got the lock: they say nothing of what holds
	Outcomes map[checker.Property]*Tally
	Reached  checker.Counts
	Drawn    map[string]int // runs by the kinds of faults that were drawn for them
	Touched  map[string]int // those in which that kind touched somebody
	Took     time.Duration
	Whole    bool // no run that was asked for is missing; of a batch alone
}

// Tally counts the outcomes of one property.
type Tally struct {
	Count [checker.NA + 1]int // by outcome
	First [checker.NA + 1]int // the lowest run with that outcome, where Count says that there is one
	// Reasons are those of First.
	Reasons [checker.NA + 1]string
}

// NewResult is the result of no run yet.
func NewResult() *Result {
	r := &Result{Outcomes: map[checker.Property]*Tally{}, Drawn: map[string]int{}, Touched: map[string]int{}}
	for _, p := range checker.Properties {
		r.Outcomes[p] = new(Tally)
	}
	return r
}

// Count takes in one run, which was the run i of its batch.
func (r *Result) Count(i int, plan *harness.Plan, verdicts []checker.Verdict, reached checker.Counts) {
	r.Runs++
	r.Asked += len(plan.Clients) * plan.Acquires
	r.Reached.Add(reached)
	empty := reached[checker.Grants] == 0
	if empty {
		r.Empty++
	}
	for _, v := range verdicts {
		if empty && v.Outcome == checker.Unknown {
			continue
		}
		t := r.Outcomes[v.Property]
		if t.Count[v.Outcome] == 0 || i < t.First[v.Outcome] {
			t.First[v.Outcome], t.Reasons[v.Outcome] = i, v.Reason
		}
		t.Count[v.Outcome]++
	}
	for n, in := range plan.Faults {
		if slices.ContainsFunc(plan.Faults[:n], func(before faults.Injection) bool { return before.Fault == in.Fault }) {
			continue
		}
		r.Drawn[in.Fault]++
		if reached[checker.TouchedBy(in.Fault)] > 0 {
			r.Touched[in.Fault]++
		}
	}
}

// Add takes in the runs of another part of the same batch.
func (r *Result) Add(o *Result) {
	r.Runs += o.Runs
	r.Asked += o.Asked
	r.Empty += o.Empty
	r.Retried += o.Retried
	r.Reached.Add(o.Reached)
	for p, from := range o.Outcomes {
		to := r.Outcomes[p]
		for out, n := range from.Count {
			if n > 0 && (to.Count[out] == 0 || from.First[out] < to.First[out]) {
				to.First[out], to.Reasons[out] = from.First[out], from.Reasons[out]
			}
			to.Count[out] += n
		}
	}
	for kind, n := range o.Drawn {
		r.Drawn[kind] += n
	}
	for kind, n := range o.Touched {
		r.Touched[kind] += n
	}
}

// Outcome of a property in the whole batch: violated if any run violated it,
// unknown if any left it open, valid if it held wherever it applied.
func (r *Result) Outcome(p checker.Property) checker.Outcome {
	t := r.Outcomes[p]
	return checker.Worst(func(out checker.Outcome) bool { return t.Count[out] > 0 })
}

// Vacuous says why the batch proves nothing, or "".
func (r *Result) Vacuous() string {
	if r.Runs == 0 {
		return "no run was carried out"
	}
	if r.Reached[checker.Grants] == 0 {
		return "nobody ever got the lock"
	}
	var idle []string
	for _, f := range faults.All() {
		if r.Drawn[f.Name] > 0 && r.Touched[f.Name] == 0 {
			idle = append(idle, f.Name)
		}
	}
	if len(idle) > 0 {
		return strings.Join(idle, ", ") + " touched nobody in any run"
	}
	return ""
}
