package lockcheck

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/report"
	"github.com/lockcheck/lockcheck/workloads"
)

// The name of the part of a test that has no fault.
const none = "none"

// suite is one call of Test.
type suite struct {
	t        *testing.T
	settings *settings
	promise  checker.Promise
	lock     *catalogue.Lock
	factory  userlock.Maker
	points   []faults.Point // where faults strike in the bubble
	call     string         // names this call of Test
	real     *batch.Runner  // real servers; nil: in the bubble
	kinds    []faults.Fault // the zero Fault: none
	works    []workloads.Workload
	table    []row // without a promise
	fencing  history.Fencing
}

// Test tests a lock. It calls the factory once for each client of a run. The factory returns
// the client's Lock.
//
// Each fault is a subtest. If a run violates a promise, the test fails, and prints the story
// of the shortest such run that it found, and the command that repeats it. It saves that
// run in testdata/lockcheck, and replays it first the next time. Without [Promise] the test
// fails, and prints the promise that its runs support.
func Test(t *testing.T, servers Servers, factory func(*Env) (Lock, error), options ...Option) {
	t.Helper()
	call := callOf(t)
	if serves(call, factory) {
		return
	}
	if !running.TryLock() {
		t.Fatal("lockcheck: one run at a time in a process: another call of lockcheck.Test goes on")
	}
	defer running.Unlock()
	bubble.Seedable(t)
	defer bubble.Tune()()
	x, err := newSuite(t, call, servers, factory, newSettings(servers.own, options))
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	x.test()
}

// running is locked during a call of Test. Two at once would share the random numbers of
// the process, so that their runs would not repeat.
var running sync.Mutex

func newSuite(t *testing.T, call string, servers Servers, factory func(*Env) (Lock, error), s *settings) (*suite, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if servers == (Servers{}) {
		return nil, errors.New("the test has no servers: use lockcheck.Redis, RedisSentinel, ZooKeeper, MySQL or External")
	}
	x := &suite{t: t, call: call, settings: s}
	if end, ok := t.Deadline(); ok && s.on == env.Bubble && s.limit == unlimited {
		s.limit = max(time.Until(end)-closing, time.Millisecond)
	}
	if x.lock = bubble.Lock(t.Name(), servers.store, servers.nodes, servers.replicas); servers.err != nil {
		return nil, servers.err
	}
	if s.renews {
		x.lock.Lease = catalogue.LeaseRenewed
	}
	if factory == nil {
		return nil, errors.New("the factory is nil")
	}
	x.factory = userFactory(factory)
	for _, name := range s.promises {
		p := checker.Property(name)
		if !slices.Contains(checker.Properties[:], p) {
			return nil, names.Unknown("property", name, names.Properties())
		}
		x.promise = append(x.promise, p)
	}
	for _, name := range s.workloads {
		w, ok := workloads.Find(name)
		if !ok {
			return nil, names.Unknown("workload", name, workloads.Names())
		}
		if err := x.lock.Takes(w); err != nil {
			return nil, err
		}
		x.works = append(x.works, w)
	}
	switch {
	case s.on != env.Bubble:
		if err := x.open(); err != nil {
			return nil, err
		}
	case servers.store == catalogue.StoreMySQL:
		return nil, errors.New("MySQL runs on real servers only: -lockcheck.on=docker, or lockcheck.External")
	}
	if slices.Contains(x.promise, checker.Fencing) {
		x.fencing = history.FencingAll
	}
	return x, x.chooseFaults()
}

// chooseFaults sets the kinds of faults.
func (x *suite) chooseFaults() error {
	if len(x.settings.faults) == 0 {
		x.kinds = []faults.Fault{{}}
		for _, f := range faults.Usual() {
			if x.applies(f) == nil {
				x.kinds = append(x.kinds, f)
			}
		}
		return nil
	}
	for i, name := range x.settings.faults {
		f, ok := faults.Find(name)
		switch {
		case slices.Contains(x.settings.faults[:i], name):
			return fmt.Errorf("the fault %s is named twice", name)
		case name == none:
		case !ok:
			return names.Unknown("fault", name, append(names.Faults(), none))
		default:
			if err := x.applies(f); err != nil {
				return err
			}
		}
		x.kinds = append(x.kinds, f)
	}
	return nil
}

