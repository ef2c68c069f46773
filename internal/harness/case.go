package harness

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Judged is a run with its verdicts.
type Judged struct {
	Plan     *Plan
	History  *history.History
	Verdicts []checker.Verdict
	Reached  checker.Counts
	Hazards  checker.HazardSet
	Requests int               // of the locks to their servers; only sim counts them
	Messages *history.Messages // between clients and servers, in virtual time; nil: not recorded
}

// Outcome of one property.
func (j *Judged) Outcome(p checker.Property) checker.Outcome { return j.Verdict(p).Outcome }

// Verdict returns the verdict on a property; NA if it was not judged.
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

// Execute executes a plan in its environment, and judges the run with both judges.
type Execute func(plan *Plan) (*Judged, error)

// ScheduleResult holds the runs of one schedule of a case: as documented, without its
// fault, and with the remedy. Healthy is nil without a fault, and Remedied without a
// remedy that can be run.
type ScheduleResult struct {
	Schedule catalogue.Schedule
	Flawed   *Judged
	Healthy  *Judged
	Remedied *Judged
}

// CaseResult is the result of a case.
type CaseResult struct {
	Case       catalogue.Case
	On         string
	Schedules  []ScheduleResult
	Reproduced bool
	Remedy     string // valid, violated, unknown, none
	Reason     string // why it was not reproduced
	// RemedyReason says why the remedy is not valid.
	RemedyReason string
	// Missed: an expectation failed, but nothing unexpected happened, unless a slow
	// machine may be the reason.
	Missed bool
	Struck bool // all hazards were reached in their time, and no counter that must stay 0 rose
	wrong  bool // something unexpected happened
	// Figure is the result of a measure, and RemedyFigure the same with its remedy.
	Figure, RemedyFigure float64
	Lease                time.Duration // T
	Took                 time.Duration
}

// CasePlans returns the three runs of a schedule. healthy is nil without a fault to
// leave out, remedied without a remedy that can be run.
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
	// Sequence numbers that begin near their end are a fault, too.
	if setup := c.Setup; len(scaled.Faults) > 0 || setup.Server.Sequence != 0 {
		setup.Server.Sequence = 0
		healthy = plan(setup, nil)
	}
	if c.Remedy.None == "" {
		remedied = plan(c.Remedy.Setup, scaled.Faults)
	}
	return flawed, healthy, remedied
}

// Documented returns the case and the schedule that p executes; ok is false without
// one.
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

// ScheduleName returns the id of the case, with the schedule's name if it has several.
func ScheduleName(c catalogue.Case, s catalogue.Schedule) string {
	if s.Name == "" {
		return c.ID
	}
	return c.ID + "-" + s.Name
}

