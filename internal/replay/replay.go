// Package replay carries out saved schedules again: as they are, with another lock, or with
// less and less in them until the shortest run is found that still violates a property.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/summary"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Player carries out schedules again, and prints what comes of them.
type Player struct {
	*summary.Printer
	Open func(context.Context, ask.Environment) (*batch.Runner, error)
}

// Changes are what is different in a replay.
type Changes struct {
	Promise     checker.Promise
	Lock        string
	Options     *catalogue.Options // nil: those of the schedule
	AllowWorker bool               // the commands of workers in schedules may be started
	Servers     *endpoints.Servers // for the schedules of runs on the user's own servers
}

// allowed returns an error unless the schedule's worker may be started: a schedule may
// come from anybody, and a worker is a command on this machine.
func allowed(plan *harness.Plan, file string, allow bool) error {
	if plan.Worker == nil || allow {
		return nil
	}
	return exit.Errorf(exit.Usage, "%s starts a worker: %s\n--allow-worker allows it", rundir.ScheduleOf(file), terminal.WorkerCommand(plan))
}

// replayed is the outcome of a replay.
type replayed struct {
	judging.Document

	broken []string // promised properties that it violates
	aside  []string // properties that it violates and are not promised
	asked  []string // the promised ones of Was
}

// Replay replays files. If there are several, it ends with a line for each.
func (to *Player) Replay(ctx context.Context, files []string, f Changes) error {
	taken := map[string]bool{}
	var lines []string
	err := judging.Each(ctx, to.Terminal, files, nil, func(file string) (judging.Document, int, error) {
		if len(files) > 1 && !to.Quiet {
			to.Heading(file)
		}
		doc, code, err := to.replayOne(ctx, file, f, taken)
		switch {
		case err == nil:
			lines = append(lines, to.replayedLine(file, doc, code))
		case doc.Properties != nil && outdir.Unkept(err):
			lines = append(lines, to.replayedLine(file, doc, code)+"; its files could not be written")
		case doc.Properties != nil:
			lines = append(lines, to.replayedLine(file, doc, code)+"; then the environment failed")
		default:
			lines = append(lines, fmt.Sprintf("%s %s: not replayed", to.Sign(checker.Unknown), file))
		}
		return doc.Document, code, err
	})
	if len(files) > 1 || to.Quiet {
		for _, line := range lines {
			to.Paragraph(2, line)
		}
	}
	return err
}

// replayOne carries out one schedule again. taken are the directories that this command
// has already written to.
func (to *Player) replayOne(ctx context.Context, file string, f Changes, taken map[string]bool) (doc replayed, code int, err error) {
	plan, err := rundir.ReadPlan(file)
	if err != nil {
		return doc, 0, err
	}
	if err := allowed(plan, file, f.AllowWorker); err != nil {
		return doc, 0, err
	}
	before := readRecord(file, plan) // read it now: the new files may overwrite it
	if err := f.change(plan, file); err != nil {
		return doc, 0, err
	}
	pr := f.Promise
	if len(pr) == 0 {
		pr = ask.Recorded(to.Say, plan.Promises, file)
	} else {
		plan.Promises = pr.Strings()
	}
	name, again := replayName(plan, taken), *plan
	p, err := to.Open(ctx, ask.Environment{On: plan.On, Lease: plan.Lease, Servers: f.Servers})
	if err != nil {
		return doc, 0, err
	}
	j, fit, dir, err := p.CarryOut(plan, name)
	if j == nil {
		return doc, 0, err
	}
	early := err // the error of a run that showed a violation before
	code = to.Disputed(file, j.Verdicts, exit.Of(pr.Judge(j.Outcome)))
	doc.Verdict = rundir.NewVerdict(j.Verdicts, j.Reached)
	doc.File, doc.Reason, doc.Was = filepath.Join(dir, rundir.HistoryFile), ask.Unjudged(pr), before.was
	if outdir.Unkept(early) {
		doc.File = file
	}
	doc.Unused, doc.Defaulted = &fit.Unused, &fit.Defaulted
	doc.asked = slices.DeleteFunc(slices.Clone(before.was), func(p string) bool { return !pr.Covers(checker.Property(p)) })
	for _, broken := range j.Violated() {
		if !pr.Covers(broken) {
			doc.aside = append(doc.aside, string(broken))
		} else {
			doc.broken = append(doc.broken, string(broken))
		}
	}
	if why := batch.Idle(j); why != "" && code == exit.Held {
		code, doc.Reason = exit.Unproven, why
	}
	if !to.Quiet {
		if err := to.Run(j, pr); err != nil {
			return doc, 0, err
		}
		to.VerdictTable(j.Verdicts, pr)
		if doc.Reason != "" {
			to.Paragraph(2, "Proves nothing: "+doc.Reason+".")
		}
	}
	words := "The run did not end, but it has shown the violation before that."
	if early == nil || batch.Unclosed(early) || outdir.Unkept(early) {
		words, err = before.compare(j, fit, doc.File, func() (*harness.Judged, error) {
			j, _, err := p.Execute(&again, name)
			return j, err
		})
		err = cmp.Or(early, err)
	}
	if !to.Quiet {
		if words != "" {
			to.Paragraph(0, words)
		}
		if !outdir.Unkept(early) {
			to.Printf("Files    %s\n", dir)
		}
		if len(taken) > 1 {
			to.Printf("\n")
		}
	}
	return doc, code, err
}

// change makes the plan one for another lock, or for other options of its lock.
func (f Changes) change(plan *harness.Plan, file string) error {
	if f.Lock == "" && f.Options == nil {
		return nil
	}
	if plan.Worker != nil {
		return exit.Errorf(exit.Usage, "%s is of a worker that brings its own lock: --lock and --option do not apply", file)
	}
	if f.Lock != "" {
		plan.Lock = f.Lock
	}
	if f.Options != nil {
		plan.Options = *f.Options
		plan.Options = ask.Fenced(plan.Lock, plan.Options, plan.Fencing)
	}
	if err := ask.Fits(plan.Lock, plan.Options); err != nil {
		return exit.Errorf(exit.Usage, "%s cannot be replayed with %s: %w", file, plan.Lock, err)
	}
	return nil
}

// replayedLine says in one line what a file was a counterexample of, and the outcome of
// its replay.
func (to *Player) replayedLine(file string, doc replayed, code int) string {
	was, now := strings.Join(doc.asked, ", "), strings.Join(doc.broken, ", ")
	out, words := checker.Unknown, was+" proved neither way now"
	switch {
	case code == exit.Held:
		out, words = checker.Valid, was+" held now"
		if was == "" {
			words = "what is promised held, then and now"
		}
	case code == exit.Violated && was == now:
		out, words = checker.Violated, was+" still violated"
	case code == exit.Violated:
		out, words = checker.Violated, now+" violated now"
		if was != "" {
			words += ", and " + was + " then"
		}
	}
	if doc.aside != nil {
		words += "; " + strings.Join(doc.aside, ", ") + " violated, not promised"
	}
	if n := *doc.Unused + *doc.Defaulted; n > 0 {
		words += fmt.Sprintf("; %s not as recorded", names.Count(n, "decision"))
	}
	return fmt.Sprintf("%s %s: %s", to.Sign(out), file, strings.TrimSpace(words))
}

// replayName returns the directory of a replay: the name of the run or of its case, and
// the property that it was minimised for.
func replayName(plan *harness.Plan, taken map[string]bool) string {
	base := rundir.Name(plan)
	if plan.Shrunk != nil {
		base += "-shrunk-" + string(plan.Shrunk.For)
	}
	return rundir.Unique(taken, base+"-replay")
}
