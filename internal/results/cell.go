package results

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Cell is runs that are judged together. In run: one lock. In suite: an entry under one
// fault, or a kept counterexample. In an exhaustive search: a lock under one fault.
type Cell struct {
	Name     string          `json:"name"`               // identifies the cell for --shard, merge and --baseline; unique in a document
	Lock     string          `json:"lock"`               // the lock under test
	On       string          `json:"on"`                 // the environment: sim, docker or external
	Faults   []string        `json:"faults,omitempty"`   // faults that may strike in its runs; absent: no fault
	Workload string          `json:"workload,omitempty"` // what clients do, where all its runs have the same workload
	Strategy string          `json:"strategy,omitempty"` // pct, if choices follow from priorities; absent: random
	Promises checker.Promise `json:"promises,omitempty"` // properties that must hold; absent: all that apply
	Kind     string          `json:"kind,omitempty"`     // the kind of lock: what no lock of that kind can keep need not hold; absent: all must
	Settings string          `json:"settings,omitempty"` // of suite: digest of all other settings of its runs except their number and seeds; on docker with the images and the operating system
	Kept     bool            `json:"kept,omitempty"`     // it is a replayed counterexample of regressions/
	Of       string          `json:"of,omitempty"`       // of a kept one: name of the cell that found it, which identifies it in a baseline
	Unfit    int             `json:"unfit,omitempty"`    // of a kept one: decisions that are recorded and unused, or needed and not recorded: the lock has changed since
	Line     int             `json:"line,omitempty"`     // line of its entry in the suite's file

	Verdict Verdict `json:"verdict"`           // the verdict on this cell alone
	Reason  string  `json:"reason,omitempty"`  // why the verdict is neither held nor violated
	Trouble string  `json:"trouble,omitempty"` // why the environment did not do all its runs
	Retried int     `json:"retried,omitempty"` // runs that were retried because the environment failed
	Cut     string  `json:"cut,omitempty"`     // why it ended before all its runs without an error: time was over

	Seed       uint64           `json:"seed"`              // seed of the first run; run i, from 0, has this + i
	Runs       int              `json:"runs"`              // runs that were done
	Asked      int              `json:"asked"`             // acquisitions that the clients had to make, in all runs
	Empty      int              `json:"empty,omitempty"`   // runs in which no client got the lock: they prove nothing
	Seconds    float64          `json:"seconds"`           // how long it took
	Properties []PropertyResult `json:"properties"`        // every property, in the order of lockcheck list properties
	Reached    map[string]int   `json:"reached"`           // counters of all runs, by name: lockcheck list reached
	Drawn      map[string]int   `json:"drawn,omitempty"`   // number of runs by drawn fault
	Touched    map[string]int   `json:"touched,omitempty"` // number of those runs in which the fault had an effect
	// Hazards is the number of runs in which a property could have been violated, by
	// drawn fault (or none), then by property (lockcheck list hazards).
	Hazards map[string]map[checker.Property]int `json:"hazards,omitempty"`
	Bound   *explore.Bound                      `json:"bound,omitempty"` // how far an exhaustive search went
	// Porcupine counts the verdicts that it also judged: on one run of 128, but on all
	// runs on docker and of a kept one. Its verdict on a violation is in that violation.
	Porcupine *checker.Second `json:"porcupine,omitempty"`

	ReplayFlags []string `json:"replay_flags,omitempty"` // flags that replay needs for its runs: the addresses of your servers, --allow-worker

	Expected *Expectation `json:"-"` // of a cell of a matrix; nil: of any other
}

// PropertyResult is the result for one property in the runs of a cell.
type PropertyResult struct {
	Property        checker.Property `json:"property"`             // its name
	Outcome         string           `json:"outcome"`              // violated if any run violated it, unknown if it is unknown in any run or no run could have broken it, valid if it held wherever it applied; else n/a
	Reason          string           `json:"reason,omitempty"`     // why the outcome is unknown or n/a
	Promised        bool             `json:"promised"`             // whether it decides the exit code
	Known           bool             `json:"known,omitempty"`      // the baseline has its violation: it does not fail the command
	Runs            map[string]Tally `json:"runs"`                 // the runs by their outcome: valid, violated, unknown or n/a
	Mechanisms      []Mechanism      `json:"mechanisms,omitempty"` // the runs that violated it by their mechanism, the rarest first
	*Counterexample                  // only of a violated property
}

