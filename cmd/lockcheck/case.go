package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
)

// caseFlags are the flags that change a case.
type caseFlags struct {
	environment ask.Environment
	all         bool
	lock        string
	pause       time.Duration
}

func (a *app) caseCommand() *cobra.Command {
	var f caseFlags
	cmd := &cobra.Command{
		Use:   "case [ID…]",
		Short: "Reproduce documented failures, each with its counter-proof",
		Long: `Reproduces documented failures of locks. Without an ID it runs all cases, and
prints one story and a summary. With IDs (or globs), or with --all, it prints
the story of each.

Each case runs three times under the same schedule: as documented, where the
judge, which does not know the case, has to find the violation; without the
fault, where nothing may be wrong; and with the remedy, which has to hold. On
docker a case that does not come about is repeated up to three times, with
twice the lease where that may help a slow machine. A case that goes wrong is
not repeated, unless the machine may have been too slow.

--lock, --pause and --lease change one thing and run the case again. Nothing is
documented for that: the exit code is 1 if anything is violated.`,
		Example: `  lockcheck case
  lockcheck case --all
  lockcheck case redis-get-del-race
  lockcheck case redis-get-del-race --lock redis-set-lua
  lockcheck case 'redis-*' --on docker`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := ask.Match("case", args, names.Cases())
			if err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			if changed("pause") && f.pause <= 0 {
				return exit.Errorf(exit.Usage, "--pause %v: it has to be more than 0", f.pause)
			}
			if _, ok := catalogue.FindLock(f.lock); !ok && changed("lock") {
				return ask.Unknown("lock", f.lock, names.Locks())
			}
			if changed("lock") || changed("pause") {
				if ids, err = a.changeable(ids, ask.Named(args), f); err != nil {
					return err
				}
			}
			if f.all && len(args) > 0 {
				return exit.Errorf(exit.Usage, "--all stands for all cases: leave out %s", strings.Join(args, " "))
			}
			if err := a.Out.CanKeep(); err != nil {
				return err
			}
			p, err := a.open(cmd.Context(), f.environment)
			if err != nil {
				return err
			}
			if changed("lock") || changed("pause") || changed("lease") {
				return a.retell(p, ids, ask.Named(args), f)
			}
			tells := func(id string) bool { return f.all || len(args) > 0 || id == exampleCase }
			return a.cases(p, ids, ask.Named(args), tells)
		},
	}
	environmentFlags(cmd, &f.environment)
	cmd.Flags().BoolVar(&f.all, "all", false, "print the story of every case")
	cmd.Flags().StringVar(&f.lock, "lock", "", "tell it with another `LOCK`")
	durationFlag(cmd.Flags(), &f.pause, "pause", 0, "let pauses last so `long`")
	return cmd
}

// caseDocument is what case prints with --json.
type caseDocument struct {
	Schema int          `json:"schema"` // version of this document
	Cases  []caseResult `json:"cases"`  // the cases, in the order of lockcheck list cases

	Interrupted bool   `json:"interrupted,omitempty"` // somebody ended it: this is what there was until then
	Cut         string `json:"cut,omitempty"`         // the case that was under way then, of which nothing is here
	Left        int    `json:"not_begun,omitempty"`   // cases that were not begun, as it was interrupted
}

// caseResult is what came of one case.
type caseResult struct {
	ID           string   `json:"id"`                      // name of the case
	Kind         string   `json:"kind"`                    // violation (the lock has to break), control (it has to hold where others break) or measure (a figure)
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
	Tries        int      `json:"tries,omitempty"`         // how often it was played: on docker, one that did not come about is played again, with twice the lease where that may help
	Again        []string `json:"again,omitempty"`         // why it was played again, each time
	Seconds      float64  `json:"seconds"`                 // how long the last try took
}

// longestRetry is the longest lease of a retry: ZooKeeper sessions on docker last no
// longer.
const longestRetry = 10 * time.Second

// reproduce plays a case, and returns the reasons why it was played again. A case that
// did not come about is retried with twice the lease: all its times are parts of the
// lease, and on a busy machine a server that should be back after T/10 may take T. The
// lease stays if the fault struck in time and the time that matters is no part of T. An
// unexpected event is not retried, unless a slow machine alone can cause it.
func (a *app) reproduce(p *batch.Runner, c catalogue.Case) (r *harness.CaseResult, again []string, err error) {
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
		a.Say("lockcheck: %s did not come about (%s); once more, with a lease of %v\n", c.ID, r.Why(), lease)
	}
}