// applies returns an error that says why a fault does not apply to the lock here, or nil
// if it does.
func (x *suite) applies(f faults.Fault) error {
	if x.real != nil {
		return x.strikes(f)
	}
	return bubble.Applies(x.lock, f)
}

// test runs the subtests.
func (x *suite) test() {
	x.t.Helper()
	if x.real == nil {
		x.learn()
	}
	if *replayFlag != "" {
		x.replay(x.t, *replayFlag)
		return
	}
	start, ran := time.Now(), false
	for i, f := range x.kinds {
		left := x.settings.limit - time.Since(start)
		share := max(left/time.Duration(len(x.kinds)-i), time.Millisecond)
		if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
			share = x.settings.limit // for the faults that it selects
		}
		x.t.Run(cmp.Or(f.Name, none), func(t *testing.T) {
			t.Helper()
			ran = true
			x.fault(t, f, share)
		})
	}
	if !ran && !x.t.Failed() {
		x.t.Skipf("lockcheck: -run or -skip leaves out every fault of this test: %s", strings.Join(x.faultNames(), ", "))
	}
	if x.promise == nil && !x.t.Failed() {
		x.propose()
	}
}

// faultNames returns the names of the subtests.
func (x *suite) faultNames() (list []string) {
	for _, f := range x.kinds {
		list = append(list, cmp.Or(f.Name, none))
	}
	return list
}

// fault tests the lock under one kind of fault: first the runs that failed before.
func (x *suite) fault(t *testing.T, f faults.Fault, limit time.Duration) {
	t.Helper()
	s := x.batch(f, limit)
	if x.real != nil {
		x.realFault(t, f, s)
		return
	}
	if x.repeats(t, s.Plan(0)) {
		return
	}
	if !chosen() && x.promise != nil {
		saved, _ := os.ReadDir(directory(t)) // at first there are no files
		for _, dir := range saved {
			x.replay(t, filepath.Join(directory(t), dir.Name(), rundir.ScheduleFile))
		}
	}
	r, err := explore.Random(t.Context(), bubble.Simulator(t, x.factory), s, nil)
	if errors.As(err, new(*explore.UnrepeatedError)) {
		t.Fatalf("lockcheck: %v: no run is evidence. What does not repeat: math/rand/v2 (use Env.Rand), select with several ready cases, the order of maps, variables that outlive a client", err)
	}
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	x.reached(f, r)
	if x.promise == nil {
		return
	}
	cell := x.cell(s, r)
	for _, p := range checker.Properties {
		if r.Outcome(p) == checker.Violated && x.promise.Covers(p) {
			x.violated(t, s, r, p)
		}
	}
	if cell.Verdict != results.Held {
		t.Fatalf("lockcheck: %s%s under %s: %s%s", names.Count(r.Runs, "run"), x.cut(r), cmp.Or(f.Name, "no fault"), cell.Reason, x.advice(cell, r))
	}
	t.Logf("%s held under %s in %s%s", strings.Join(x.settings.promises, ", "), cmp.Or(f.Name, "no fault"), names.Count(r.Runs, "run"), x.cut(r))
}

// cell judges runs by the promise.
func (x *suite) cell(s *explore.Settings, r *explore.Result) *results.Cell {
	c := &results.Cell{Name: x.t.Name(), Lock: s.Lock, On: s.On, Promises: x.promise, Seed: s.Seed}
	c.Take(r)
	return c
}

// cut says that time was over before all runs.
func (x *suite) cut(r *explore.Result) string {
	if r.Whole {
		return ""
	}
	return fmt.Sprintf(" of %d (time was over)", x.settings.runs)
}

// advice says what to do about runs that could not have broken a promise.
func (x *suite) advice(c *results.Cell, r *explore.Result) string {
	more := "do more runs (-lockcheck.runs, lockcheck.Runs)"
	switch {
	case !r.Whole:
		more = "give the test more time (lockcheck.For)"
	case c.NotTested() == "":
		return ""
	case x.settings.clients == 1:
		more += ", with more clients (lockcheck.Clients)"
	}
	return ". To test it, " + more + "; or choose other faults (lockcheck.Faults)"
}

