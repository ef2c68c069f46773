// Package cases reproduces the documented failures, each with its counter-proof, and prints
// what came of them.
package cases

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/summary"
)

// Stage plays cases.
type Stage struct {
	*summary.Printer
	Telling
}

// Document is what case prints with --json.
type Document struct {
	Schema int      `json:"schema"` // version of this document
	Cases  []Result `json:"cases"`  // the cases, in the order of lockcheck list cases

	Interrupted bool   `json:"interrupted,omitempty"` // an interrupt ended it: these are the results until then
	Cut         string `json:"cut,omitempty"`         // the case that was under way then, of which nothing is here
	Left        int    `json:"not_begun,omitempty"`   // cases that were not begun, as it was interrupted
}

// Result is what came of one case.
type Result struct {
	ID           string   `json:"id"`                      // name of the case
	Kind         string   `json:"kind"`                    // violation: the lock has to break; control: it has to hold; measure: a figure is measured
	Lock         string   `json:"lock"`                    // the lock that the case is about
	On           string   `json:"on"`                      // the place: sim or docker
	Reproduced   bool     `json:"reproduced"`              // whether it came out as documented
	Violated     []string `json:"violated"`                // properties that were violated
	Remedy       string   `json:"remedy"`                  // what came of the remedy under the same schedule: valid, violated, unknown, or none: there is none to run
	RemedyLock   string   `json:"remedy_lock,omitempty"`   // the lock that is the remedy
	Reason       string   `json:"reason"`                  // why it was not reproduced, or could not be run here, or has no remedy; else empty
	Figure       *float64 `json:"figure,omitempty"`        // what was measured, of a measure
	RemedyFigure *float64 `json:"remedy_figure,omitempty"` // the same with the remedy
	LeaseMS      int64    `json:"lease_ms,omitempty"`      // T, the lease or session time-out, in ms; not there where it could not be run
	Tries        int      `json:"tries,omitempty"`         // how often the case ran: on docker a case that did not show its failure runs again, with twice the lease if that may help
	Again        []string `json:"again,omitempty"`         // why it was played again, each time
	Seconds      float64  `json:"seconds"`                 // how long the last try took
}

// longestRetry is the longest lease of a retry: ZooKeeper sessions on docker last no
// longer.
const longestRetry = 10 * time.Second

// play plays a case, and returns the reasons why it was played again. A case that
// did not come about is retried with twice the lease: all its times are parts of the
// lease, and on a busy machine a server that should be back after T/10 may take T. The
// lease stays if the fault struck in time and the time that matters is no part of T. An
// unexpected event is not retried, unless a slow machine alone can cause it.
func (to *Stage) play(p *batch.Runner, c catalogue.Case) (r *harness.CaseResult, again []string, err error) {
	lease := p.LeaseOf(c)
	for {
		r, err = harness.Case(c, p.Name(), lease, p.Each)
		if err != nil || !r.Missed || p.Name() == "sim" || len(again)+1 == batch.Tries {
			return r, again, err
		}
		again = append(again, fmt.Sprintf("with T = %v %s", lease, r.Why()))
		if !c.OwnTime || !r.Struck {
			lease = max(lease, min(2*lease, longestRetry))
		}
		to.Say("lockcheck: %s did not come about (%s); once more, with a lease of %v\n", c.ID, r.Why(), lease)
	}
}