// cases reproduces cases. A case that is named itself, and not by a glob, must be
// possible here. It prints the story of each case for which tells returns true. If
// there are other cases, it prints a summary instead of the table of all cases.
func (a *app) cases(p *batch.Runner, ids []string, named, tells func(id string) bool) error {
	start := time.Now()
	doc := caseDocument{Schema: 1, Cases: []caseResult{}}
	code, ok, skipped := exit.Held, 0, 0
	summary := slices.ContainsFunc(ids, func(id string) bool { return !tells(id) })
	for i, id := range ids {
		if p.Interrupted() {
			doc.Left = len(ids) - i
			break
		}
		c, _ := catalogue.FindCase(id)
		if why := p.Impossible(&c); why != "" {
			skipped++
			doc.Cases = append(doc.Cases, caseResult{ID: id, Kind: string(c.Kind), Lock: c.Setup.Lock, On: p.Name(), Violated: []string{}, Remedy: "none", Reason: why})
			if tells(id) {
				a.impossible(p, id, why)
			}
			if named(id) {
				code = exit.Worse(code, exit.Unproven)
			}
			continue
		}
		r, again, err := a.reproduce(p, c)
		if err != nil {
			if p.Interrupted() {
				doc.Cut, doc.Left = id, len(ids)-i-1
				break
			}
			return err
		}
		if err := a.tellCase(p, r, again, tells(id)); err != nil {
			return err
		}
		result := newCaseResult(r, again)
		doc.Cases = append(doc.Cases, result)
		switch {
		case result.asDocumented():
			ok++
		case r.Reproduced && r.Remedy == "unknown":
			code = exit.Worse(code, exit.Unproven)
		default:
			code = exit.Worse(code, exit.Violated)
		}
	}
	doc.Interrupted = p.Interrupted()
	if a.JSON {
		if err := a.PrintJSON(doc); err != nil {
			return err
		}
	}
	if summary && len(doc.Cases) > 0 {
		a.caseSummary(p.Name(), doc.Cases)
	} else {
		a.caseTable(doc.Cases)
	}
	words := "No case was begun"
	if doc.Left < len(ids) {
		words = fmt.Sprintf("%d of %d behaved as documented", ok, len(ids)-skipped) + doc.missing()
	}
	a.Paragraph(0, fmt.Sprintf("%s, in %.1f s on %s; files below %s", words, time.Since(start).Seconds(), p.Name(), a.Out.Path))
	if len(doc.Cases) == skipped {
		code = exit.Worse(code, exit.Unproven)
	}
	return exit.With(code)
}

