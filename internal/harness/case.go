package harness

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// Judged is a run and what came of it.
type Judged struct {
	Plan     *Plan
	History  *history.History
	Verdicts []checker.Verdict
	Reached  checker.Counts
	Hazards  checker.HazardSet
	Requests int // of the locks to their servers; counted in sim alone
}

// Outcome of one property.
func (j *Judged) Outcome(p checker.Property) checker.Outcome { return j.Verdict(p).Outcome }

// Verdict returns the verdict on a property; NA: it was not judged.
func (j *Judged) Verdict(p checker.Property) checker.Verdict {
	for _, v := range j.Verdicts {
		if v.Property == p {
			return v
		}
	}
	return checker.Verdict{Property: p, Outcome: checker.NA}
}

// Violated lists the properties that the run violated.
func (j *Judged) Violated() []checker.Property {
	var list []checker.Property
	for _, v := range j.Verdicts {
		if v.Outcome == checker.Violated {
			list = append(list, v.Property)
		}
	}
	return list
}

// Execute carries out a plan in the place that it names, and judges the run
// with both judges.
type Execute func(plan *Plan) (*Judged, error)

// ScheduleResult is one schedule of a case: as documented, without its fault,
// and remedied. Healthy is nil where there is no fault, and Remedied where no
// remedy can be run.
type ScheduleResult struct {
	Schedule catalogue.Schedule
	Flawed   *Judged
	Healthy  *Judged
	Remedied *Judged
}

// CaseResult is what came of a case.
type CaseResult struct {
	Case       catalogue.Case
	On         string
	Schedules  []ScheduleResult
	Reproduced bool
	Remedy     string // valid, violated, unknown, none
	Reason     string // why it was not reproduced
	// RemedyReason is why the remedy is not valid.
	RemedyReason string
	// Missed: not all happened that should have, and nothing that should not,
	// unless a machine that was too slow may be the reason.
	Missed bool
	Struck bool // each hazard was reached, in its time, and nothing came about that must not
	wrong  bool // something happened that must not
	// Figure is what a measure measured, and RemedyFigure the same with its remedy.
	Figure, RemedyFigure float64
	Lease                time.Duration // T
	Took                 time.Duration
}

// CasePlans are the three runs of a schedule. The second is nil where there is
// no fault to leave out, the last where the case has no remedy that can be run.
func CasePlans(c catalogue.Case, s catalogue.Schedule, on string, lease time.Duration) (flawed, healthy, remedied *Plan) {
	scaled := s.Scaled(lease)
	clients := make([]string, len(scaled.Scripts))
	for i, sc := range scaled.Scripts {
		clients[i] = sc.Client
	}
	plan := func(setup catalogue.Setup, list []faults.Injection) *Plan {
		return &Plan{
			Lock: setup.Lock, Options: setup.Options, Server: setup.Server, Fencing: setup.Fencing,
			On: on, Case: c.ID, Seed: 1, Lease: lease, Clients: clients, Scripts: scaled.Scripts, Faults: list,
		}
	}
	flawed = plan(c.Setup, scaled.Faults)
	// Numbers that begin near their end are a fault, too.
	if setup := c.Setup; len(scaled.Faults) > 0 || setup.Server.Sequence != 0 {
		setup.Server.Sequence = 0
		healthy = plan(setup, nil)
	}
	if c.Remedy.None == "" {
		remedied = plan(c.Remedy.Setup, scaled.Faults)
	}
	return flawed, healthy, remedied
}

// Documented returns the schedule of a case that p carries out; ok is false where
// p carries out none.
func (p *Plan) Documented() (c catalogue.Case, s catalogue.Schedule, ok bool) {
	if c, ok = catalogue.FindCase(p.Case); !ok {
		return c, s, false
	}
	for _, s := range c.Schedules {
		if reflect.DeepEqual(s.Scaled(p.Lease).Scripts, p.Scripts) {
			return c, s, true
		}
	}
	return c, s, false
}

// ScheduleName is the id of the case, with the schedule's name where it has several.
func ScheduleName(c catalogue.Case, s catalogue.Schedule) string {
	if s.Name == "" {
		return c.ID
	}
	return c.ID + "-" + s.Name
}

