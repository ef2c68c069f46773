package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
)

// runFlags are those of run that become explore.Settings.
type runFlags struct {
	place    placeFlags
	faults   []string
	count    int
	seed     uint64
	runs     int
	limit    time.Duration
	clients  int
	acquires int
	fencing  string
	options  string
	strategy string
	worker   string
	keep     string
	jobs     int
	promise  []string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run LOCK…",
		Short: "Look for violations: many runs at random, under faults",
		Long: `Lets clients take a lock, read what it guards, think, write it and release,
again and again, while one kind of fault strikes in each run. Run i has the
seed S+i, and "--seed S+i --runs 1" is that run again.

For the first violation of each property the run's files are kept below --out,
and the first of them is told.`,
		Example: `  lockcheck run redis-set-lua --fault pause
  lockcheck run 'redis-set-*' --runs 10000
  lockcheck run redis-set-lua --fault all,-restart-lost --fencing
  lockcheck run --worker 'python3 worker.py' --on docker --fault pause`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd, args, f)
		},
	}
	f.place.define(cmd)
	fl := cmd.Flags()
	fl.StringSliceVar(&f.faults, "fault", []string{"all"}, "kinds of `faults`, one of which strikes in each run: names, all, none; -NAME takes one out")
	fl.IntVar(&f.count, "faults", 1, "how many faults strike in a run")
	fl.Uint64Var(&f.seed, "seed", 0, "the first run's `seed` (default: drawn, and printed)")
	fl.IntVar(&f.runs, "runs", 0, "how many runs (default: 1000 in sim, 1 on docker)")
	fl.DurationVar(&f.limit, "for", 0, "stop after this `time`")
	fl.IntVar(&f.clients, "clients", 5, "how many clients")
	fl.IntVar(&f.acquires, "acquires", 20, "how often each of them takes the lock")
	fl.StringVar(&f.fencing, "fencing", "", "the guarded resource refuses stale tokens; =writes: on writes only")
	fl.Lookup("fencing").NoOptDefVal = "all"
	fl.StringVar(&f.options, "option", "", "`options` of the lock, as token,spin (see: lockcheck list locks)")
	fl.StringVar(&f.strategy, "strategy", "random", "how to look: random")
	fl.StringVar(&f.worker, "worker", "", "`command` of a worker that brings its own lock; with --on docker")
	fl.StringVar(&f.keep, "keep", "violations", "whose files to keep: violations, all")
	fl.IntVar(&f.jobs, "jobs", 0, "runs at once (default: one for each core)")
	promiseFlag(cmd, &f.promise)
	return cmd
}

// runDocument is what run prints with --json.
type runDocument struct {
	Schema     int               `json:"schema"`
	Runs       int               `json:"runs"`
	Seed       uint64            `json:"seed"`
	Violations []runViolation    `json:"violations"`
	Properties map[string]string `json:"properties"`
	Reached    map[string]int    `json:"reached"`
	Reason     string            `json:"reason,omitempty"` // why it proves nothing
}

type runViolation struct {
	Property string `json:"property"`
	Lock     string `json:"lock"`
	Seed     uint64 `json:"seed"`
	File     string `json:"file"`
}

func (a *app) run(cmd *cobra.Command, args []string, f runFlags) error {
	if len(args) == 0 && f.worker == "" {
		return fail(usage, "run needs a LOCK, for example: lockcheck run redis-set-lua --fault pause")
	}
	if f.worker != "" && len(args) > 0 {
		return fail(usage, "--worker brings its own lock: leave out %s", strings.Join(args, " "))
	}
	settings, pr, err := a.settings(cmd, f)
	if err != nil {
		return err
	}
	ids := []string{""}
	if f.worker == "" {
		if ids, err = match("lock", args, lockIDs()); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := fits(id, settings); err != nil {
			return err
		}
	}
	p, err := a.openPlace(cmd, f.place)
	if err != nil {
		return err
	}
	if f.worker != "" && p.name != "docker" {
		return fail(usage, "--worker runs with --on docker only: a program of its own has no virtual time")
	}
	settings.On, settings.Lease = p.name, p.lease
	if settings.Runs == 0 {
		settings.Runs = p.runs
	}
	if settings.Kinds, err = a.available(p, settings.Kinds); err != nil {
		return err
	}
	doc := runDocument{Schema: 1, Seed: settings.Seed, Violations: []runViolation{}, Properties: map[string]string{}, Reached: map[string]int{}}
	code := held
	worst := map[checker.Property]checker.Outcome{}
	for _, id := range ids {
		s := settings
		if s.Lock = id; f.worker != "" {
			s.Lock = "worker"
		}
		c, err := a.runLock(p, &s, pr, f.keep == "all", &doc, worst)
		if err != nil {
			return err
		}
		code = worse(code, c)
		if p.interrupted() {
			break
		}
	}
	if a.json {
		for _, prop := range checker.Properties {
			doc.Properties[string(prop)] = worst[prop].String()
		}
		if err := a.printJSON(doc); err != nil {
			return err
		}
	}
	return exit(code)
}

