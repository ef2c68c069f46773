package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
)

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run LOCK…",
		Short: "Look for violations: many runs at random, under faults",
		Long: `Lets clients take a lock, read what it guards, think, write it and release,
again and again, while one kind of fault strikes in each run. Run i has the
seed S+i, and "--seed S+i --runs 1" is that run again. What happens at once is
drawn, or ordered by priorities (--strategy pct), which finds what needs a rare
order of messages. Or everything that can happen to a few clients is gone
through (--strategy exhaustive), which proves what holds within that bound.

For the first violation of each property the run's files are kept below --out,
and beside them those of the shortest run that still violates it (see: lockcheck
shrink --help). The first of these is told. On docker the files of every run are
kept, and none is shrunk: real time does not repeat.`,
		Example: `  lockcheck run redis-set-lua --fault pause
  lockcheck run 'redis-set-*' --runs 10000
  lockcheck run redis-set-lua --fault all,-restart-lost --fencing
  lockcheck run redis-set-del --fault none --workload finally
  lockcheck run redis-set-get-del --strategy pct --depth 2
  lockcheck run redis-set-lua --strategy exhaustive --fault kill --clients 3
  lockcheck run --worker 'python3 worker.py' --on docker --fault pause`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd, args, f)
		},
	}
	f.define(cmd)
	return cmd
}

func (a *app) run(cmd *cobra.Command, args []string, f runFlags) error {
	settings, pr, err := f.settings(cmd)
	if err != nil {
		return err
	}
	ids, err := f.locks(args, settings)
	if err != nil {
		return err
	}
	p, err := a.open(cmd, f.place)
	if err != nil {
		return err
	}
	settings.On, settings.Lease = p.name, p.lease
	if p.name != "sim" {
		settings.Usual(p.lease)
	}
	if settings.Runs == 0 {
		settings.Runs = p.runs
	}
	if settings.Kinds, err = a.available(p, settings.Kinds, f.worker == ""); err != nil {
		return err
	}
	if f.strategy == exhaustive {
		settings.Runs, settings.Seed = f.runs, 1 // nothing is drawn
		return a.runExhaustive(p, ids, settings, pr, f)
	}
	doc := newRunDocument(settings.Seed)
	return a.runEach(p, ids, doc, func(id string) (code int, err error) {
		s := settings
		s.Lock, s.Options = id, fenced(id, s.Options, s.Fencing)
		if s.Kinds, err = a.applicable(p, id, s.Kinds, f.faults); err != nil {
			return 0, err
		}
		if s.Workloads, err = a.taken(id, s.Workloads, f.does); err != nil {
			return 0, err
		}
		return a.runLock(p, &s, pr, f, doc)
	})
}

// runEach runs one lock after another until the user has had enough, and exits
// with the worst that came out.
func (a *app) runEach(p *place, ids []string, doc *runDocument, run func(id string) (code int, err error)) error {
	code := held
	for _, id := range ids {
		c, err := run(id)
		if err != nil {
			return err
		}
		code = worse(code, c)
		if p.interrupted() {
			break
		}
	}
	if a.json {
		if err := a.printJSON(doc); err != nil {
			return err
		}
	}
	return exit(code)
}