// missing says how much of the result is missing because of an interrupt.
func (d *caseDocument) missing() string {
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

func newCaseResult(r *harness.CaseResult, again []string) caseResult {
	c := caseResult{
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

// tellCase saves the runs of a case. With tell it also prints the case: its failure,
// its runs and its remedy.
func (a *app) tellCase(p *batch.Runner, r *harness.CaseResult, again []string, tell bool) error {
	dirs := make([]string, len(r.Schedules))
	for i, s := range r.Schedules {
		name := harness.ScheduleName(r.Case, s.Schedule)
		var err error
		if dirs[i], err = p.Save(name, s.Flawed); err != nil {
			return err
		}
		if s.Healthy != nil {
			if _, err = p.Save(name+"-no-fault", s.Healthy); err != nil {
				return err
			}
		}
		if s.Remedied != nil {
			if _, err = p.Save(name+"-remedy", s.Remedied); err != nil {
				return err
			}
		}
	}
	if a.JSON || a.Quiet || !tell {
		return nil
	}
	a.Heading(r.Case.ID)
	a.Paragraph(0, r.Case.Title+".")
	a.Paragraph(0, r.Case.Tells)
	a.Paragraph(9, "Source   "+r.Case.Source)
	a.Printf("\n")
	for i, s := range r.Schedules {
		if s.Schedule.Name != "" {
			a.Printf("Schedule: %s\n\n", s.Schedule.Name)
		}
		if err := a.Run(s.Flawed, nil); err != nil {
			return err
		}
		if a.Verbose && s.Remedied != nil {
			a.Printf("The same with the remedy:\n\n")
			if err := a.Run(s.Remedied, r.Case.Remedy.Keeps); err != nil {
				return err
			}
		}
		a.Printf("Files    %s\n", dirs[i])
		a.ReplayLine(dirs[i])
		a.Printf("\n")
	}
	a.measured(r)
	for _, why := range again {
		a.Paragraph(2, a.Sign(checker.NA)+" Played again: "+why+".")
	}
	if r.Reproduced {
		a.Paragraph(2, a.Sign(checker.Valid)+" Reproduced. "+healthyWords(r))
	} else {
		a.Paragraph(2, fmt.Sprintf("%s Not reproduced: %s.", a.Sign(checker.Violated), r.Reason))
	}
	if r.Case.Remedy.None != "" {
		a.Paragraph(2, fmt.Sprintf("%s Remedy: none to run: %s.", a.Sign(checker.NA), r.Case.Remedy.None))
	} else {
		a.Paragraph(2, fmt.Sprintf("%s Remedy: %s %s", a.Sign(remedyOutcome(r.Remedy)), r.Case.Remedy.Words, remedyWords(r)))
	}
	a.Printf("\n")
	return nil
}

func remedyOutcome(remedy string) checker.Outcome {
	switch remedy {
	case "valid":
		return checker.Valid
	case "violated":
		return checker.Violated
	default:
		return checker.Unknown
	}
}

// healthyWords describes the run without the fault.
func healthyWords(r *harness.CaseResult) string {
	if !slices.ContainsFunc(r.Schedules, func(s harness.ScheduleResult) bool { return s.Healthy != nil }) {
		return "It takes no fault."
	}
	list := violatedIn(r, func(s *harness.ScheduleResult) *harness.Judged { return s.Healthy }).Strings()
	switch len(list) {
	case 0:
		return "Without the fault nothing is violated."
	case 1:
		return "Without the fault only " + list[0] + " is violated."
	}
	return "Without the fault only " + strings.Join(list, " and ") + " are violated."
}

// measured prints the result of a measure.
func (a *app) measured(r *harness.CaseResult) {
	f := r.Case.Figure
	if f == nil {
		return
	}
	text := f.Of.Label() + ": " + f.Of.Figure(r.Figure)
	if r.Case.Remedy.None == "" {
		text += "; with the remedy " + f.Of.Figure(r.RemedyFigure)
	}
	a.Paragraph(9, text+".")
}

// remedyWords says which remedy ran, and what it kept.
func remedyWords(r *harness.CaseResult) string {
	setup := r.Case.Remedy.Setup
	what := setup.Lock
	if o := setup.Options.String(); o != "" {
		what += " with " + o
	}
	if setup.Fencing != "" {
		what += " and fencing"
	}
	what += serverWords(setup.Server)
	text := fmt.Sprintf("%s, under the same schedule, keeps %s.", what, strings.Join(checker.Promise(r.Case.Remedy.Keeps).Strings(), ", "))
	if r.Remedy != "valid" {
		return text + " Not here: " + r.RemedyReason + "."
	}
	if also := violatedIn(r, func(s *harness.ScheduleResult) *harness.Judged { return s.Remedied }).Strings(); also != nil {
		text += " It does not keep " + strings.Join(also, ", ") + "."
	}
	return text
}

// serverWords describes servers that are not set up in the usual way.
func serverWords(s catalogue.Server) string {
	text := ""
	if s.Fsync != "" {
		text += " on a server with fsync " + string(s.Fsync)
	}
	if s.Eviction != "" {
		text += " on a server with maxmemory-policy " + string(s.Eviction)
	}
	if s.Sequence != 0 {
		text += fmt.Sprintf(" on an ensemble whose next number is %d", s.Sequence)
	}
	return text
}

// caseTable prints the overview at the end.
func (a *app) caseTable(cases []caseResult) {
	if len(cases) < 2 {
		return
	}
	width := 0
	for _, c := range cases {
		width = max(width, len(c.ID))
	}
	room := layout.Columns - width - len("✗   remedy violated") + 2 // the sign takes one column and three bytes
	for _, c := range cases {
		sign, words := a.Sign(checker.Valid), strings.Join(c.Violated, ", ")
		switch {
		case c.Remedy == "none" && len(c.Violated) == 0 && !c.Reproduced:
			sign, words = a.Sign(checker.NA), "n/a here"
		case !c.Reproduced || c.Remedy == "violated" || c.Remedy == "unknown":
			sign, words = a.Sign(checker.Violated), c.Reason
		case c.Kind == string(catalogue.Control):
			words = "held, as it should"
		}
		a.Printf("%s %-*s %-*s %s\n", sign, width, c.ID, room, layout.Clip(words, room), "remedy "+c.Remedy)
	}
	a.Printf("\n")
}