// Tally is the number of runs with an outcome.
type Tally struct {
	Count  int    `json:"count"`            // how many runs
	Seed   uint64 `json:"seed"`             // the lowest seed of them
	Reason string `json:"reason,omitempty"` // why that run had this outcome, if unknown or n/a
	Beyond int    `json:"beyond,omitempty"` // of violated: in how many of them no lock of its kind could have kept the property; the seed is that of another run, if there is one
}

// Take copies the result r into the cell.
func (c *Cell) Take(r *explore.Result) {
	c.Runs, c.Asked, c.Empty, c.Retried, c.Seconds = r.Runs, r.Asked, r.Empty, r.Retried, r.Took.Seconds()
	c.Reached, c.Drawn, c.Touched = r.Reached.Map(), r.Drawn, r.Touched
	c.Hazards, c.Porcupine = hazardsByName(r), nil
	if s := r.Porcupine; s.Total() > 0 {
		c.Porcupine = &s
	}
	was := Cell{Properties: c.Properties}
	c.Properties = nil
	for _, prop := range checker.Properties {
		p := PropertyResult{Property: prop, Runs: map[string]Tally{}}
		for _, out := range checker.Outcomes {
			if t := r.Outcomes[prop]; t.Count[out] > 0 {
				p.Runs[out.String()] = Tally{Count: t.Count[out], Seed: c.Seed + uint64(t.First[out]), Reason: t.Reasons[out]}
			}
		}
		if v, ok := p.Runs[checker.Violated.String()]; ok {
			v.Beyond = r.Outcomes[prop].Beyond
			p.Runs[checker.Violated.String()] = v
		}
		for _, m := range r.Rarest() {
			if m.Mechanism.Property() == prop {
				p.Mechanisms = append(p.Mechanisms, Mechanism{m.Mechanism, m.Count, c.Seed + uint64(m.First), m.LeftOut})
			}
		}
		if w := was.Property(prop); w != nil {
			p.Known, p.Counterexample = w.Known, w.Counterexample
		}
		c.Properties = append(c.Properties, p)
	}
	c.decide()
}

// Mechanisms returns the mechanisms of the promised properties, the rarest first. tell
// reports whether they say more than the properties do: one was violated in several
// ways, or some are left out.
func (c *Cell) Mechanisms() (list []Mechanism, tell bool) {
	for _, p := range c.Properties {
		if !p.Promised {
			continue
		}
		tell = tell || len(p.Mechanisms) > 1 || slices.ContainsFunc(p.Mechanisms, func(m Mechanism) bool { return m.LeftOut })
		list = append(list, p.Mechanisms...)
	}
	slices.SortStableFunc(list, func(a, b Mechanism) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Seed, b.Seed))
	})
	return list, tell
}

// LeftOut returns how many runs violated the property by mechanisms that are left out.
func (p *PropertyResult) LeftOut() (n int) {
	for _, m := range p.Mechanisms {
		if m.LeftOut {
			n += m.Count
		}
	}
	return n
}

// Property returns the result of one property, or nil without one.
func (c *Cell) Property(prop checker.Property) *PropertyResult {
	i := slices.IndexFunc(c.Properties, func(p PropertyResult) bool { return p.Property == prop })
	if i < 0 {
		return nil
	}
	return &c.Properties[i]
}

// Result returns the result that Take copied.
func (c *Cell) Result() *explore.Result {
	r := explore.NewResult()
	r.Runs, r.Asked, r.Empty, r.Retried, r.Took = c.Runs, c.Asked, c.Empty, c.Retried, seconds(c.Seconds)
	r.Reached = checker.CountsOf(c.Reached)
	if c.Porcupine != nil {
		r.Porcupine = *c.Porcupine
	}
	maps.Copy(r.Drawn, c.Drawn)
	maps.Copy(r.Touched, c.Touched)
	for kind, of := range c.Hazards {
		h := r.HazardsOf(kind)
		for i, p := range checker.Properties {
			h[i] = of[p]
		}
	}
	for _, p := range c.Properties {
		for _, m := range p.Mechanisms {
			r.Sight(explore.Sighting{Mechanism: m.Name, Count: m.Count, First: int(m.Seed - c.Seed), LeftOut: m.LeftOut})
		}
		t := r.Outcomes[p.Property]
		for _, out := range checker.Outcomes {
			if of, ok := p.Runs[out.String()]; ok && t != nil {
				t.Count[out], t.First[out], t.Reasons[out] = of.Count, int(of.Seed-c.Seed), of.Reason
				t.Beyond += of.Beyond
			}
		}
	}
	return r
}

