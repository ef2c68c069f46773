package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// runner is a lock that calls the critical section in f.
type runner struct {
	lockFunc
	run func(e catalogue.Env, critical func()) error
}

func (r runner) Run(ctx context.Context, _ string, critical func(context.Context, locks.Lease)) error {
	return r.run(r.env, func() { critical(ctx, r) })
}

// newRunner returns a scene with such a lock.
func newRunner(run func(e catalogue.Env, critical func()) error) *scene {
	s := newScene(nil, "c1")
	cfg := s.cfg
	cfg.Lock.New = func(e catalogue.Env) locks.Locker { return runner{lockFunc{env: e}, run} }
	s.World = New(cfg, s, replayOf())
	return s
}

// visits is c1's caller: it acquires, works for five seconds, and releases. It
// gives up after that many tries of one second each.
func (s *scene) visits(t *testing.T, tries int) []string {
	t.Helper()
	s.Go(func() {
		c := s.Client("c1")
		acquire := env.Op{Index: 1, Acquisition: 1, Lock: "a"}
		var err error
		for range tries {
			if _, err = c.Acquire(acquire, time.Second); !errors.Is(err, env.ErrWaits) {
				break
			}
		}
		s.note("c1 acquires: %v", err)
		if errors.Is(err, env.ErrWaits) {
			c.(env.Patient).Abandon(acquire)
		}
		if err != nil {
			s.Sleep(10 * time.Second)
			return
		}
		s.Sleep(5 * time.Second)
		s.note("c1 releases: %v", c.Release(env.Op{Index: 2, Acquisition: 1, Acquire: 1, Lock: "a"}))
	})
	must(t, s.Run())
	return s.seen
}

func TestALockThatCallsTheCriticalSection(t *testing.T) {
	sleep := func(e catalogue.Env, d time.Duration) { e.Host.Sleep(context.Background(), d) }
	for name, c := range map[string]struct {
		run  func(e catalogue.Env, critical func()) error
		want []string
	}{
		"is left when its caller releases": {
			func(e catalogue.Env, critical func()) error {
				sleep(e, 2500*time.Millisecond)
				critical()
				sleep(e, time.Second)
				return locks.ErrNotHeld
			},
			[]string{"2.5s c1 acquires: <nil>", "8.5s c1 releases: lock not held"},
		},
		"may fail": {
			func(catalogue.Env, func()) error { return locks.ErrNotAcquired },
			[]string{"0s c1 acquires: lock not acquired"},
		},
		"may end without a word": {
			func(catalogue.Env, func()) error { return nil },
			[]string{"0s c1 acquires: the lock has not called the critical section"},
		},
		"may call it again, from another task": {
			func(e catalogue.Env, critical func()) error {
				other := e.Host.Go(func(context.Context) {
					sleep(e, time.Second)
					critical()
				})
				critical()
				other.Wait()
				return nil
			},
			[]string{"0s c1 acquires: <nil>", "1s c1 enters uncalled, on 1", "2s resource c1 false", "2s c1 leaves: <nil>", "5s c1 releases: <nil>"},
		},
		"may call it after its caller has given up": {
			func(e catalogue.Env, critical func()) error {
				sleep(e, 6*time.Second)
				critical()
				return nil
			},
			[]string{"4s c1 acquires: it waits on", "6s c1 enters uncalled, on 1", "7s resource c1 false", "7s c1 leaves: <nil>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, newRunner(c.run).visits(t, 4), c.want...)
		})
	}
}

// The requests before the critical section belong to the acquire, and those after
// it to the release.
func TestPointsOfALockThatCallsTheCriticalSection(t *testing.T) {
	s := newRunner(func(e catalogue.Env, critical func()) error {
		_, err := e.Redis[0].SetIfAbsent(context.Background(), 0, "a", "v", 0)
		critical()
		e.Redis[0].Del(context.Background(), 0, "a")
		return err
	})
	s.onPoint(func(_ string, p faults.Point) { s.note("%v", p) })
	want(t, s.visits(t, 4), "0s c1 acquire: before request 1, SET", "0s grant by 1", "0s c1 acquire: after request 1, SET",
		"0s c1 acquires: <nil>", "5s c1 release: before request 1, DEL", "5s remove by 2", "5s c1 release: after request 1, DEL", "5s c1 releases: <nil>")
}

// A killed client has left its critical section, and enters no other.
func TestALockThatCallsTheCriticalSectionIsKilled(t *testing.T) {
	s := newRunner(func(e catalogue.Env, critical func()) error {
		critical()
		t.Error("the lock goes on")
		return nil
	})
	s.After(time.Second, func() { s.Kill("c1") })
	want(t, s.visits(t, 1), "0s c1 acquires: <nil>", "5s c1 releases: the client crashed")
}
