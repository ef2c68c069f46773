package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

// A reset world is like a new one, however the last run ended, and the last run's
// waiting tasks are gone.
func TestAResetWorldIsNew(t *testing.T) {
	ask := func(e catalogue.Env, ctx context.Context) error {
		if err := e.Host.Sleep(ctx, time.Duration(e.Host.Rand("wait", 1000))*time.Millisecond); err != nil {
			return err
		}
		return set(e, ctx)
	}
	choices := []env.Choice{{Name: env.Name{What: "wait", Who: "c1", N: 1}, Value: 500}, {Name: env.Name{What: "latency", Who: "c1→redis-1", N: 1}, Value: 77}}
	begin := func() *scene { return newSceneWith(catalogue.Options{}, choices, ask, "c1", "c2") }
	fresh := begin()
	expected := fresh.run(t, time.Minute)

	s := begin()
	reset := func() {
		s.seen, s.at = nil, nil
		s.Reset(s.cfg, s, replayOf(choices...))
	}
	defer s.Close()
	for name, ends := range map[string]func(){
		"by itself":           func() { s.run(t, time.Minute) },
		"without having run":  func() { s.Go(func() { t.Error("a script of an earlier run") }) },
		"with a client dead":  func() { s.After(time.Second, func() { must(t, s.Kill("c1")) }); s.run(t, time.Minute) },
		"with a server down":  func() { must(t, s.Stop("redis-1", true)); s.run(t, time.Minute) },
		"with a clock wrong":  func() { must(t, s.Jump("redis-1", time.Hour)); s.run(t, time.Minute) },
		"with a client stuck": func() { must(t, s.Pause("c1")); s.Go(func() { s.Client("c1").Read(env.Op{Index: 1}) }); s.Run() },
		"with a link held": func() {
			must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Action: faults.Hold}))
			s.run(t, time.Minute)
		},
		"in a panic": func() {
			defer func() { recover() }()
			s.Go(func() { s.Sleep(time.Second); panic("no wheels") })
			s.run(t, time.Minute)
		},
		"going round and round": func() {
			s.Go(func() {
				for {
					s.Sleep(0)
				}
			})
			s.Run()
		},
	} {
		t.Run("the run before ended "+name, func(t *testing.T) {
			reset()
			ends()
			reset()
			want(t, s.run(t, time.Minute), expected...)
			if s.Now() != fresh.Now() || s.Events() != fresh.Events() || !slices.Equal(s.choices.made, fresh.choices.made) {
				t.Errorf("it ends at %v after %d events, a new one at %v after %d", s.Now(), s.Events(), fresh.Now(), fresh.Events())
			}
		})
	}
}

// Run passes on a panic with the stack of its origin, whichever task drove the
// world then.
func TestAPanicSaysWhere(t *testing.T) {
	s := newScene(set, "c1", "c2")
	s.After(time.Second, noWheels)
	for range 3 {
		s.Go(func() { s.Sleep(time.Minute) })
	}
	defer func() {
		text := fmt.Sprint(recover())
		if !strings.Contains(text, "no wheels") || !strings.Contains(text, "noWheels") {
			t.Errorf("the panic is %s", text)
		}
	}()
	s.run(t, time.Minute)
}

func noWheels() { panic("no wheels") }

// A run that a search stops ends there: no task goes on, and their coroutines serve
// the next run.
func TestAStoppedSearchEndsItsTasks(t *testing.T) {
	s := newScene(set, "c1", "c2")
	defer s.Close()
	for steps := range 5 {
		taken, over := 0, false
		s.Reset(s.cfg, s, env.Decisions{Pick: func(env.Crossing) int {
			if over = taken == steps; over {
				return -1
			}
			taken++
			return 0
		}})
		for _, name := range s.cfg.Clients {
			s.Go(func() {
				s.Sleep(time.Second)
				s.Client(name).Acquire(env.Op{Index: 1, Lock: "a"}, time.Second)
				if over {
					t.Errorf("%s goes on after its run, which ended after %d steps", name, steps)
				}
				s.Sleep(time.Second)
			})
		}
		if err := s.Run(); !errors.Is(err, env.ErrStopped) {
			t.Fatal(err)
		}
		if n := len(s.idle); n != len(s.cfg.Clients) {
			t.Errorf("a run that ended after %d steps left %d coroutines, want %d", steps, n, len(s.cfg.Clients))
		}
	}
}
