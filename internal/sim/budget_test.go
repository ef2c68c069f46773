package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

// A loop in which no time passes ends the run with an error.
func TestASpinThatCostsNoTimeEnds(t *testing.T) {
	for name, spin := range map[string]func(catalogue.Env, context.Context){
		"a sleep of no time": func(e catalogue.Env, ctx context.Context) { e.Host.Sleep(ctx, 0) },
		"a sleep that has ended": func(e catalogue.Env, ctx context.Context) {
			e.Host.Sleep(&deadline{host: e.Host.(*host)}, time.Second)
		},
		"the monotonic clock": func(e catalogue.Env, _ context.Context) { e.Host.Mono() },
		"the wall clock":      func(e catalogue.Env, _ context.Context) { e.Host.Now() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				for {
					spin(e, ctx)
				}
			}, "c1")
			s.spins(t, 0)
		})
	}
	t.Run("a script", func(t *testing.T) {
		s := newScene(nil)
		s.Go(func() {
			s.Sleep(3 * time.Second)
			for {
				s.Sleep(0)
			}
		})
		s.spins(t, 3*time.Second)
	})
	t.Run("a script that waits for next to nothing", func(t *testing.T) {
		s := newScene(nil)
		s.Go(func() {
			for {
				s.Sleep(1)
			}
		})
		s.spins(t, maxPerSecond)
	})
}

// spins expects that the run ends at that time because of an endless loop.
func (s *scene) spins(t *testing.T, at time.Duration) {
	t.Helper()
	for i, c := range s.cfg.Clients {
		s.Go(func() { s.Client(c).Acquire(env.Op{Index: i + 1, Lock: "a"}, time.Minute) })
	}
	if err := s.Run(); err == nil || !strings.Contains(err.Error(), "is there a loop without a wait?") {
		t.Errorf("the run ends with %v", err)
	}
	if s.Now() != at {
		t.Errorf("it ends at %v, want %v", s.Now(), at)
	}
}

func TestAnOperationHasABudget(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		for {
			if _, _, err := e.Redis[0].Get(ctx, 0, "a"); err != nil {
				return err
			}
		}
	}, "c1")
	want(t, s.run(t, time.Hour), "600ms c1 ends: "+env.ErrBudget.Error())
}

// Calls that send nothing count, too.
func TestCallsAfterTheEndOfTheirContextAreCounted(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		for {
			set(e, ctx)
		}
	}, "c1")
	want(t, s.run(t, 0), "0s c1 ends: "+env.ErrBudget.Error())
}

// A run may be long if it works: each second has a new budget.
func TestALongRunIsNoSpin(t *testing.T) {
	s := newScene(nil)
	s.Go(func() {
		for range 4 * maxPerSecond {
			s.Sleep(20 * time.Microsecond)
		}
	})
	if err := s.Run(); err != nil || s.Events() < 4*maxPerSecond {
		t.Errorf("%d events, and %v", s.Events(), err)
	}
}

func TestARunThatNeverEndsEnds(t *testing.T) {
	s := newScene(nil)
	s.events = maxEvents - 1000
	s.Go(func() {
		for {
			s.Sleep(time.Second)
		}
	})
	if err := s.Run(); err == nil || !strings.Contains(err.Error(), "does not end") {
		t.Errorf("the run ends with %v", err)
	}
}