// Reproduce reproduces cases. A case that is named itself, and not by a glob, must be
// possible here. It prints the story of each case for which tells returns true. If
// there are other cases, it prints a summary instead of the table of all cases.
func (to *Stage) Reproduce(p *batch.Runner, ids []string, named, tells func(id string) bool) error {
	start := time.Now()
	doc := Document{Schema: 1, Cases: []Result{}}
	code, ok, skipped := exit.Held, 0, 0
	summary := slices.ContainsFunc(ids, func(id string) bool { return !tells(id) })
	if err := to.begin(); err != nil {
		return err
	}
	var rows []index.Row
	published := map[string]siteCase{}
	for i, id := range ids {
		if p.Interrupted() {
			doc.Left = len(ids) - i
			break
		}
		c, _ := catalogue.FindCase(id)
		if why := p.Impossible(&c); why != "" {
			skipped++
			doc.Cases = append(doc.Cases, Result{ID: id, Kind: string(c.Kind), Lock: c.Setup.Lock, On: p.Name(), Violated: []string{}, Remedy: "none", Reason: why})
			rows = append(rows, to.rowOf(nil, &doc.Cases[len(doc.Cases)-1]))
			published[id], _ = to.publish(c, nil, &doc.Cases[len(doc.Cases)-1])
			if tells(id) {
				to.impossible(p, id, why)
			}
			if named(id) {
				code = exit.Worse(code, exit.Unproven)
			}
			continue
		}
		r, again, err := to.play(p, c)
		if err != nil {
			if p.Interrupted() {
				doc.Cut, doc.Left = id, len(ids)-i-1
				break
			}
			return err
		}
		if err := to.tellCase(p, r, again, tells(id)); err != nil {
			return err
		}
		result := newCaseResult(r, again)
		doc.Cases, rows = append(doc.Cases, result), append(rows, to.rowOf(r, &result))
		if published[id], err = to.publish(c, r, &result); err != nil {
			return err
		}
		switch {
		case result.AsDocumented():
			ok++
		case r.Reproduced && r.Remedy == "unknown":
			code = exit.Worse(code, exit.Unproven)
		default:
			code = exit.Worse(code, exit.Violated)
		}
	}
	doc.Interrupted = p.Interrupted()
	if to.JSON {
		if err := to.PrintJSON(doc); err != nil {
			return err
		}
	}
	if summary && len(doc.Cases) > 0 {
		to.caseSummary(p.Name(), doc.Cases)
	} else {
		to.caseTable(doc.Cases)
	}
	words := "No case was begun"
	if doc.Left < len(ids) {
		words = fmt.Sprintf("%d of %d behaved as documented", ok, len(ids)-skipped) + doc.missing()
	}
	to.Paragraph(0, fmt.Sprintf("%s, in %.1f s on %s; files below %s", words, time.Since(start).Seconds(), p.Name(), to.Out.Path))
	if err := to.writeSite(newSite(p.Name(), doc.missing(), published)); err != nil {
		return err
	}
	if len(doc.Cases) == skipped {
		code = exit.Worse(code, exit.Unproven)
	}
	result := pageResult(code, index.AsDocumented, index.NotAsDocumented)
	return cmp.Or(to.page(newHead(""), rows, result, doc.missing()), exit.With(code))
}

// missing says how much of the result is missing because of an interrupt.
func (d *Document) missing() string {
	switch {
	case d.Cut != "" && d.Left > 0:
		return "; " + d.Cut + " was cut short, and " + names.NotBegun(d.Left)
	case d.Cut != "":
		return "; " + d.Cut + " was cut short"
	case d.Left > 0:
		return "; " + names.NotBegun(d.Left)
	}
	return ""
}

func newCaseResult(r *harness.CaseResult, again []string) Result {
	c := Result{
		ID: r.Case.ID, Kind: string(r.Case.Kind), Lock: r.Case.Setup.Lock, On: r.On,
		Reproduced: r.Reproduced, Violated: []string{}, Remedy: r.Remedy, RemedyLock: r.Case.Remedy.Setup.Lock,
		Reason: r.Why(), LeaseMS: r.Lease.Milliseconds(), Tries: len(again) + 1, Again: again, Seconds: r.Took.Seconds(),
	}
	if r.Case.Figure != nil {
		c.Figure = &r.Figure
		if r.Case.Remedy.None == "" {
			c.RemedyFigure = &r.RemedyFigure
		}
	}
	if r.Remedy == "none" && c.Reason == "" {
		c.Reason = r.Case.Remedy.None
	}
	c.Violated = append(c.Violated, violatedIn(r, func(s *harness.ScheduleResult) *harness.Judged { return s.Flawed }).Strings()...)
	return c
}

// violatedIn returns the properties that the selected runs of a case violated. run
// selects one run of each schedule, or nil if it has none.
func violatedIn(r *harness.CaseResult, run func(*harness.ScheduleResult) *harness.Judged) (list checker.Promise) {
	for i := range r.Schedules {
		j := run(&r.Schedules[i])
		if j == nil {
			continue
		}
		for _, p := range j.Violated() {
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}
