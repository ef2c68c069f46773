package lockcheck

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/gotest"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The environments of real servers: those that lockcheck starts, and the user's own.
const (
	onDocker   = "docker"
	onExternal = "external"
)

// closing is how long a test may take after its last run, to remove servers or to find a
// shorter run, before go test -timeout ends the process.
const closing = 30 * time.Second

// realAcquires is how often each client takes the lock in one run: long enough for faults
// to end before. Servers that need a longer lease make everything slower, and the faults of
// most kinds end early enough with slowAcquires. Those of replicas come one after another.
const (
	realAcquires = 40
	slowAcquires = 15
)

// open opens the environment of real servers for a test.
func (x *suite) open() error {
	real, err := gotest.Registered()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program that starts clients: %w", err)
	}
	ctx, stop := signal.NotifyContext(x.t.Context(), os.Interrupt, syscall.SIGTERM)
	x.t.Cleanup(stop)
	if end, ok := x.t.Deadline(); ok {
		timed, cancel := context.WithDeadline(ctx, end.Add(-closing))
		x.t.Cleanup(cancel)
		ctx = timed
	}
	own := *x.lock
	if x.lock = &own; own.Store != catalogue.StoreRedis {
		own.Lease = catalogue.LeaseSession
	}
	x.real, err = real.Open(ctx, gotest.Setup{
		On: x.settings.on, Yours: x.settings.own,
		Worker: command(self, x.t.Name()), Env: []string{workerEnv + "=" + x.call}, Log: x.t.Output(),
		Say:     func(format string, args ...any) { fmt.Fprintf(x.t.Output(), format, args...) },
		Cleanup: x.t.Cleanup,
	})
	if err == nil {
		x.t.Cleanup(func() { os.RemoveAll(x.real.Out.Path) })
	}
	return err
}

// command returns the command of one client's process: the program, for one test, with
// those of its flags that are not go test's or ours.
func command(program, test string, flags ...string) []string {
	words := append([]string{program, "-test.run=" + pattern(test), "-test.count=1"}, flags...)
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && !strings.HasPrefix(f.Name, "lockcheck.") {
			words = append(words, "-"+f.Name+"="+f.Value.String())
		}
	})
	return append(words, flag.Args()...)
}

// strikes returns an error that says why a fault does not apply to a user's lock on real
// servers, or nil if it does.
func (x *suite) strikes(f faults.Fault) error {
	has := batch.Offers(x.settings.on, false)
	if f.Need == faults.NeedReplicas && x.lock.Store == catalogue.StoreRedis && x.lock.Replicas == 0 {
		return fmt.Errorf("%s needs %s: lockcheck.RedisSentinel", f.Name, f.Need)
	}
	return cmp.Or(f.Available(has), x.lock.Applies(f, catalogue.Server{}), x.real.Strikes(x.lock, f))
}

// realFault tests the lock under one kind of fault on real servers. If no number of runs
// is chosen, the first run that proves something is the last.
func (x *suite) realFault(t *testing.T, f faults.Fault, s *explore.Settings) {
	t.Helper()
	s.Acquires = explore.Exactly(realAcquires)
	x.real.Fill(s)
	if f.Need != faults.NeedReplicas && x.real.Plan(s, 0).Lease > s.Lease {
		s.Acquires = explore.Exactly(slowAcquires)
	}
	if x.settings.brief {
		s.Enough = func(r *explore.Result) bool {
			return x.promise == nil || x.judge(t, s, r).Verdict != results.Inconclusive
		}
	}
	r, err := x.real.Batch(s, nil)
	x.interrupted(t)
	if r != nil {
		for _, p := range checker.Properties {
			if r.Outcome(p) == checker.Violated && x.promise != nil && x.promise.Covers(p) {
				x.realViolation(t, s, r, p)
			}
		}
	}
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	x.reached(f, r)
	if x.promise == nil {
		return
	}
	cell := x.judge(t, s, r)
	for _, p := range x.promise {
		if r.Outcome(p) == checker.NA {
			t.Logf("%s is not judged on %s: %s", p, x.settings.on, r.Outcomes[p].Reasons[checker.NA])
		}
	}
	if cell.Verdict != results.Held {
		t.Fatalf("lockcheck: %s under %s: %s", names.Count(r.Runs, "run"), cmp.Or(f.Name, "no fault"), cell.Reason)
	}
	t.Logf("%s held under %s in %s", strings.Join(cell.Promises.Strings(), ", "), cmp.Or(f.Name, "no fault"), names.Count(r.Runs, "run"))
}

// judge judges runs by those of the promised properties that apply to them: real servers
// do not show everything.
func (x *suite) judge(t *testing.T, s *explore.Settings, r *explore.Result) *results.Cell {
	c := &results.Cell{Name: t.Name(), Lock: s.Lock, On: s.On, Seed: s.Seed}
	for _, p := range x.promise {
		if r.Outcome(p) != checker.NA {
			c.Promises = append(c.Promises, p)
		}
	}
	if c.Promises == nil {
		c.Promises = x.promise
	}
	c.Take(r)
	return c
}

// realViolation fails the test with the story of the first violation of a property.
func (x *suite) realViolation(t *testing.T, s *explore.Settings, r *explore.Result, p checker.Property) {
	t.Helper()
	tally := r.Outcomes[p]
	j, err := x.real.Again(x.real, s, tally.First[checker.Violated])
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	dir := filepath.Join(directory(t), x.settings.on, string(p))
	files := keep(t, dir, j, p)
	t.Fatalf("%s is violated in %d of %s on real servers\n\n%s\nFiles    %s\nAgain    go test -run '%s' -lockcheck.on=%s -lockcheck.replay=%s",
		p, tally.Count[checker.Violated], names.Count(r.Runs, "run"), story(t, j), files, pattern(x.t.Name()), x.settings.on, dir)
}

// keep keeps the files of a run that violates a property. It says where they are.
func keep(t *testing.T, dir string, j *harness.Judged, p checker.Property) (where string) {
	t.Helper()
	where = dir
	if err := rundir.Save(dir, j); err != nil {
		where = "none: " + err.Error()
	}
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		rundir.Save(filepath.Join(t.ArtifactDir(), string(p)), j)
	}
	return where
}

// realReplay carries out a schedule again on real servers.
func (x *suite) realReplay(t *testing.T, plan *harness.Plan) *harness.Judged {
	t.Helper()
	j, _, err := x.real.Try(plan, x.real.RunName(plan), "the run")
	x.interrupted(t)
	if j == nil {
		t.Fatalf("lockcheck: %v", err)
	}
	if why := batch.Idle(j); why != "" {
		t.Fatalf("lockcheck: the run proves nothing: %s", why)
	}
	return j
}

// interrupted ends the process if somebody has interrupted it. All that it started has
// been removed.
func (x *suite) interrupted(t *testing.T) {
	t.Helper()
	switch cause := x.real.Ctx.Err(); {
	case cause == nil:
	case errors.Is(cause, context.DeadlineExceeded):
		t.Fatal("lockcheck: the time of go test -timeout is nearly over")
	default:
		os.RemoveAll(x.real.Out.Path)
		os.Exit(exit.Interrupted)
	}
}