// batch returns the settings of the runs under one kind of fault.
func (x *suite) batch(f faults.Fault, limit time.Duration) *explore.Settings {
	s := &explore.Settings{
		Lock: x.lock.ID, Use: x.lock, On: env.Bubble, Lease: lease, Workloads: x.works,
		Clients: explore.Exactly(x.settings.clients), Acquires: explore.Exactly(acquires), Count: explore.AnyCount,
		Promises: x.promise.Strings(), Seed: x.settings.seed, Runs: x.settings.runs, For: limit, Jobs: 1,
		Points: x.points, Fencing: x.fencing,
	}
	if x.settings.on == onExternal {
		s.Server = x.settings.own.Layout()
	}
	if x.settings.patient && x.promise != nil {
		s.Wants = func(r *explore.Result) bool { return x.cell(s, r).Verdict == results.Inconclusive }
	}
	if f.Name != "" {
		s.Kinds = []faults.Fault{f}
	}
	if f.On == faults.OnServer && x.lock.Nodes > 1 { // fewer servers are no majority
		s.Count = explore.Exactly(x.lock.Nodes/2 + 1)
	}
	return s
}

// learn learns from three runs which requests the lock's operations have. It fails the test
// if an acquire fails without faults by an error that Refused does not know: the error may
// be the no of the lock.
func (x *suite) learn() {
	x.t.Helper()
	s := x.batch(faults.Fault{}, 0)
	s.Seed = 1 // whatever the test's: a run alone, with its own seed, must have the same points
	alone := *s
	alone.Clients = explore.Exactly(1)
	learned, err := bubble.Learn(x.t, x.factory, alone.Plan(0), s.Plan(0))
	if err != nil {
		x.t.Fatalf("lockcheck: %v", err)
	}
	x.lock.Steps, x.points = learned.Usual, learned.Points
	if learned.Tokens {
		x.fencing = history.FencingAll
	}
	ofEntries := func(p checker.Property) bool { return p == checker.Ownership || p == checker.Answers }
	if learned.Crowded.History.Header.Observes == nil && slices.ContainsFunc(x.promise, ofEntries) {
		x.t.Fatalf("lockcheck: a grant has left no entry that lockcheck knows, so ownership and answers cannot be judged. The key of an entry ends with the name that Acquire gets, and its value is a string or a hash")
	}
	crowded := learned.Crowded.History.Entries
	for i := range crowded {
		e := &crowded[i]
		if e.Type == history.Info && e.F == history.Acquire && e.Error != history.ErrTimeout && !strings.Contains(e.Text, context.DeadlineExceeded.Error()) {
			x.t.Fatalf("lockcheck: an acquire of %s failed although nothing was wrong: %q. If that says for certain that somebody else holds the lock, let Refused return true for it. Else each such acquire counts as one that may have succeeded", e.Client, e.Text)
		}
	}
}

const (
	lease    = 10 * time.Second // T
	acquires = 5                // of each client
)

// chosen reports whether a flag says which runs to do.
func chosen() bool { return given(seedName) || given(runsName) }

// violated fails the test with the story of the first violation of a property.
func (x *suite) violated(t *testing.T, s *explore.Settings, r *explore.Result, p checker.Property) {
	t.Helper()
	tally := r.Outcomes[p]
	sim := bubble.Simulator(t, x.factory)
	j, _, err := harness.Simulate(sim, s.Plan(tally.First[checker.Violated]))
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	seed := fmt.Sprint("-lockcheck.seed=", j.Plan.Seed)
	if err := x.repeat(t, j, seed, "-lockcheck.runs=1"); err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	title := fmt.Sprintf("%s is violated in %d of %s, first with seed %d", p, tally.Count[checker.Violated], names.Count(r.Runs, "run"), j.Plan.Seed)
	dir := filepath.Join(directory(t), string(p))
	short, files := x.shorten(t, sim, j, p), ""
	if short != nil {
		files = keep(t, dir, short, p)
	}
	if short == nil || x.repeat(t, short, "-lockcheck.replay="+dir) != nil {
		short = j
		files = keep(t, dir, short, p)
	}
	again := fmt.Sprintf("go test -run '%s' %s -lockcheck.runs=1", pattern(t.Name()), seed)
	t.Fatalf("%s\n\n%s\nFiles    %s\nAgain    %s", title, story(t, short), files, again)
}

