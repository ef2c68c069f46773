package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// Result is the result of a batch of runs.
type Result struct {
	Runs     int
	Asked    int // critical sections that the clients were to go through
	Retried  int // runs that were repeated because the environment failed, not the lock
	Empty    int // runs in which no client got the lock: they prove nothing about valid properties
	Outcomes map[checker.Property]*Tally
	Reached  checker.Counts
	Drawn    map[string]int // runs by the kinds of faults that were drawn for them
	Touched  map[string]int // those in which that kind had an effect
	// Hazards has, by the drawn kind of fault (or checker.NoFault), the number of runs
	// in which each of checker.Properties could have been broken: see checker.HazardOf.
	Hazards map[string]*Hazards
	// Mechanisms has those of all violations, by name.
	Mechanisms []Sighting
	Not        []checker.Mechanism // those whose violations Explain leaves out
	Took       time.Duration
	// Porcupine counts the verdicts that Porcupine checked as well: in sim those of one
	// run in sampled, elsewhere all.
	Porcupine checker.Second
	Whole     bool // no run is missing; only for a batch
	// Kind is what the lock can keep; nil: everything.
	Kind *catalogue.LockKind
}

// Hazards counts runs by the property whose hazard they reached, in the order
// of checker.Properties.
type Hazards [len(checker.Properties)]int

// Tally counts the outcomes of one property.
type Tally struct {
	Count [checker.NA + 1]int // by outcome
	// First is the lowest run with that outcome, if Count is positive. A violation that the
	// kind of lock could have avoided comes before all others.
	First [checker.NA + 1]int
	// Reasons belong to First.
	Reasons [checker.NA + 1]string
	// Beyond is how many of the violated runs no lock of its kind could have kept.
	Beyond int
}

// Excused reports whether the property is violated, and only where no lock of its kind
// keeps it.
func (t *Tally) Excused() bool {
	n := t.Count[checker.Violated]
	return n > 0 && t.Beyond == n
}

// add adds n runs with an outcome, the first of which was run i. beyond of them are
// violations that no lock of its kind could have avoided.
func (t *Tally) add(out checker.Outcome, n, i int, reason string, beyond int) {
	before, excused := t.Count[out], out == checker.Violated && t.Excused()
	if before == 0 || excused && beyond < n || excused == (beyond == n) && i < t.First[out] {
		t.First[out], t.Reasons[out] = i, reason
	}
	t.Count[out] += n
	t.Beyond += beyond
}

// NewResult returns the result without runs.
func NewResult() *Result {
	r := &Result{Outcomes: map[checker.Property]*Tally{}, Drawn: map[string]int{}, Touched: map[string]int{}, Hazards: map[string]*Hazards{}}
	for _, p := range checker.Properties {
		r.Outcomes[p] = new(Tally)
	}
	return r
}

// Count adds one run, which was run i of its batch.
func (r *Result) Count(i int, plan *harness.Plan, verdicts []checker.Verdict, reached checker.Counts, hazards *checker.HazardSet) {
	r.Runs++
	r.Asked += len(plan.Clients) * plan.Acquires
	r.Reached.Add(reached)
	ungranted := reached[checker.Grants] == 0
	if ungranted && !slices.ContainsFunc(verdicts, violated) {
		r.Empty++
	}
	for _, v := range verdicts {
		r.Porcupine.Take(v.Porcupine)
		if ungranted && v.Outcome == checker.Unknown {
			continue
		}
		beyond := 0
		if violated(v) && r.Kind != nil && r.Kind.CannotKeep(v.Property, plan.Kinds(), plan.Workload, plan.Fencing) {
			beyond = 1
		}
		r.Outcomes[v.Property].add(v.Outcome, 1, i, v.Reason, beyond)
	}
	if len(plan.Faults) == 0 {
		r.hazards(checker.NoFault, hazards)
	}
	for _, kind := range plan.Kinds() {
		r.Drawn[kind]++
		if reached[checker.TouchedBy(kind)] > 0 {
			r.Touched[kind]++
		}
		r.hazards(kind, hazards)
	}
}

// violated reports whether v is a violation. It may be one without any grant that a
// client learnt of, if a server granted the lock to a client that died, for example.
func violated(v checker.Verdict) bool { return v.Outcome == checker.Violated }

// hazards counts the hazards that a run under a kind of fault reached.
func (r *Result) hazards(fault string, reached *checker.HazardSet) {
	h := r.HazardsOf(fault)
	for i, p := range checker.Properties {
		if reached.Reached(fault, p) {
			h[i]++
		}
	}
}

// HazardsOf returns the runs that reached hazards under a kind of fault. The caller may
// change them.
func (r *Result) HazardsOf(fault string) *Hazards {
	h := r.Hazards[fault]
	if h == nil {
		h = new(Hazards)
		r.Hazards[fault] = h
	}
	return h
}

// Add adds the runs of another part of the same batch.
func (r *Result) Add(o *Result) {
	r.Runs += o.Runs
	r.Asked += o.Asked
	r.Empty += o.Empty
	r.Retried += o.Retried
	r.Reached.Add(o.Reached)
	r.Porcupine.Add(o.Porcupine)
	for p, from := range o.Outcomes {
		for out, n := range from.Count {
			if n == 0 {
				continue
			}
			beyond := 0
			if checker.Outcome(out) == checker.Violated {
				beyond = from.Beyond
			}
			r.Outcomes[p].add(checker.Outcome(out), n, from.First[out], from.Reasons[out], beyond)
		}
	}
	for _, m := range o.Mechanisms {
		r.Sight(m)
	}
	for kind, n := range o.Drawn {
		r.Drawn[kind] += n
	}
	for kind, n := range o.Touched {
		r.Touched[kind] += n
	}
	for kind, of := range o.Hazards {
		h := r.HazardsOf(kind)
		for i, n := range of {
			h[i] += n
		}
	}
}

// Outcome returns the outcome of a property in the whole batch: violated if any run
// violated it, unknown if any left it open, valid if it held wherever it applied.
func (r *Result) Outcome(p checker.Property) checker.Outcome {
	t := r.Outcomes[p]
	return checker.Worst(func(out checker.Outcome) bool { return t.Count[out] > 0 })
}

// Vacuous returns why the batch proves nothing, or "".
func (r *Result) Vacuous() string {
	if r.Runs == 0 {
		return "no run was carried out"
	}
	convicts := func(p checker.Property) bool { return r.Outcome(p) == checker.Violated }
	if r.Reached[checker.Grants] == 0 && !slices.ContainsFunc(checker.Properties[:], convicts) {
		return "no client ever got the lock"
	}
	var idle []string
	for _, f := range faults.All() {
		if r.Drawn[f.Name] > 0 && r.Touched[f.Name] == 0 {
			idle = append(idle, f.Name)
		}
	}
	if len(idle) > 0 {
		return strings.Join(idle, ", ") + " had no effect in any run"
	}
	return ""
}