// add adds the runs of the same cell in another shard. Of two counterexamples of a
// property it keeps that of the first run.
func (c *Cell) add(o *Cell) {
	if c.Verdict == NotApplicable {
		return // true in every shard: Choose checks that
	}
	r, theirs := c.Result(), o.Result()
	r.Add(theirs)
	r.Took += theirs.Took
	c.Take(r)
	c.Bound = cmp.Or(c.Bound, o.Bound) // a search is done by one shard
	for i := range c.Properties {
		p, theirs := &c.Properties[i], o.Property(c.Properties[i].Property)
		if theirs != nil && theirs.Counterexample != nil && (p.Counterexample == nil || theirs.Seed == p.Runs[checker.Violated.String()].Seed) {
			p.Counterexample = theirs.Counterexample
		}
	}
	if c.ReplayFlags == nil {
		c.ReplayFlags = o.ReplayFlags
	}
	c.Unfit += o.Unfit // a replay is done by one shard
	c.Trouble, c.Cut = either(c.Trouble, o.Trouble), either(c.Cut, o.Cut)
	c.decide()
}

// either returns the text that is not empty. Of two texts it returns the smaller one,
// so that their order does not matter.
func either(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return min(a, b)
}

// decide sets the fields that follow from the runs.
func (c *Cell) decide() {
	r, untested := c.Result(), c.untested()
	for i := range c.Properties {
		p := &c.Properties[i]
		out := p.outcome()
		p.Outcome, p.Promised, p.Reason = out.String(), c.Promises.Covers(p.Property) && !p.excused(), ""
		if out == checker.Unknown || out == checker.NA {
			p.Reason = p.Runs[out.String()].Reason
		} else if why := notTested(hazards(r, of(untested, p.Property)), len(r.Kinds()) > 1, false); why != "" {
			p.Outcome, p.Reason = checker.Unknown.String(), why
		}
	}
	if c.Verdict == NotApplicable {
		return // Reason has the reason
	}
	known := false
	out := c.Promises.Judge(func(prop checker.Property) checker.Outcome {
		p := c.Property(prop)
		switch {
		case p == nil || p.violated() && !p.Promised:
			return checker.NA
		case p.Known && p.violated():
			known = true
			return checker.Valid // it does not affect the verdict
		}
		return p.Decided() // also unknown if no run could have broken it
	})
	vacuous := c.Vacuous()
	c.Reason = ""
	switch {
	case out == checker.Violated:
		c.Verdict = Violated
	case c.Trouble != "":
		c.Verdict, c.Reason = Unavailable, c.Trouble
	case vacuous != "":
		c.Verdict, c.Reason = Inconclusive, vacuous
	case out == checker.Unknown:
		c.Verdict, c.Reason = Inconclusive, Open([]Cell{*c})
	case known:
		c.Verdict = Known
	default:
		c.Verdict = Held
	}
	if n := c.Second().Disagreed; n > 0 && (c.Verdict == Held || c.Verdict == Known) {
		c.Verdict, c.Reason = Inconclusive, Disputed(n)
	}
}

// Second counts all verdicts that Porcupine judged as well: those on sampled runs, and
// the reported violations.
func (c *Cell) Second() (s checker.Second) {
	if c.Porcupine != nil {
		s = *c.Porcupine
	}
	for _, p := range c.Properties {
		if p.Counterexample != nil && env.IsVirtual(c.On) && !c.Kept { // in other environments Porcupine judges all runs
			s.Take(p.Porcupine)
		}
	}
	return s
}

// Disputed returns the message for n verdicts on which the judges disagree.
func Disputed(n int) string {
	return "the judges disagree on " + names.Count(n, "verdict") + ", which is a bug in lockcheck"
}