// Case executes a case: each schedule as documented, without its fault and with the
// remedy. each executes the runs of one schedule, perhaps in parallel; names are for
// their files.
func Case(c catalogue.Case, on string, lease time.Duration, execute func(plans []*Plan, names []string) ([]*Judged, error)) (*CaseResult, error) {
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
		judged, err := execute(plans, names)
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

// Why returns why the case or its remedy failed; "": both came out as documented.
func (r *CaseResult) Why() string {
	if r.Reason != "" && r.RemedyReason != "" {
		return r.Reason + "; " + r.RemedyReason
	}
	return r.Reason + r.RemedyReason
}

// judge compares the runs of a schedule with the case's expectations.
func (r *CaseResult) judge(s ScheduleResult) {
	blind := s.Schedule.Blind[r.On]
	// A run that is not the documented one may violate anything.
	deviation, calm := s.deviation(s.Flawed), s.Healthy == nil || s.forbiddenEvent(s.Healthy) == ""
	late, before := s.Flawed.lateServer(), r.Reason
	r.Struck = r.Struck && deviation == "" && calm && late == "" && (s.Remedied == nil || s.Remedied.lateServer() == "")
	no := func(format string, args ...any) {
		r.Reproduced = false
		s.explain(&r.Reason, fmt.Sprintf(format, args...))
	}
	if deviation != "" {
		no("%s", deviation)
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
				// In real time a slow machine alone may break a lock that is not correct.
				r.wrong = r.wrong || deviation == "" && late == "" && r.On == "sim"
			}
		}
	}
	if r.Reason != before {
		r.Reason += late
	}
	if s.Healthy != nil {
		if bad := s.unexpected(s.Healthy); len(bad) > 0 {
			slow := s.Healthy.slowMachine(bad, r.Case.Kind == catalogue.Control)
			no("without the fault %s is violated%s", names.Join(bad, ", "), slow)
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

// explain adds a reason to earlier ones, with the schedule's name if the case has several.
func (s *ScheduleResult) explain(reasons *string, reason string) {
	if s.Schedule.Name != "" {
		reason = s.Schedule.Name + ": " + reason
	}
	if *reasons != "" {
		*reasons += "; "
	}
	*reasons += reason
}

// deviation returns how a run differs from the documented one: a hazard that it did not
// reach, or a counter that should be 0; "": it is the documented one.
func (s *ScheduleResult) deviation(j *Judged) string {
	// Without a fault there may be no hazard.
	none := len(s.Schedule.Faults) == 0 && s.Schedule.Hazard == checker.Grants
	if !none && j.Reached[s.Schedule.Hazard] == 0 {
		return fmt.Sprintf("the hazard was not reached (%s)", s.Schedule.Hazard)
	}
	return s.forbiddenEvent(j)
}

// forbiddenEvent returns which counter makes j another run than the documented one; "": none.
func (s *ScheduleResult) forbiddenEvent(j *Judged) string {
	for _, c := range s.Schedule.Never {
		if j.Reached[c] > 0 {
			return fmt.Sprintf("something else happened (%s)", c)
		}
	}
	return ""
}

// lateServer returns a message if a server was away for T/2 longer than planned: leases that
// ended meanwhile are not part of the case.
func (j *Judged) lateServer() string {
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

// stoodStill returns a message if the machine stood still: a lease may have ended that a
// client believed in.
func (j *Judged) stoodStill() string {
	if slices.ContainsFunc(j.History.Entries, func(e history.Entry) bool { return e.F == history.Stall }) {
		return ", and the machine stood still meanwhile"
	}
	return ""
}

// slowMachine returns why a slow machine alone may have violated these properties in j, where
// no fault strikes; "": it cannot be the reason. In real time a lease can end before its holder
// is done, and a lock that is not correct, as that of every case but a control, may break then.
func (j *Judged) slowMachine(bad []checker.Property, correct bool) string {
	if still := j.stoodStill(); still != "" {
		return still
	}
	if !correct && j.Plan.On != "sim" || !slices.ContainsFunc(bad, func(p checker.Property) bool { return p != checker.Handover && p != checker.Liveness }) {
		return ", as on a machine that is too slow"
	}
	return ""
}

// onlyLeasesEnded reports whether a violation of p needs a client that goes on after its lease:
// two clients overlap, but no two leases do. Outside virtual time a busy machine is enough.
func (j *Judged) onlyLeasesEnded(p checker.Property) bool {
	return (p == checker.Exclusion || p == checker.Resource) && j.Outcome(checker.LeaseExclusion) == checker.Valid
}

// unexpected returns the properties that j violates although only the fault should violate
// them. A control must hold without the fault, too.
func (s *ScheduleResult) unexpected(j *Judged) (list []checker.Property) {
	for _, p := range s.Schedule.Must {
		if j.Outcome(p) == checker.Violated {
			list = append(list, p)
		}
	}
	return list
}

// judgeRemedy compares a remedied run with the properties that the remedy keeps.
func (r *CaseResult) judgeRemedy(s ScheduleResult, blind []checker.Property) {
	late, before := s.Remedied.lateServer()+s.Remedied.stoodStill(), r.RemedyReason
	unreliable := late != "" || s.forbiddenEvent(s.Remedied) != ""
	worst := func(remedy, format string, args ...any) {
		if unreliable {
			remedy = "unknown"
		}
		if r.Remedy != "violated" {
			r.Remedy = remedy
		}
		s.explain(&r.RemedyReason, "with the remedy "+fmt.Sprintf(format, args...))
	}
	for _, p := range r.Case.Remedy.Keeps {
		switch got := s.Remedied.Outcome(p); {
		case got == checker.Violated && r.On != "sim" && (p == checker.Liveness || p == checker.Handover):
			worst("unknown", "%s is violated, perhaps by a slow machine", p)
		case got == checker.Violated && r.On != "sim" && s.Remedied.onlyLeasesEnded(p):
			worst("unknown", "%s is violated after a lease had ended, perhaps on a slow machine", p)
		case got == checker.Violated:
			worst("violated", "%s is violated", p)
		case got == checker.Valid, got == checker.NA && slices.Contains(blind, p):
		default:
			worst("unknown", "%s is %s", p, got)
		}
	}
	if f := r.Case.Figure; f != nil {
		if r.RemedyFigure = max(r.RemedyFigure, s.Remedied.Measure(f.Of)); r.RemedyFigure > f.AtMost {
			outcome := "violated"
			if r.On != "sim" { // a slow machine takes longer, and asks more often meanwhile
				outcome = "unknown"
			}
			worst(outcome, "%.3g %s, and should be %.3g at most", r.RemedyFigure, f.Of, f.AtMost)
		}
	}
	if deviation := s.deviation(s.Remedied); deviation != "" {
		worst("unknown", "%s", deviation)
	}
	if r.RemedyReason != before {
		r.RemedyReason += late
	}
}
