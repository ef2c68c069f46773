package harness

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// frailEnvironment is an environment whose lock grants everything, and that cannot pause a client.
// died is the error of Alive, cut the error of Run. Grants and faults wait for
// functions, which may be nil.
type frailEnvironment struct {
	*fakeEnvironment
	died, cut      error
	grants, faults func() bool
}

func (p frailEnvironment) Client(string) env.Client { return p }

// await waits until so returns true, for 10 s at most.
func await(so func() bool) {
	for limit := time.Now().Add(10 * time.Second); so != nil && !so() && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
}

func (p frailEnvironment) Acquire(env.Op, time.Duration) (env.Grant, error) {
	await(p.grants)
	return env.Grant{}, nil
}

func (p frailEnvironment) Release(env.Op) error      { return nil }
func (p frailEnvironment) Write(env.Op, int64) error { return nil }
func (p frailEnvironment) Read(env.Op) (int64, error) {
	time.Sleep(4 * time.Millisecond)
	return 0, nil
}

func (p frailEnvironment) After(d time.Duration, f func()) {
	p.fakeEnvironment.After(d, func() {
		await(p.faults)
		f()
	})
}

func (frailEnvironment) Pause(string) error { return errors.New("no container answers") }
func (p frailEnvironment) Alive() error     { return p.died }
func (p frailEnvironment) Run() error       { p.fakeEnvironment.Run(); return p.cut }

// holdWatch counts the entries of a run in which two clients hold a lock. With few entries
// it is uncertain that both knew it.
type holdWatch struct{ held, entries atomic.Int64 }

func (s *holdWatch) take(e *history.Entry) {
	switch {
	case e.Type == history.OK && e.F == history.Acquire:
		s.held.Add(1)
	case e.Type == history.Invoke && e.F == history.Release:
		s.held.Add(-1)
	}
	if s.held.Load() > 1 {
		s.entries.Add(1)
	}
}

// A violation counts if it was recorded before the environment failed and all servers
// lived. A later one may be the environment's doing.
func TestOnlyViolationsBeforeTheFailureCount(t *testing.T) {
	died, left := errors.New("the server has ended"), errors.New("it does not go")
	const never, early, late = 0, 1, 2 // when the environment fails at a pause: early is before the first hold
	for _, tt := range []struct {
		name   string
		fails  int
		died   error
		cut    error
		closed error
		broken bool // the violation counts
	}{
		{"it failed after a violation", late, nil, nil, nil, true},
		{"it failed after a violation, and cannot be removed", late, nil, nil, left, true},
		{"it failed after a violation, and a server died", late, died, nil, nil, false},
		{"it failed before", early, nil, nil, nil, false},
		{"only a server died", never, died, nil, nil, false},
		{"a server died, and it cannot be removed", never, died, nil, left, false},
		{"it was interrupted", never, nil, context.Canceled, nil, true},
		{"it was interrupted, and a server died", never, died, context.Canceled, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := randomPlan("redis-set-lua", "pause", 1)
			p.On, p.Clients, p.Acquires, p.Faults = "docker", []string{"c1", "c2", "c3"}, 40, nil
			if tt.fails != never {
				p.Faults = []faults.Injection{{Fault: "pause", On: []string{"c1"}, At: time.Millisecond, For: 10 * time.Millisecond}}
			}
			var seen holdWatch
			h, err := Run(p, func(_ env.Config, o env.Observer) (env.Environment, error) {
				environment := frailEnvironment{fakeEnvironment: &fakeEnvironment{start: time.Now(), closed: tt.closed}, died: tt.died, cut: tt.cut}
				switch in := &o.(*recorder).injector; tt.fails {
				case early:
					environment.grants = func() bool {
						in.mu.Lock()
						defer in.mu.Unlock()
						return in.err != nil
					}
				case late:
					environment.faults = func() bool { return seen.entries.Load() > 20 }
				}
				return environment, nil
			}, nil, seen.take)
			if err == nil {
				t.Fatal("the run did not fail")
			}
			if Judge(p, h).Outcome(checker.Exclusion) != checker.Violated {
				t.Fatal("exclusion holds in the whole history")
			}
			if closed := (*CloseError)(nil); errors.As(err, &closed) {
				t.Errorf("it is judged like a finished run: %v", err)
			}
			j := JudgeEarly(p, h, err)
			if got := slices.Contains(j.Violated(), checker.Exclusion); got != tt.broken {
				t.Errorf("exclusion is %s, after %v", j.Outcome(checker.Exclusion), err)
			}
			for _, v := range j.Verdicts {
				if v.Outcome == checker.Valid || v.Outcome == checker.Violated && !slices.Contains(finalProperties, v.Property) {
					t.Errorf("%s is %s, in a run that ended early", v.Property, v.Outcome)
				}
			}
		})
	}
}

// A finished run is judged as usual even if its environment cannot be removed.
func TestARunWhoseEnvironmentCannotBeRemovedIsWhole(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	p.On, p.Clients, p.Acquires, p.Faults = "docker", []string{"c1", "c2"}, 5, nil
	left := errors.New("it does not go")
	h, err := Run(p, func(env.Config, env.Observer) (env.Environment, error) {
		return frailEnvironment{fakeEnvironment: &fakeEnvironment{start: time.Now(), closed: left}}, nil
	}, nil, nil)
	if closed := (*CloseError)(nil); !errors.As(err, &closed) || !errors.Is(err, left) {
		t.Fatalf("the run fails with %v", err)
	}
	got, want := JudgeEarly(p, h, err), Judge(p, h)
	if len(got.Violated()) == 0 || got.Outcome(checker.Liveness) != checker.Valid {
		t.Errorf("%v is violated, liveness is %s", got.Violated(), got.Outcome(checker.Liveness))
	}
	for _, v := range want.Verdicts {
		if o := got.Outcome(v.Property); o != v.Outcome {
			t.Errorf("%s is %s, and was %s", v.Property, o, v.Outcome)
		}
	}
}

// The end of an interrupted run proves nothing: later lines may undo it.
func TestAnInterruptedRunProvesNothingByItsEnd(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	p.Faults = nil
	j := simulate(t, p)
	h := &history.History{Header: j.History.Header, Entries: j.History.Entries[:len(j.History.Entries)/2]}
	for _, v := range JudgeEarly(j.Plan, h, errors.New("interrupted")).Verdicts {
		if v.Outcome != checker.Unknown {
			t.Errorf("%s is %s", v.Property, v.Outcome)
		}
	}
}
