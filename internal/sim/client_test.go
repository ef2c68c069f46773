package sim

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// A paused client ignores everything that arrives. It sends its next request
// after the pause.
func TestAPausedClientGoesOnForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		lock  func(catalogue.Env, context.Context) error
		pause time.Duration
		want  []string
	}{
		"the answer to a request": {
			func(e catalogue.Env, ctx context.Context) error {
				if _, _, err := e.Redis[0].Get(ctx, 0, "a"); err != nil {
					return err
				}
				return set(e, ctx)
			},
			latencyMin / 2,
			[]string{"5s grant by 1", "5s c1 ends: <nil>"},
		},
		"the end of a sleep": {
			func(e catalogue.Env, ctx context.Context) error {
				if err := e.Host.Sleep(ctx, time.Second); err != nil {
					return err
				}
				return set(e, ctx)
			},
			latencyMin / 2,
			[]string{"5s grant by 1", "5s c1 ends: <nil>"},
		},
		"the end of a request's time": {
			func(e catalogue.Env, ctx context.Context) error {
				if _, err := e.Redis[0].Del(ctx, time.Millisecond, "a"); err == nil {
					return err // it came after the timeout, but during the pause, so the answer counts
				}
				return set(e, ctx)
			},
			latencyMin / 2,
			[]string{"5s c1 ends: <nil>"},
		},
		"its connection's reset": {
			func(e catalogue.Env, ctx context.Context) error {
				e.Host.Sleep(ctx, time.Second)
				e.Redis[0].Get(ctx, 0, "a")
				return set(e, ctx)
			},
			time.Second + latencyMin/2,
			[]string{"5s grant by 1", "5s c1 ends: <nil>"},
		},
		"the beginning of an operation": {set, 0, []string{"5s grant by 1", "5s c1 ends: <nil>"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(c.lock, "c1")
			if c.pause == 0 {
				must(t, s.Pause("c1"))
			}
			s.After(c.pause, func() { must(t, s.Pause("c1")) })
			if name == "its connection's reset" {
				must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Reset}))
			}
			s.After(5*time.Second, func() { must(t, s.Resume("c1")) })
			want(t, s.run(t, time.Minute), c.want...)
		})
	}
}

// A client notices a timeout that fired during its pause when the pause ends, if
// no answer has come.
func TestAPausedClientFindsItsTimeout(t *testing.T) {
	s := newScene(set, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Swallow}))
	s.After(time.Second, func() { must(t, s.Pause("c1")) })
	s.After(4*time.Second, func() { must(t, s.Resume("c1")) })
	want(t, s.run(t, time.Minute), "4s c1 ends: no answer in time")
}

// The timeout fires during the pause, then the answer comes: the answer wins.
func TestAnAnswerDuringAPauseWinsOverTheTimeout(t *testing.T) {
	s := newScene(set, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Slow, Delay: 3 * time.Second}))
	s.After(time.Second, func() { must(t, s.Pause("c1")) })
	s.After(4*time.Second, func() { must(t, s.Resume("c1")) })
	want(t, s.run(t, time.Minute), "0s grant by 1", "4s c1 ends: <nil>")
}

// No message for a dead client reaches the task that was on its host. That task
// may be on another host by now.
func TestWhatComesForADeadClientReachesNobody(t *testing.T) {
	for name, comes := range map[string]func(*scene) error{
		"a reply": func(*scene) error { return nil },
		"a reset": func(s *scene) error { return s.Stop("redis-1", false) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				_, err := e.Redis[0].Del(ctx, 0, "a")
				return err
			}, "c1", "c2")
			must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Slow, Delay: 2 * time.Second}))
			must(t, s.Impair(2, faults.Impairment{Client: "c2", Server: "redis-1", Action: faults.Hold}))
			s.After(time.Second, func() { must(t, s.Kill("c1")) })
			s.After(3*time.Second/2, func() { must(t, comes(s)) })
			s.Go(func() {
				for i, c := range s.cfg.Clients {
					_, err := s.Client(c).Acquire(env.Op{Index: i + 1, Lock: "a"}, time.Minute)
					s.note("%s ends: %v", c, err)
				}
			})
			must(t, s.Run())
			want(t, s.seen, "1s c1 ends: "+env.ErrCrashed.Error(), "3.5s c2 ends: no answer in time")
		})
	}
}

func TestADeadClientBeginsNothing(t *testing.T) {
	s := newScene(set, "c1")
	must(t, s.Kill("c1"))
	want(t, s.run(t, time.Minute), "0s c1 ends: "+env.ErrCrashed.Error())
}

// A request after the end of the context is certain not to be executed.
func TestARequestAfterTheEndOfItsContextIsNotSent(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		if err := e.Host.Sleep(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sleep beyond it returns %v", err)
		}
		err := set(e, ctx)
		if !locks.IsDefinite(err) {
			t.Errorf("the error %v is not definite", err)
		}
		return err
	}, "c1")
	s.Go(func() { s.Sleep(time.Minute) })
	want(t, s.run(t, time.Second), "1s c1 ends: context deadline exceeded")
}