// settings turns flags into what the runs have in common.
func (a *app) settings(cmd *cobra.Command, f runFlags) (s explore.Settings, pr promise, err error) {
	if err := choice("strategy", f.strategy, "random"); err != nil {
		return s, nil, err
	}
	if err := choice("keep", f.keep, "violations", "all"); err != nil {
		return s, nil, err
	}
	if err := choice("fencing", f.fencing, "", "all", "writes"); err != nil {
		return s, nil, err
	}
	for flag, n := range map[string]int{"faults": f.count, "clients": f.clients, "acquires": f.acquires} {
		if n < 1 {
			return s, nil, fail(usage, "--%s %d: it has to be at least 1", flag, n)
		}
	}
	if f.runs < 0 || f.jobs < 0 || f.limit < 0 || cmd.Flags().Changed("runs") && f.runs == 0 {
		return s, nil, fail(usage, "--runs has to be at least 1, --jobs and --for cannot be negative")
	}
	kinds, err := parseFaults(f.faults)
	if err != nil {
		return s, nil, err
	}
	if pr, err = parsePromise(f.promise); err != nil {
		return s, nil, err
	}
	s = explore.Settings{
		Clients: f.clients, Acquires: f.acquires, Fencing: history.Fencing(f.fencing),
		Kinds: kinds, Count: f.count, Promises: pr.strings(),
		Seed: f.seed, Runs: f.runs, For: f.limit, Jobs: f.jobs,
	}
	if s.Options, err = catalogue.ParseOptions(f.options); err != nil {
		return s, nil, fail(usage, "--option: %v", err)
	}
	if s.Fencing != history.FencingOff {
		s.Options.Token = true
	}
	if !cmd.Flags().Changed("seed") {
		s.Seed = uint64(rand.Uint32())
	}
	if f.limit > 0 && f.runs == 0 {
		s.Runs = 1 << 40
	}
	if f.worker != "" {
		s.Worker = strings.Fields(f.worker)
	}
	return s, pr, nil
}

// fits says whether a lock knows the options that it is asked to have.
func fits(id string, s explore.Settings) error {
	if id == "" {
		return nil
	}
	lock, _ := catalogue.FindLock(id)
	for o := range strings.SplitSeq(s.Options.String(), ",") {
		if o == "" || slices.Contains(lock.Options, o) {
			continue
		}
		var have []string
		for _, l := range catalogue.Locks {
			if slices.Contains(l.Options, o) {
				have = append(have, l.ID)
			}
		}
		return fail(usage, "%s has no option %s; these have: %s", id, o, strings.Join(have, ", "))
	}
	return nil
}

// available takes out the faults that the place does not offer.
func (a *app) available(p *place, kinds []faults.Fault) ([]faults.Fault, error) {
	var some []faults.Fault
	var reasons []string
	for _, k := range kinds {
		if err := k.Available(p.has); err != nil {
			reasons = append(reasons, err.Error())
			a.say("lockcheck: skipped: %v\n", err)
			continue
		}
		some = append(some, k)
	}
	if len(kinds) > 0 && len(some) == 0 {
		return nil, fail(usage, "none of these faults applies on %s: %s", p.name, strings.Join(reasons, "; "))
	}
	return some, nil
}

// runLock runs one lock's batch, keeps what has to be kept, and tells it.
func (a *app) runLock(p *place, s *explore.Settings, pr promise, keepAll bool, doc *runDocument, worst map[checker.Property]checker.Outcome) (int, error) {
	r, err := p.batch(s, a.progress(s))
	if err != nil {
		return bug, err
	}
	a.clearProgress()
	doc.Runs += r.Runs
	for name, n := range r.Reached.Map() {
		doc.Reached[name] += n
	}
	kept, err := a.keep(p, s, r, keepAll)
	if err != nil {
		return bug, err
	}
	first := -1 // the run that is told
	for _, prop := range checker.Properties {
		out := r.Outcome(prop)
		worst[prop] = worstOf(worst[prop], out)
		if out != checker.Violated {
			continue
		}
		run := r.Outcomes[prop].First[checker.Violated]
		doc.Violations = append(doc.Violations, runViolation{string(prop), s.Lock, s.Seed + uint64(run), kept[run].dir + "/" + historyFile})
		if pr.covers(prop) && (first < 0 || run < first) {
			first = run
		}
	}
	code := pr.code(r.Outcome)
	reason := r.Vacuous()
	if reason != "" && code == held {
		code = unproven
	}
	if reason != "" {
		doc.Reason = reason
	}
	if !a.json {
		if first >= 0 {
			a.heading(fmt.Sprintf("%s, seed %d", s.Lock, s.Seed+uint64(first)))
			j := kept[first].judged
			if err := a.story(j.History, j.Verdicts, pr); err != nil {
				return bug, err
			}
		}
		a.summary(s, r, pr, kept, code, reason)
	}
	return code, nil
}