// shorten returns a shorter run that violates a property as j does, or nil.
func (x *suite) shorten(t *testing.T, sim env.Simulator, j *harness.Judged, p checker.Property) *harness.Judged {
	ctx, cancel := context.WithTimeout(t.Context(), shrinkTime)
	defer cancel()
	plan, err := explore.Shrink(ctx, sim, j, p, explore.ShrinkBudget)
	if err != nil {
		return nil
	}
	plan.Use(x.lock)
	k, _, err := harness.Simulate(sim, plan)
	if err != nil || k.Outcome(p) != checker.Violated {
		return nil
	}
	return k
}

// shrinkTime limits the search for a shorter run.
const shrinkTime = 5 * time.Second

// replay carries out a saved run again, and fails the test if it violates a promise.
func (x *suite) replay(t *testing.T, file string) {
	t.Helper()
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, rundir.ScheduleFile)
	}
	plan, err := x.readPlan(file)
	if err != nil && *replayFlag == "" {
		t.Fatalf("lockcheck: %v. To forget this saved run, delete %s", err, filepath.Dir(file))
	}
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	plan.Promises, plan.Fencing = x.promise.Strings(), x.fencing
	if x.repeats(t, plan) {
		return
	}
	var j *harness.Judged
	switch {
	case plan.On != x.settings.on:
		t.Fatalf("lockcheck: the run of %s is one on %s: add -lockcheck.on=%s", filepath.Dir(file), plan.On, plan.On)
	case x.real != nil:
		j = x.realReplay(t, plan)
	default:
		j = x.twice(t, file, plan)
	}
	for _, p := range checker.Properties {
		if j.Outcome(p) == checker.Violated && x.promise.Covers(p) {
			t.Fatalf("%s is violated again in the run of %s\n\n%s", p, filepath.Dir(file), story(t, j))
		}
	}
	if why := batch.Idle(j); why != "" {
		t.Logf("the run of %s proves nothing now: %s", filepath.Dir(file), why)
		return
	}
	t.Logf("the run of %s violates no promise now", filepath.Dir(file))
}

// twice carries out a saved run, which has to repeat.
func (x *suite) twice(t *testing.T, file string, plan *harness.Plan) *harness.Judged {
	t.Helper()
	first, again := *plan, *plan
	j, _, err := harness.Simulate(bubble.Simulator(t, x.factory), &first)
	if err != nil {
		t.Fatalf("lockcheck: %s: %v", file, err)
	}
	k, _, err := harness.Simulate(bubble.Simulator(t, x.factory), &again)
	if err != nil || !slices.EqualFunc(lines(j.History), lines(k.History), bytes.Equal) {
		t.Fatalf("lockcheck: the run of %s does not repeat, so it is no evidence (%v)", filepath.Dir(file), err)
	}
	return j
}

// readPlan reads a schedule.
func (x *suite) readPlan(file string) (*harness.Plan, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, err := harness.ReadPlanOf(f, x.lock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return plan, nil
}

// story returns the story of a run.
func story(t *testing.T, j *harness.Judged) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Story(&b, j.History, j.Verdicts, rundir.StoryOptions(j)); err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	return b.String()
}

// directory returns where the failed runs of a test are kept.
func directory(t *testing.T) string {
	dir := filepath.Join("testdata", "lockcheck")
	for part := range strings.SplitSeq(t.Name(), "/") {
		dir = filepath.Join(dir, fileName(part))
	}
	return dir
}

// fileName returns the name of a directory for a part of a test's name. Characters that a
// file in a Go module may not have are escaped as in URLs.
func fileName(part string) string {
	escaped := "%\"'*:<>?`|\\"
	if strings.HasSuffix(part, ".") {
		escaped += "."
	}
	var b strings.Builder
	for _, r := range part {
		if strings.ContainsRune(escaped, r) {
			fmt.Fprintf(&b, "%%%02X", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// pattern returns the argument of go test -run for one test. A shell can take it between
// single quotes.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(p), "'", `\x27`) + "$"
	}
	return strings.Join(parts, "/")
}