// The answer to a request that was sent counts, even after the context's end.
func TestAnAnswerIsWaitedForBeyondTheEndOfTheContext(t *testing.T) {
	s := newScene(set, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Action: faults.Slow, Delay: time.Second}))
	want(t, s.run(t, time.Second), "1s grant by 1", "2s c1 ends: <nil>")
}

// With retries a request is sent up to four times, with 8, 16 and 32 ms between
// them.
func TestRetries(t *testing.T) {
	var err error
	ask := func(e catalogue.Env, ctx context.Context) error {
		_, err = e.Redis[0].RPush(ctx, 100*time.Millisecond, "a", "v")
		return err
	}
	swallow := func(s *scene) {
		must(t, s.Impair(len(s.impairments)+1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Swallow}))
	}
	stop := func(s *scene) { must(t, s.Stop("redis-1", false)) }
	start := func(s *scene) { must(t, s.Start("redis-1")) }
	for name, c := range map[string]struct {
		retries  bool
		at       map[time.Duration]func(*scene)
		want     string
		definite bool
		messages int
	}{
		"none, and no answer": {false, map[time.Duration]func(*scene){0: swallow}, "100ms c1 ends: no answer in time", false, 2},
		"an answer to the second": {
			true,
			map[time.Duration]func(*scene){0: swallow},
			"108ms c1 ends: <nil>", false, 6,
		},
		// Four times, each but the first on a connection of its own.
		"no answer": {
			true,
			map[time.Duration]func(*scene){0: func(s *scene) { swallow(s); swallow(s); swallow(s); swallow(s); swallow(s) }},
			"456ms c1 ends: no answer in time", false, 2 + 3*4,
		},
		"an answer to the fourth": {
			true,
			map[time.Duration]func(*scene){0: func(s *scene) { swallow(s); swallow(s); swallow(s) }},
			"356ms c1 ends: <nil>", false, 2 + 3*4,
		},
		"the server is down": {
			true,
			map[time.Duration]func(*scene){0: func(s *scene) { s.find("c1").conns[0].open = false; stop(s) }},
			"56ms c1 ends: cannot connect", true, 8,
		},
		// It may have been executed, and a server that fails later does not
		// change that.
		"no answer, and then the server is down": {
			true,
			map[time.Duration]func(*scene){0: swallow, 50 * time.Millisecond: stop},
			"156ms c1 ends: no answer in time", false, 2 + 3*2,
		},
		"the server is down, and then there is no answer": {
			true,
			map[time.Duration]func(*scene){0: func(s *scene) {
				s.find("c1").conns[0].open = false
				stop(s)
				swallow(s)
				swallow(s)
				swallow(s)
			}, 4 * time.Millisecond: start},
			"356ms c1 ends: no answer in time", false, 2 + 3*4,
		},
		"the server is down, and then up again": {
			true,
			map[time.Duration]func(*scene){0: func(s *scene) { s.find("c1").conns[0].open = false; stop(s) }, 4 * time.Millisecond: start},
			"8ms c1 ends: <nil>", false, 2 + 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSceneWith(catalogue.Options{Retries: c.retries}, nil, ask, "c1")
			for at, f := range c.at {
				if at == 0 {
					f(s)
				} else {
					s.After(at, func() { f(s) })
				}
			}
			seen := slices.DeleteFunc(s.run(t, time.Minute), func(line string) bool { return line[len(line)-len("by 1"):] == "by 1" })
			want(t, seen, c.want)
			if err != nil && locks.IsDefinite(err) != c.definite {
				t.Errorf("%v is definite: %v", err, !c.definite)
			}
			if got := s.servers[0].links[0].n; got != c.messages {
				t.Errorf("%d messages, want %d", got, c.messages)
			}
		})
	}
}

// Requests to the guarded resource travel over the network, as to a server.
func TestAccessesToTheResource(t *testing.T) {
	s := newScene(set, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: history.Resource, Direction: faults.ToServer, Action: faults.Slow, Delay: 3 * time.Second}))
	s.Go(func() {
		c := s.Client("c1")
		s.note("write: %v", c.Write(env.Op{Index: 1}, 5)) // T/4
		_, err := c.Read(env.Op{Index: 2, Timeout: time.Second})
		s.note("read: %v", err)
		s.Restore(1)
		s.note("write: %v", c.Write(env.Op{Index: 3}, 7))
		s.Sleep(10 * time.Second)
	})
	must(t, s.Run())
	want(t, s.seen,
		"2.5s write: no answer in time", "3s resource c1 true",
		"3.5s read: "+errUnreachable.Error(), "3.5s resource c1 true", "3.5s write: <nil>")
}