func worstOf(a, b checker.Outcome) checker.Outcome {
	for _, out := range []checker.Outcome{checker.Violated, checker.Unknown, checker.Valid, checker.NA} {
		if a == out || b == out {
			return out
		}
	}
	return checker.NA
}

// keptRun is a run whose files were kept.
type keptRun struct {
	judged *harness.Judged
	dir    string
}

// keep carries out again the runs that have to be kept, this time with
// everything recorded, and writes their files. A run that does not come out
// as before is a bug.
func (a *app) keep(p *place, s *explore.Settings, r *explore.Result, all bool) (map[int]keptRun, error) {
	runs := map[int]bool{}
	for _, t := range r.Outcomes {
		for _, out := range []checker.Outcome{checker.Violated, checker.Unknown} {
			if t.Count[out] > 0 {
				runs[t.First[out]] = true
			}
		}
	}
	for i := 0; all && i < r.Runs; i++ {
		runs[i] = true
	}
	kept := map[int]keptRun{}
	for run := range runs {
		j, err := p.again(s, run)
		if err != nil {
			return nil, err
		}
		for prop, t := range r.Outcomes {
			if t.Count[checker.Violated] > 0 && t.First[checker.Violated] == run && j.Outcome(prop) != checker.Violated {
				return nil, fail(bug, "the run with seed %d violated %s, and did not when it was repeated (%s)", j.Plan.Seed, prop, j.Outcome(prop))
			}
		}
		dir, err := a.save(runName(j.Plan), j)
		if err != nil {
			return nil, err
		}
		kept[run] = keptRun{j, dir}
	}
	return kept, nil
}

// runName is the directory of a run: lock, fault and seed.
func runName(p *harness.Plan) string {
	fault := "none"
	if len(p.Faults) > 0 {
		fault = p.Faults[0].Fault
	}
	return fmt.Sprintf("%s-%s-%d", p.Lock, fault, p.Seed)
}

// summary prints what came of a batch.
func (a *app) summary(s *explore.Settings, r *explore.Result, pr promise, kept map[int]keptRun, code int, vacuous string) {
	a.printf("%s on %s: %s from seed %d, in %.1f s\n\n", s.Lock, s.On, plural(r.Runs, "run"), s.Seed, r.Took.Seconds())
	for _, prop := range checker.Properties {
		out, t := r.Outcome(prop), r.Outcomes[prop]
		words := ""
		switch out {
		case checker.Violated:
			words = fmt.Sprintf("in %s, first with seed %d", plural(t.Count[checker.Violated], "run"), s.Seed+uint64(t.First[checker.Violated]))
		case checker.Unknown, checker.NA:
			words = t.Reasons[out]
		}
		if !pr.covers(prop) {
			words = strings.TrimPrefix(words+", not promised", ", ")
		}
		a.paragraph(29, strings.TrimRight(fmt.Sprintf("%s %-16s %-9s %s", a.sign(out), prop, out, words), " "))
	}
	a.printf("\n")
	a.paragraph(9, "Reached  "+reachedWords(r))
	if r.Empty > 0 {
		a.paragraph(9, fmt.Sprintf("         In %s nobody got the lock; they count for nothing.", plural(r.Empty, "run")))
	}
	if vacuous != "" {
		a.paragraph(2, "Proves nothing: "+vacuous+".")
	}
	var runs []int
	for run := range kept {
		runs = append(runs, run)
	}
	slices.Sort(runs)
	for i, run := range runs {
		if i == 4 && !a.verbose {
			a.printf("         … and %d more below %s\n", len(runs)-i, a.out)
			break
		}
		a.printf("Files    %s\n", kept[run].dir)
	}
	if len(runs) > 0 {
		a.printf("Again    lockcheck replay %s/%s\n", kept[runs[0]].dir, scheduleFile)
	}
	a.printf("\n")
}

// reachedWords is what the runs went through.
func reachedWords(r *explore.Result) string {
	var parts []string
	r.Reached.Each(func(name string, n int) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.ReplaceAll(name, "_", " "), thousands(n)))
		}
	})
	var kinds []string
	for _, f := range faults.All() {
		if n := r.Drawn[f.Name]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%s in %s (hit somebody in %s)", f.Name, plural(n, "run"), thousands(r.Touched[f.Name])))
		}
	}
	return strings.Join(append(parts, kinds...), "; ")
}

// progress shows how far a batch is, on a terminal.
func (a *app) progress(s *explore.Settings) func(int) {
	f, ok := a.stderr.(*os.File)
	if !ok || !isTerminal(f) || a.quiet {
		return nil
	}
	start := time.Now()
	return func(done int) {
		fmt.Fprintf(f, "\r%s of %s runs, %.0f a second ", thousands(done), thousands(s.Runs), float64(done)/time.Since(start).Seconds())
	}
}

func (a *app) clearProgress() {
	if f, ok := a.stderr.(*os.File); ok && isTerminal(f) && !a.quiet {
		io.WriteString(f, "\r\x1b[K")
	}
}

// say writes to stderr what is no result.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.stderr, format, args...) }