// Case carries out a case: each schedule as documented, without its fault and
// with the remedy. The runs of a schedule are carried out by each, which may
// do them side by side; names are what to call their files.
func Case(c catalogue.Case, on string, lease time.Duration, each func(plans []*Plan, names []string) ([]*Judged, error)) (*CaseResult, error) {
	start := time.Now()
	r := &CaseResult{Case: c, On: on, Lease: lease, Reproduced: true, Remedy: "valid", Struck: true}
	if c.Remedy.None != "" {
		r.Remedy = "none"
	}
	for _, s := range c.Schedules {
		flawed, healthy, remedied := CasePlans(c, s, on, lease)
		name := ScheduleName(c, s)
		sr := ScheduleResult{Schedule: s}
		var plans []*Plan
		var names []string
		var into []**Judged
		for _, run := range []struct {
			plan *Plan
			name string
			into **Judged
		}{{flawed, name, &sr.Flawed}, {healthy, name + "-no-fault", &sr.Healthy}, {remedied, name + "-remedy", &sr.Remedied}} {
			if run.plan != nil {
				plans, names, into = append(plans, run.plan), append(names, run.name), append(into, run.into)
			}
		}
		judged, err := each(plans, names)
		if err != nil {
			return r, err
		}
		for i, j := range judged {
			*into[i] = j
		}
		r.Schedules = append(r.Schedules, sr)
		r.judge(sr)
	}
	r.Took = time.Since(start)
	return r, nil
}

// Why says why the case or its remedy did not come out as documented; "": both did.
func (r *CaseResult) Why() string {
	if r.Reason != "" && r.RemedyReason != "" {
		return r.Reason + "; " + r.RemedyReason
	}
	return r.Reason + r.RemedyReason
}

// judge holds what happened against what the case says.
func (r *CaseResult) judge(s ScheduleResult) {
	blind := s.Schedule.Blind[r.On]
	// What a run that did not come about violates is no wrong: it was another run.
	another, calm := s.another(s.Flawed), s.Healthy == nil || s.spoilt(s.Healthy) == ""
	late, before := s.Flawed.late(), r.Reason
	r.Struck = r.Struck && another == "" && calm && late == "" && (s.Remedied == nil || s.Remedied.late() == "")
	no := func(format string, args ...any) {
		r.Reproduced = false
		text := fmt.Sprintf(format, args...)
		if s.Schedule.Name != "" {
			text = s.Schedule.Name + ": " + text
		}
		if r.Reason != "" {
			r.Reason += "; "
		}
		r.Reason += text
	}
	if another != "" {
		no("%s", another)
	}
	want := checker.Violated
	if r.Case.Kind == catalogue.Control {
		want = checker.Valid
	}
	for _, p := range s.Schedule.Must {
		if got := s.Flawed.Outcome(p); got != want && !(got == checker.NA && slices.Contains(blind, p)) {
			no("%s is %s and should be %s", p, got, want)
		}
	}
	if r.Case.Kind != catalogue.Control {
		for _, p := range s.Flawed.Violated() {
			if !slices.Contains(s.Schedule.Must, p) && !slices.Contains(s.Schedule.May, p) {
				no("%s is violated, which is not expected", p)
				r.wrong = r.wrong || another == "" && late == ""
			}
		}
	}
	if r.Reason != before {
		r.Reason += late
	}
	if s.Healthy != nil {
		if bad := s.broken(s.Healthy); len(bad) > 0 {
			slow := s.Healthy.slow(bad)
			no("without the fault %s is violated%s", join(bad), slow)
			r.wrong = r.wrong || calm && slow == ""
		}
		if out := s.Healthy.Outcome(checker.Exclusion); out != checker.Valid && out != checker.Violated {
			no("without the fault exclusion is %s", out)
		}
	}
	if f := r.Case.Figure; f != nil {
		if r.Figure = max(r.Figure, s.Flawed.Measure(f.Of)); r.Figure < f.AtLeast {
			no("%.3g %s, and should be %.3g", r.Figure, f.Of, f.AtLeast)
		}
	}
	if s.Remedied != nil {
		r.judgeRemedy(s, blind)
	}
	r.Missed = !r.wrong && r.Remedy != "violated" && (!r.Reproduced || r.Remedy == "unknown")
}

