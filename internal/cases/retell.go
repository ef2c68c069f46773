package cases

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Changes are the differences when a case is repeated.
type Changes struct {
	Lock  string        // "": its own
	Pause time.Duration // of pauses; 0: as documented
}

// Changeable returns the cases in which the flags change something. It returns an error
// if they change nothing in a case that was named itself.
func (to *Stage) Changeable(ids []string, named func(id string) bool, f Changes) ([]string, error) {
	var some []string
	var first error // why the first case was left out
	for _, id := range ids {
		err := f.change(id)
		if err != nil && named(id) {
			return nil, err
		}
		if err != nil {
			to.Say("lockcheck: skipped: %v\n", err)
			first = cmp.Or(first, err)
			continue
		}
		some = append(some, id)
	}
	if len(some) == 0 {
		return nil, first
	}
	return some, nil
}

// change returns an error if the flags cannot change a case.
func (f Changes) change(id string) error {
	c, _ := catalogue.FindCase(id)
	if f.Pause != 0 && !slices.ContainsFunc(c.Schedules, func(s catalogue.Schedule) bool {
		return slices.ContainsFunc(s.Faults, isPause)
	}) {
		return exit.Errorf(exit.Usage, "--pause changes nothing in %s: nobody is paused in it", id)
	}
	if f.Lock == "" {
		return nil
	}
	lock, _ := catalogue.FindLock(f.Lock)
	if own, _ := catalogue.FindLock(c.Setup.Lock); lock.Store != own.Store {
		return exit.Errorf(exit.Usage, "%s cannot be told with %s, which stands on %s: it happens to %s", id, f.Lock, lock.Store, own.Store)
	}
	if err := ask.Fits(f.Lock, c.Setup.Options); err != nil {
		return exit.Errorf(exit.Usage, "%s cannot be told with %s: %w", id, f.Lock, err)
	}
	return nil
}

func isPause(in faults.Injection) bool { return in.Fault == "pause" }

// impossible prints that a case cannot be shown in an environment.
func (to *Stage) impossible(p *batch.Runner, id, why string) {
	to.Paragraph(2, to.Sign(checker.NA)+" "+id+": n/a on "+p.Name()+": "+why)
	to.Printf("\n")
}

// Retell runs cases with the changes of the flags.
func (to *Stage) Retell(p *batch.Runner, ids []string, named func(id string) bool, f Changes) error {
	code, head := exit.Held, newHead(f.arguments(ids))
	if err := to.Out.Clear(head); err != nil {
		return err
	}
	var told judging.Documents
	var rows []index.Row
	for i, id := range ids {
		if p.Interrupted() {
			told.Interrupted, told.Left = true, len(ids)-i
			break
		}
		c, _ := catalogue.FindCase(id)
		if why := cmp.Or(c.NotOn[p.Name()], p.Lacks(&c)); why != "" {
			to.impossible(p, id, why)
			if named(id) {
				code = exit.Worse(code, exit.Unproven)
			}
			continue
		}
		for _, s := range c.Schedules {
			doc, err := to.retellSchedule(p, c, s, f)
			told.Interrupted = p.Interrupted()
			if err != nil && told.Interrupted {
				break
			}
			if err != nil {
				return err
			}
			told.Files, rows = append(told.Files, doc.Verdict), append(rows, doc.row)
			code = exit.Worse(code, doc.code)
			if told.Interrupted {
				break
			}
		}
	}
	if len(told.Files) == 0 {
		code = exit.Worse(code, exit.Unproven)
	}
	if told.Left > 0 {
		to.Paragraph(0, names.NotBegun(told.Left))
	}
	if to.JSON {
		if err := judging.PrintVerdicts(to.Terminal, told); err != nil {
			return err
		}
	}
	missing := ""
	if told.Interrupted {
		missing = "interrupted"
	}
	result := pageResult(code, string(results.Held), string(results.Violated))
	return cmp.Or(to.page(head, rows, result, missing), exit.With(code))
}

// arguments returns the arguments of a command that changes these cases.
func (f Changes) arguments(ids []string) string {
	var words []string
	if len(ids) == 1 {
		words = ids
	}
	if f.Lock != "" {
		words = append(words, "--lock", f.Lock)
	}
	if f.Pause != 0 {
		words = append(words, "--pause", f.Pause.String())
	}
	return strings.Join(words, " ")
}

// retold is a changed schedule of a case, its run, and the exit code for it.
type retold struct {
	judging.Document
	code int
	row  index.Row
}

func (to *Stage) retellSchedule(p *batch.Runner, c catalogue.Case, s catalogue.Schedule, f Changes) (doc retold, err error) {
	plan, _, _ := harness.CasePlans(c, s, p.Name(), p.LeaseOf(c))
	if f.Lock != "" {
		plan.Lock = f.Lock
	}
	for i := range plan.Faults {
		if f.Pause != 0 && isPause(plan.Faults[i]) {
			plan.Faults[i].For = f.Pause
		}
	}
	name := harness.ScheduleName(c, s) + "-changed"
	j, _, err := p.Try(plan, name, name)
	if err != nil {
		return doc, err
	}
	dir, err := p.Save(name, j)
	if err != nil {
		return doc, err
	}
	to.Heading(harness.ScheduleName(c, s) + ", changed")
	if err := to.Run(j, nil); err != nil {
		return doc, err
	}
	to.VerdictTable(j.Verdicts, nil)
	doc.Verdict = rundir.NewVerdict(j.Verdicts, j.Reached)
	doc.code = to.Disputed(name, j.Verdicts, exit.Of(checker.Promise(nil).Judge(j.Outcome)))
	doc.File = filepath.Join(dir, rundir.HistoryFile)
	if why := batch.Idle(j); why != "" && doc.code == exit.Held {
		doc.code, doc.Reason = exit.Unproven, why
		to.Paragraph(2, "Proves nothing: "+why+".")
	}
	doc.row = index.Row{Name: name, Lock: plan.Lock, On: p.Name(), Reason: doc.Reason, Result: pageResult(doc.code, string(results.Held), string(results.Violated))}
	to.show(&doc.row, j, s, name)
	to.Printf("Files    %s\n", dir)
	to.ReplayLine(dir)
	to.Printf("\n")
	return doc, nil
}