// wantsOthers reports whether a part of a cell is inconclusive only because it has few
// runs, which reached nothing. It is false for a cell that one part does alone: a
// replay or a complete search.
func (c *Cell) wantsOthers() bool {
	if c.Second().Disagreed > 0 {
		return false
	}
	if c.Verdict != Inconclusive || c.Runs == 0 {
		return c.Verdict == Inconclusive && c.Cut == ""
	}
	open := slices.ContainsFunc(c.Properties, func(p PropertyResult) bool { return p.Promised && p.outcome() == checker.Unknown })
	return !open && !c.Kept && c.Bound == nil && c.Promises.Strange() == nil
}

// elsewhere leaves the verdict on the cell to the other shards.
func (c *Cell) elsewhere() {
	if c.Verdict = Elsewhere; c.Runs == 0 {
		c.Reason = "its runs are those of other shards"
		return
	}
	c.Reason = "its few runs here show nothing: " + c.Reason
}

// Vacuous returns the reason why the runs prove nothing, whatever their outcomes, or
// "". A complete search always proves something.
func (c *Cell) Vacuous() (why string) {
	if c.Bound == nil {
		why = c.Result().Vacuous()
	}
	if c.Runs == 0 {
		why = cmp.Or(c.Cut, why)
	}
	return why
}

// Breaks reports whether a promise is violated, known or new; in a matrix, whether
// there is an unexpected violation.
func (c *Cell) Breaks() bool {
	return slices.ContainsFunc(c.Properties, func(p PropertyResult) bool { return c.broke(&p) })
}

// broke reports for one property what Breaks reports for the cell.
func (c *Cell) broke(p *PropertyResult) bool {
	if c.Expected != nil {
		return p.violated() && !slices.Contains(c.Expected.May, p.Property)
	}
	return p.broken()
}

// Open says which promises of the cells were neither kept nor broken, and why. All
// cells must have the same promises.
func Open(cells []Cell) string {
	var parts []string
	for i := range cells {
		if why := cells[i].NotTested(); why != "" {
			parts = append(parts, why)
		}
	}
	for _, prop := range checker.Properties {
		for i := range cells {
			p, of := cells[i].Property(prop), cells[i].Promises
			if p == nil || !p.Promised {
				continue
			}
			if out := p.outcome(); out == checker.Unknown || out == checker.NA && len(of) > 0 {
				parts = append(parts, string(prop)+" is "+p.Outcome+" ("+p.Reason+")")
				break
			}
		}
	}
	for _, strange := range cells[0].Promises.Strange() {
		parts = append(parts, "this lockcheck cannot judge "+string(strange))
	}
	return cmp.Or(strings.Join(parts, "; "), "nothing could be judged")
}

// violation returns the violation of a property for the document.
func (c *Cell) violation(p *PropertyResult) Violation {
	v := Violation{
		Property: p.Property, Cell: c.Name, Lock: c.Lock, Settings: c.Settings, Runs: p.Runs[checker.Violated.String()].Count, Among: c.Runs,
		Promised: p.Promised, Known: p.Known,
	}
	if p.Counterexample != nil {
		v.Counterexample = *p.Counterexample
	}
	return v
}

// Is reports whether the property has this outcome.
func (p *PropertyResult) Is(out checker.Outcome) bool { return p.Outcome == out.String() }

// outcome returns the outcome that follows from its runs.
func (p *PropertyResult) outcome() checker.Outcome {
	return checker.Worst(func(out checker.Outcome) bool { return p.Runs[out.String()].Count > 0 })
}

// violated reports whether a run violated the property.
func (p *PropertyResult) violated() bool { return p.outcome() == checker.Violated }

// excused reports whether only runs violated it in which no lock of its kind keeps it.
func (p *PropertyResult) excused() bool {
	v := p.Runs[checker.Violated.String()]
	return v.Count > 0 && v.Beyond == v.Count
}

// broken reports whether the property is promised and violated, known or new.
func (p *PropertyResult) broken() bool { return p.Promised && p.violated() }

// Decided returns the outcome that decide has set.
func (p *PropertyResult) Decided() checker.Outcome { return checker.Worst(p.Is) }
