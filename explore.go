package lockcheck

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
	"github.com/lockcheck/lockcheck/workloads"
)

// none is the name of the part of a test without a fault.
const none = "none"

// suite is one call of Test.
type suite struct {
	t        *testing.T
	settings *settings
	promise  checker.Promise
	lock     *catalogue.Lock
	maker    func(*testing.T) env.Simulator
	kinds    []faults.Fault // the zero Fault: none
	works    []workloads.Workload
	held     map[checker.Property]bool // without a promise: violated under no fault
	table    []string
}

// Test tests a lock. The factory is called once for each client of a run, and returns that
// client's Lock. Each fault is a subtest. A failure prints the story of the shortest run
// that was found, and how to repeat it, and its files stay in testdata/lockcheck: they are
// replayed first the next time.
func Test(t *testing.T, servers Servers, factory func(*Env) (Lock, error), options ...Option) {
	t.Helper()
	x, err := newSuite(t, servers, factory, newSettings(options))
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	x.test()
}

func newSuite(t *testing.T, servers Servers, factory func(*Env) (Lock, error), s *settings) (*suite, error) {
	x := &suite{t: t, settings: s, held: map[checker.Property]bool{}}
	x.lock = bubble.Lock(t.Name(), servers.store, servers.nodes, servers.replicas)
	make := userFactory(factory)
	x.maker = func(t *testing.T) env.Simulator { return bubble.Simulator(t, make) }
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
		x.works = append(x.works, w)
	}
	return x, x.chooseFaults()
}

// chooseFaults sets the kinds of faults.
func (x *suite) chooseFaults() error {
	if x.settings.faults == nil {
		x.kinds = []faults.Fault{{}}
		for _, f := range faults.All() {
			if bubble.Applies(x.lock, f) == nil {
				x.kinds = append(x.kinds, f)
			}
		}
		return nil
	}
	for _, name := range x.settings.faults {
		f, ok := faults.Find(name)
		switch {
		case name == none:
		case !ok:
			return names.Unknown("fault", name, append(names.Faults(), none))
		default:
			if err := bubble.Applies(x.lock, f); err != nil {
				return err
			}
		}
		x.kinds = append(x.kinds, f)
	}
	return nil
}

// test runs the subtests.
func (x *suite) test() {
	x.t.Helper()
	start := time.Now()
	for i, f := range x.kinds {
		name := f.Name
		if name == "" {
			name = none
		}
		left := x.settings.limit - time.Since(start)
		share := max(left/time.Duration(len(x.kinds)-i), time.Millisecond)
		x.t.Run(name, func(t *testing.T) {
			t.Helper()
			x.fault(t, f, share)
		})
	}
}

// fault tests the lock under one kind of fault.
func (x *suite) fault(t *testing.T, f faults.Fault, limit time.Duration) {
	t.Helper()
	s := &explore.Settings{
		Lock: x.lock.ID, Use: x.lock, On: env.Bubble, Lease: 10 * time.Second, Workloads: x.works,
		Clients: explore.Exactly(x.settings.clients), Acquires: explore.Exactly(5), Count: explore.AnyCount,
		Promises: x.promise.Strings(), Seed: x.settings.seed, Runs: x.settings.runs, For: limit, Jobs: 1,
	}
	if f.Name != "" {
		s.Kinds = []faults.Fault{f}
	}
	r, err := explore.Random(t.Context(), x.maker(t), s, nil)
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	cell := results.Cell{Name: t.Name(), Lock: s.Lock, On: s.On, Promises: x.promise, Seed: s.Seed}
	cell.Take(r)
	for _, p := range checker.Properties {
		if r.Outcome(p) == checker.Violated && x.promise.Covers(p) {
			x.violated(t, s, r, p)
			return
		}
	}
	if cell.Verdict != results.Held {
		t.Fatalf("lockcheck: %d runs prove nothing: %s", r.Runs, cell.Reason)
	}
	t.Logf("%d runs", r.Runs)
}

// violated reports the violation of a property.
func (x *suite) violated(t *testing.T, s *explore.Settings, r *explore.Result, p checker.Property) {
	t.Helper()
	tally := r.Outcomes[p]
	run := tally.First[checker.Violated]
	sim := x.maker(t)
	j, _, err := harness.Simulate(sim, s.Plan(run))
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	seed := j.Plan.Seed
	ctx, cancel := context.WithTimeout(t.Context(), shrinkTime)
	defer cancel()
	if short, err := explore.Shrink(ctx, sim, j, p, explore.ShrinkBudget); err == nil {
		short.Use(x.lock)
		if k, _, err := harness.Simulate(sim, short); err == nil && k.Outcome(p) == checker.Violated {
			j = k
		}
	}
	dir := filepath.Join("testdata", "lockcheck", filepath.FromSlash(t.Name()), string(p))
	var story bytes.Buffer
	if err := report.Story(&story, j.History, j.Verdicts, rundir.StoryOptions(j)); err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	saved := "Files  " + dir
	if err := rundir.Save(dir, j); err != nil {
		saved = "No files are kept: " + err.Error()
	}
	t.Fatalf("%s is violated in %s, first with seed %d\n\n%s\n%s\nAgain  go test -run '%s' -lockcheck.seed=%d -lockcheck.runs=1",
		p, fmt.Sprintf("%d of %s", tally.Count[checker.Violated], names.Count(r.Runs, "run")), seed, story.String(), saved, pattern(t.Name()), seed)
}

// shrinkTime limits the search for a shorter run.
const shrinkTime = 5 * time.Second

// pattern returns the argument of go test -run for one test.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return strings.Join(parts, "/")
}
