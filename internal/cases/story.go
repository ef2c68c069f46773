package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// tellCase saves the runs of a case. With tell it also prints the case: its failure,
// its runs and its remedy.
func (to *Stage) tellCase(p *batch.Runner, r *harness.CaseResult, again []string, tell bool) error {
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
	if to.JSON || to.Quiet || !tell {
		return nil
	}
	to.Heading(r.Case.ID)
	to.Paragraph(0, r.Case.Title+".")
	to.Paragraph(0, r.Case.Tells)
	to.Paragraph(9, "Source   "+r.Case.Source)
	to.Printf("\n")
	for i, s := range r.Schedules {
		if s.Schedule.Name != "" {
			to.Printf("Schedule: %s\n\n", s.Schedule.Name)
		}
		if err := to.tellRuns(p, r, &s, dirs[i]); err != nil {
			return err
		}
		to.Printf("Files    %s\n", dirs[i])
		to.ReplayLine(dirs[i])
		to.Printf("\n")
	}
	to.measured(r)
	for _, why := range again {
		to.Paragraph(2, to.Sign(checker.NA)+" Played again: "+why+".")
	}
	if r.Reproduced {
		to.Paragraph(2, to.Sign(checker.Valid)+" Reproduced. "+healthyWords(r))
	} else {
		to.Paragraph(2, fmt.Sprintf("%s Not reproduced: %s.", to.Sign(checker.Violated), r.Reason))
	}
	if r.Case.Remedy.None != "" {
		to.Paragraph(2, fmt.Sprintf("%s Remedy: none to run: %s.", to.Sign(checker.NA), r.Case.Remedy.None))
	} else {
		to.Paragraph(2, fmt.Sprintf("%s Remedy: %s %s", to.Sign(remedyOutcome(r.Remedy)), r.Case.Remedy.Words, remedyWords(r)))
	}
	to.Printf("\n")
	return nil
}

// tellRuns tells of the flawed run of a schedule, whose files are in dir, and of the remedy
// as the flags say.
func (to *Stage) tellRuns(p *batch.Runner, r *harness.CaseResult, s *harness.ScheduleResult, dir string) error {
	if to.Step {
		return to.Printer.Step(p.Ctx, to.Keys, harness.ScheduleName(r.Case, s.Schedule), s.Flawed, nil)
	}
	if flaw, remedy := sides(r, s); to.Compare && remedy != nil {
		if err := rundir.SaveComparison(dir, flaw, *remedy); err != nil {
			return err
		}
		return to.Printer.Compare(flaw, *remedy)
	}
	if err := to.Run(s.Flawed, nil); err != nil || !to.Verbose || s.Remedied == nil {
		return err
	}
	to.Printf("The same with the remedy:\n\n")
	return to.Run(s.Remedied, r.Case.Remedy.Keeps)
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
	without := "Without the fault"
	if r.Case.Setup.Server.Sequence != 0 { // its numbers were the fault
		without = "On an ensemble whose numbers begin with 0"
	}
	if !slices.ContainsFunc(r.Schedules, func(s harness.ScheduleResult) bool { return s.Healthy != nil }) {
		return "It takes no fault."
	}
	list := violatedIn(r, func(s *harness.ScheduleResult) *harness.Judged { return s.Healthy }).Strings()
	switch len(list) {
	case 0:
		if len(violatedIn(r, func(s *harness.ScheduleResult) *harness.Judged { return s.Flawed })) == 0 {
			return without + " nothing is violated either."
		}
		return without + " nothing is violated."
	case 1:
		return without + " only " + list[0] + " is violated."
	}
	return without + " only " + strings.Join(list, " and ") + " are violated."
}

// measured prints the result of a measure.
func (to *Stage) measured(r *harness.CaseResult) {
	f := r.Case.Figure
	if f == nil {
		return
	}
	text := f.Of.Label() + ": " + f.Of.Figure(r.Figure)
	if r.Case.Remedy.None == "" {
		text += "; with the remedy " + f.Of.Figure(r.RemedyFigure)
	}
	to.Paragraph(9, text+".")
}

// remedyWords says which remedy ran, and what it kept: what it promises, and what the
// flawed runs violated and none of its own did.
func remedyWords(r *harness.CaseResult) string {
	keeps := slices.Clone(r.Case.Remedy.Keeps)
	for _, p := range violatedIn(r, func(s *harness.ScheduleResult) *harness.Judged { return s.Flawed }) {
		if !slices.Contains(keeps, p) && !slices.ContainsFunc(r.Schedules, func(s harness.ScheduleResult) bool {
			return s.Remedied == nil || s.Remedied.Outcome(p) != checker.Valid
		}) {
			keeps = append(keeps, p)
		}
	}
	what := setupWords(r.Case.Remedy.Setup)
	if n := nodes(r.Case.Remedy.Setup); n != nodes(r.Case.Setup) && r.Case.Remedy.Setup.Server.Words() == "" {
		what += ", on " + names.Count(n, "server")
	}
	text := fmt.Sprintf("%s, under the same schedule, keeps %s.", what, strings.Join(checker.Promise(keeps).Strings(), ", "))
	if r.Remedy != "valid" {
		return text + " Not here: " + r.RemedyReason + "."
	}
	if also := violatedIn(r, func(s *harness.ScheduleResult) *harness.Judged { return s.Remedied }).Strings(); also != nil {
		text += " It does not keep " + strings.Join(also, ", ") + "."
	}
	return text
}

// nodes returns how many servers a lock asks.
func nodes(setup catalogue.Setup) int {
	lock, _ := catalogue.FindLock(setup.Lock)
	l := catalogue.NewLayout(&lock, setup.Server, setup.Options)
	return len(l.Masters())
}

// setupWords says which lock runs, with what, and on which servers.
func setupWords(setup catalogue.Setup) string {
	what := setup.Lock
	if o := setup.Options.String(); o != "" {
		what += " with " + o
	}
	if setup.Fencing != "" {
		what += " and fencing"
	}
	if servers := setup.Server.Words(); servers != "" {
		what += ", on " + servers
	}
	return what
}

// caseTable prints the overview at the end.
func (to *Stage) caseTable(cases []Result) {
	if len(cases) < 2 {
		return
	}
	width := 0
	for _, c := range cases {
		width = max(width, len(c.ID))
	}
	room := layout.Columns - width - len("✗   remedy violated") + 2 // the sign takes one column and three bytes
	for _, c := range cases {
		sign, words := to.Sign(checker.Valid), strings.Join(c.Violated, ", ")
		switch {
		case c.Remedy == "none" && len(c.Violated) == 0 && !c.Reproduced:
			sign, words = to.Sign(checker.NA), "n/a here"
		case !c.Reproduced || c.Remedy == "violated" || c.Remedy == "unknown":
			sign, words = to.Sign(checker.Violated), c.Reason
		case c.Kind == string(catalogue.Control):
			words = "held, as it should"
		}
		to.Printf("%s %-*s %-*s %s\n", sign, width, c.ID, room, layout.Clip(words, room), "remedy "+c.Remedy)
	}
	to.Printf("\n")
}