// locks are the ones to run: those that the arguments name, or the worker's.
func (f *runFlags) locks(args []string, s explore.Settings) ([]string, error) {
	switch {
	case f.worker != "" && len(args) > 0:
		return nil, fail(usage, "--worker brings its own lock: leave out %s", strings.Join(args, " "))
	case f.worker != "" && f.place.on != "docker":
		return nil, fail(usage, "--worker runs with --on docker only: a program of its own has no virtual time")
	case f.worker != "":
		return []string{"worker"}, nil
	case len(args) == 0:
		return nil, fail(usage, "run needs a LOCK, for example: lockcheck run redis-set-lua --fault pause")
	}
	ids, err := match("lock", args, lockIDs())
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := fits(id, fenced(id, s.Options, s.Fencing)); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// runLock runs one lock's batch, keeps what has to be kept, and tells it.
func (a *app) runLock(p *place, s *explore.Settings, pr promise, f runFlags, doc *runDocument) (int, error) {
	r, err := p.batch(s, a.progress(s))
	a.clearProgress()
	if err != nil {
		return 0, a.unrepeated(err)
	}
	kept, err := a.keep(p, s, r, f.keep == "all")
	if err != nil {
		return 0, err
	}
	short := map[checker.Property]shrunkRun{}
	if !f.noShrink && p.name == "sim" {
		if short, err = a.shrinkKept(p, s, r, kept); err != nil {
			return 0, err
		}
	}
	code, reason := pr.code(r.Outcome), r.Vacuous()
	if reason != "" && code == held {
		code = unproven
	}
	doc.add(s, r, pr, kept, short, reason)
	if a.json {
		return code, nil
	}
	about, ok := told(r, pr)
	first := -1
	if ok {
		first = r.Outcomes[about].First[checker.Violated]
		title := fmt.Sprintf("%s, seed %d", s.Lock, s.Seed+uint64(first))
		if short, ok := short[about]; ok {
			err = a.tellShrunk(short, title)
			a.printf("\n")
		} else if !a.quiet {
			a.heading(title)
			err = a.story(kept[first].judged.History, kept[first].judged.Verdicts, pr)
		}
		if err != nil {
			return 0, err
		}
	}
	a.summary(s, r, pr, kept, short, about, reason)
	return code, nil
}

// told is the property whose story is told: of those that the first run that
// broke a promise violated, the one that is shown first.
func told(r *explore.Result, pr promise) (about checker.Property, ok bool) {
	for _, prop := range checker.Properties {
		if r.Outcome(prop) != checker.Violated || !pr.covers(prop) {
			continue
		}
		if run := r.Outcomes[prop].First[checker.Violated]; !ok || run < r.Outcomes[about].First[checker.Violated] {
			about, ok = prop, true
		}
	}
	return about, ok
}

// runDocument is what run prints with --json: one for all locks.
type runDocument struct {
	Schema     int               `json:"schema"`
	Runs       int               `json:"runs"`
	Seed       uint64            `json:"seed"`
	Violations []runViolation    `json:"violations"` // of each property the one with the lowest seed
	Properties map[string]string `json:"properties"` // the worst of all locks
	Reached    map[string]int    `json:"reached"`
	Bounds     []runBound        `json:"bounds,omitempty"` // of --strategy exhaustive
	Reason     string            `json:"reason,omitempty"` // why it proves nothing

	worst map[checker.Property]checker.Outcome
}

type runViolation struct {
	Property string `json:"property"`
	Lock     string `json:"lock"`
	Seed     uint64 `json:"seed"`
	File     string `json:"file"`
	Shrunk   string `json:"shrunk,omitempty"` // the history of the shortest run
	Runs     int    `json:"runs"`             // of this lock that violated it
	Promised bool   `json:"promised"`         // it decides the exit code
}

func newRunDocument(seed uint64) *runDocument {
	d := &runDocument{
		Schema: 1, Seed: seed,
		Violations: []runViolation{}, Properties: map[string]string{}, Reached: map[string]int{},
		worst: map[checker.Property]checker.Outcome{},
	}
	for _, prop := range checker.Properties {
		d.Properties[string(prop)] = checker.NA.String()
	}
	return d
}

// add takes in one lock's batch.
func (d *runDocument) add(s *explore.Settings, r *explore.Result, pr promise, kept map[int]keptRun, short map[checker.Property]shrunkRun, reason string) {
	d.Runs += r.Runs
	for name, n := range r.Reached.Map() {
		d.Reached[name] += n
	}
	if reason != "" {
		d.Reason = strings.TrimPrefix(d.Reason+"; "+s.Lock+": "+reason, "; ")
	}
	for _, prop := range checker.Properties {
		d.worst[prop] = worstOf(d.worst[prop], r.Outcome(prop))
		d.Properties[string(prop)] = d.worst[prop].String()
		if r.Outcome(prop) == checker.Violated {
			run := r.Outcomes[prop].First[checker.Violated]
			v := runViolation{
				Property: string(prop), Lock: s.Lock, Seed: s.Seed + uint64(run), File: filepath.Join(kept[run].dir, historyFile),
				Runs: r.Outcomes[prop].Count[checker.Violated], Promised: pr.covers(prop),
			}
			if dir := short[prop].dir; dir != "" {
				v.Shrunk = filepath.Join(dir, historyFile)
			}
			d.violation(v)
		}
	}
}

// violation keeps v if it is the first of its property.
func (d *runDocument) violation(v runViolation) {
	for i, known := range d.Violations {
		if known.Property == v.Property {
			if v.Seed < known.Seed {
				d.Violations[i] = v
			}
			return
		}
	}
	d.Violations = append(d.Violations, v)
}

func worstOf(a, b checker.Outcome) checker.Outcome {
	for _, out := range []checker.Outcome{checker.Violated, checker.Unknown, checker.Valid, checker.NA} {
		if a == out || b == out {
			return out
		}
	}
	return checker.NA
}