// another says what a run lacks of the hazard, or has that must not come about;
// "": it came about.
func (s *ScheduleResult) another(j *Judged) string {
	// Where there is no fault there may be no hazard.
	none := len(s.Schedule.Faults) == 0 && s.Schedule.Hazard == checker.Grants
	if !none && j.Reached[s.Schedule.Hazard] == 0 {
		return fmt.Sprintf("the hazard was not reached (%s)", s.Schedule.Hazard)
	}
	return s.spoilt(j)
}

// spoilt says what came about that makes j another run than the documented one.
func (s *ScheduleResult) spoilt(j *Judged) string {
	for _, c := range s.Schedule.Never {
		if j.Reached[c] > 0 {
			return fmt.Sprintf("something else came about (%s)", c)
		}
	}
	return ""
}

// late says which server was away longer than planned, by more than T/2: what came of
// a lease meanwhile is no part of the case.
func (j *Judged) late() string {
	for i, f := range j.Plan.Faults {
		if f.Fault != "restart" && f.Fault != "restart-lost" {
			continue
		}
		var from, away time.Duration
		for k := range j.History.Entries {
			if e := &j.History.Entries[k]; e.ID != i+1 {
				continue
			} else if e.F == f.Fault {
				from = e.Time
			} else {
				away = e.Time - from
			}
		}
		if away-f.For > j.Plan.Lease/2 {
			return fmt.Sprintf(", while %s was away for %.3g s, and not %.3g s", f.On[0], away.Seconds(), f.For.Seconds())
		}
	}
	return ""
}

// slow says why a slow machine alone may have violated these properties in j, where
// no fault strikes; "": it cannot be why.
func (j *Judged) slow(bad []checker.Property) string {
	if slices.ContainsFunc(j.History.Entries, func(e history.Entry) bool { return e.F == history.Stall }) {
		return ", and the machine stood still meanwhile"
	}
	if !slices.ContainsFunc(bad, func(p checker.Property) bool { return p != checker.Handover && p != checker.Liveness }) {
		return ", as on a machine that is too slow"
	}
	return ""
}

// broken are the properties that j violates and that the schedule has to
// violate by its fault alone. A control has to hold without it, too.
func (s *ScheduleResult) broken(j *Judged) (list []checker.Property) {
	for _, p := range s.Schedule.Must {
		if j.Outcome(p) == checker.Violated {
			list = append(list, p)
		}
	}
	return list
}

// judgeRemedy holds a remedy to what it keeps.
func (r *CaseResult) judgeRemedy(s ScheduleResult, blind []checker.Property) {
	late, before := s.Remedied.late(), r.RemedyReason
	spoilt := late != "" || s.spoilt(s.Remedied) != ""
	worst := func(remedy, format string, args ...any) {
		if spoilt {
			remedy = "unknown"
		}
		if r.Remedy != "violated" {
			r.Remedy = remedy
		}
		if r.RemedyReason != "" {
			r.RemedyReason += "; "
		}
		name := ""
		if s.Schedule.Name != "" {
			name = s.Schedule.Name + ": "
		}
		r.RemedyReason += name + "with the remedy " + fmt.Sprintf(format, args...)
	}
	for _, p := range r.Case.Remedy.Keeps {
		switch got := s.Remedied.Outcome(p); {
		case got == checker.Violated:
			worst("violated", "%s is violated", p)
		case got == checker.Valid, got == checker.NA && slices.Contains(blind, p):
		default:
			worst("unknown", "%s is %s", p, got)
		}
	}
	if f := r.Case.Figure; f != nil {
		if r.RemedyFigure = max(r.RemedyFigure, s.Remedied.Measure(f.Of)); r.RemedyFigure > f.AtMost {
			worst("violated", "%.3g %s, and should be %.3g at most", r.RemedyFigure, f.Of, f.AtMost)
		}
	}
	if another := s.another(s.Remedied); another != "" {
		worst("unknown", "%s", another)
	}
	if r.RemedyReason != before {
		r.RemedyReason += late
	}
}

func join(list []checker.Property) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}
