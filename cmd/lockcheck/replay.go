package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// replayFlags are the flags that change a replay.
type replayFlags struct {
	promise checker.Promise
	lock    string
	options *catalogue.Options // nil: those of the schedule
	worker  bool               // the commands of workers in schedules may be started
}

// workerFlag adds the flag that lets a schedule start its worker.
func workerFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, "allow-worker", false, "start the command of the worker that a schedule names")
}

// allowed returns an error unless the schedule's worker may be started: a schedule may
// come from anybody, and a worker is a command on this machine.
func allowed(plan *harness.Plan, file string, allow bool) error {
	if plan.Worker == nil || allow {
		return nil
	}
	return exit.Errorf(exit.Usage, "%s starts a worker: %s\n--allow-worker allows it", rundir.ScheduleOf(file), terminal.WorkerCommand(plan))
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	var promised []string
	var options string
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Run again what a file has kept",
		Long: `Carries out a saved schedule again (schedule.json, or the history.jsonl beside
it; of a directory all schedules below it) and judges the run anew. In the
simulator the history comes out the same to the byte, unless the lock or
lockcheck has changed since: then it says how many of the recorded decisions
were not asked for, and how many were missing.

A schedule that was shrunk promises the property that it was shrunk for. So
counterexamples of the past are regression tests: the exit code is 0 if each
property holds now, and 1 if one of them is still violated.

The schedule of a worker names the command that starts it. With --allow-worker
that command runs on this machine: read it first.`,
		Example: `  lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json
  lockcheck replay counterexample.json --lock redis-set-lua
  lockcheck replay -q regressions`,
		Args:        needArgs("FILE", "lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json"),
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if f.promise, err = ask.Promise(promised); err != nil {
				return err
			}
			if cmd.Flags().Changed("lock") && !slices.Contains(names.Locks(), f.lock) {
				return ask.Unknown("lock", f.lock, names.Locks())
			}
			if cmd.Flags().Changed("option") {
				o, err := ask.Options(options)
				if err != nil {
					return err
				}
				f.options = &o
			}
			files, err := schedules(args)
			if err != nil {
				return err
			}
			if err := a.Out.CanKeep(); err != nil {
				return err
			}
			return a.replayAll(cmd, files, f)
		},
	}
	cmd.Flags().StringVar(&f.lock, "lock", "", "the same schedule on another `lock`")
	cmd.Flags().StringVar(&options, "option", "", "with these `options` of the lock instead of the recorded ones")
	workerFlag(cmd, &f.worker)
	promiseFlag(cmd, &promised)
	return cmd
}

// replayed is the outcome of a replay.
type replayed struct {
	judging.Document

	broken []string // promised properties that it violates
	aside  []string // properties that it violates and are not promised
	asked  []string // the promised ones of Was
}

// replayAll replays files. If there are several, it ends with a line for each.
func (a *app) replayAll(cmd *cobra.Command, files []string, f replayFlags) error {
	taken := map[string]bool{}
	var lines []string
	err := judging.Each(cmd.Context(), a.Terminal, files, nil, func(file string) (judging.Document, int, error) {
		if len(files) > 1 && !a.Quiet {
			a.Heading(file)
		}
		doc, code, err := a.replay(cmd, file, f, taken)
		switch {
		case err == nil:
			lines = append(lines, a.replayedLine(file, doc, code))
		case doc.Properties != nil && outdir.Unkept(err):
			lines = append(lines, a.replayedLine(file, doc, code)+"; its files could not be written")
		case doc.Properties != nil:
			lines = append(lines, a.replayedLine(file, doc, code)+"; then the place failed")
		default:
			lines = append(lines, fmt.Sprintf("%s %s: not replayed", a.Sign(checker.Unknown), file))
		}
		return doc.Document, code, err
	})
	if len(files) > 1 || a.Quiet {
		for _, line := range lines {
			a.Paragraph(2, line)
		}
	}
	return err
}

// replay carries out one schedule again. taken are the directories that this command
// has already written to.
func (a *app) replay(cmd *cobra.Command, file string, f replayFlags, taken map[string]bool) (doc replayed, code int, err error) {
	plan, err := rundir.ReadPlan(file)
	if err != nil {
		return doc, 0, err
	}
	if err := allowed(plan, file, f.worker); err != nil {
		return doc, 0, err
	}
	before := readRecord(file, plan) // read it now: the new files may overwrite it
	if err := f.change(plan, file); err != nil {
		return doc, 0, err
	}
	pr := f.promise
	if len(pr) == 0 {
		pr = ask.Recorded(a.Say, plan.Promises, file)
	} else {
		plan.Promises = pr.Strings()
	}
	name, again := replayName(plan, taken), *plan
	p, err := a.open(cmd.Context(), ask.Environment{On: plan.On, Lease: plan.Lease})
	if err != nil {
		return doc, 0, err
	}
	j, fit, dir, err := p.CarryOut(plan, name)
	if j == nil {
		return doc, 0, err
	}
	early := err // the error of a run that showed a violation before
	code = a.Disputed(file, j.Verdicts, exit.Of(pr.Judge(j.Outcome)))
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
	if !a.Quiet {
		if err := a.Run(j, pr); err != nil {
			return doc, 0, err
		}
		a.VerdictTable(j.Verdicts, pr)
		if doc.Reason != "" {
			a.Paragraph(2, "Proves nothing: "+doc.Reason+".")
		}
	}
	words := "It did not come to its end; what it shows it has shown before."
	if early == nil || batch.Unclosed(early) || outdir.Unkept(early) {
		words, err = before.compare(j, fit, doc.File, func() (*harness.Judged, error) {
			j, _, err := p.Execute(&again, name)
			return j, err
		})
		err = cmp.Or(early, err)
	}
	if !a.Quiet {
		if words != "" {
			a.Paragraph(0, words)
		}
		if !outdir.Unkept(early) {
			a.Printf("Files    %s\n", dir)
		}
		if len(taken) > 1 {
			a.Printf("\n")
		}
	}
	return doc, code, err
}

// change makes the plan one for another lock, or for other options of its lock.
func (f replayFlags) change(plan *harness.Plan, file string) error {
	if f.lock == "" && f.options == nil {
		return nil
	}
	if plan.Worker != nil {
		return exit.Errorf(exit.Usage, "%s is of a worker that brings its own lock: --lock and --option do not apply", file)
	}
	if f.lock != "" {
		plan.Lock = f.lock
	}
	if f.options != nil {
		plan.Options = *f.options
		plan.Options = ask.Fenced(plan.Lock, plan.Options, plan.Fencing)
	}
	if err := ask.Fits(plan.Lock, plan.Options); err != nil {
		return exit.Errorf(exit.Usage, "%s cannot be replayed with %s: %w", file, plan.Lock, err)
	}
	return nil
}

// replayedLine says in one line what a file was a counterexample of, and the outcome of
// its replay.
func (a *app) replayedLine(file string, doc replayed, code int) string {
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
	return fmt.Sprintf("%s %s: %s", a.Sign(out), file, strings.TrimSpace(words))
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
