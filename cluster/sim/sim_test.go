package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is a world whose clients have the lock that a test gives them, and
// what was observed in it.
type scene struct {
	*World
	seen []string
	at   func(client string, p faults.Point)
}

func (s *scene) note(format string, args ...any) {
	s.seen = append(s.seen, fmt.Sprintf("%v ", s.now.Truncate(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (s *scene) Point(client string, _ cluster.Op, p faults.Point) {
	if s.at != nil {
		s.at(client, p)
	}
}
func (s *scene) Server(e history.Entry) { s.note("%s by %d", e.F, e.By.V) }
func (s *scene) Report(history.Entry)   {}
func (s *scene) Resource(a cluster.Access) cluster.Answer {
	s.note("resource %s %v", a.Client, a.Write)
	return cluster.Answer{Value: a.Value}
}

// newScene has the given clients, each with a lock that calls acquire.
func newScene(acquire func(catalogue.Env, context.Context) error, clients ...string) *scene {
	s := &scene{}
	cfg := cluster.Config{
		Lock: catalogue.Lock{
			ID: "of a test", Steps: catalogue.Requests{Acquire: 1, Release: 1},
			New: func(e catalogue.Env) locks.Locker { return lockFunc{e, acquire} },
		},
		Lease: 10 * time.Second, Clients: clients, Names: []string{"a"},
	}
	for _, c := range clients {
		cfg.Schedule = append(cfg.Schedule, faults.Injection{Point: &faults.Point{Client: c}})
	}
	s.World = New(cfg, s, Replay(nil)) // every choice is the least disturbing one: latency 0.1 ms
	return s
}

type lockFunc struct {
	env catalogue.Env
	f   func(catalogue.Env, context.Context) error
}

func (l lockFunc) Acquire(ctx context.Context, _ string) (locks.Lease, error) {
	return l, l.f(l.env, ctx)
}
func (lockFunc) Release(context.Context) error { return nil }
func (lockFunc) Close(context.Context) error   { return nil }

// run lets each client acquire once, and notes what came of it.
func (s *scene) run(t *testing.T, timeout time.Duration) []string {
	t.Helper()
	for i, c := range s.cfg.Clients {
		s.Go(func() {
			_, err := s.Client(c).Acquire(cluster.Op{Index: i + 1, Acquisition: 1, Lock: "a"}, timeout)
			s.note("%s ends: %v", c, err)
		})
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return s.seen
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("saw\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func set(e catalogue.Env, ctx context.Context) error {
	_, err := e.Redis.SetIfAbsent(ctx, 0, "a", "v", 0)
	return err
}

func TestARequestAndItsReply(t *testing.T) {
	s := newScene(set, "c1")
	want(t, s.run(t, time.Minute), "0s grant by 1", "0s c1 ends: <nil>")
	if s.Now() != 2*latencyMin {
		t.Errorf("a round trip took %v", s.Now())
	}
}

func TestAPausedClientRunsNothingAndFindsItsReplyLater(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		if err := set(e, ctx); err != nil {
			return err
		}
		return e.Host.Sleep(ctx, time.Second)
	}, "c1")
	s.at = func(_ string, p faults.Point) {
		if !p.After {
			s.After(latencyMin/2, func() { s.Pause("c1") }) // with its request under way
			s.After(5*time.Second, func() { s.Resume("c1") })
		}
	}
	// The reply waits in the kernel's buffer beyond the request's time-out of T/4.
	want(t, s.run(t, time.Minute), "0s grant by 1", "6s c1 ends: <nil>")
}

func TestAPauseAtAPointHoldsBackTheRequest(t *testing.T) {
	s := newScene(set, "c1")
	s.at = func(_ string, p faults.Point) {
		if !p.After {
			s.Pause("c1")
			s.After(5*time.Second, func() { s.Resume("c1") })
		}
	}
	want(t, s.run(t, time.Minute), "5s grant by 1", "5s c1 ends: <nil>")
}

func TestAKilledClientEndsWhereverItIs(t *testing.T) {
	for name, at := range map[string]func(*scene){
		"before a request": func(s *scene) {
			s.at = func(_ string, p faults.Point) {
				if !p.After {
					s.Kill("c1")
				}
			}
		},
		"with a request under way": func(s *scene) { s.After(latencyMin/2, func() { s.Kill("c1") }) },
		"in a sleep":               func(s *scene) { s.After(time.Second, func() { s.Kill("c1") }) },
		"in a pause": func(s *scene) {
			s.After(0, func() { s.Pause("c1") })
			s.After(time.Second, func() { s.Kill("c1") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			deferred := false
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				defer func() {
					deferred = true
					set(e, ctx) // must unwind again, and send nothing
					t.Error("a dead client's request came back")
				}()
				if err := set(e, ctx); err != nil {
					return err
				}
				return e.Host.Sleep(ctx, time.Minute)
			}, "c1")
			at(s)
			seen := s.run(t, time.Hour)
			if last := seen[len(seen)-1]; !strings.HasSuffix(last, "c1 ends: "+cluster.ErrCrashed.Error()) {
				t.Errorf("the last thing seen is %q", last)
			}
			if name != "in a pause" && !deferred {
				t.Error("the client's deferred calls did not run")
			}
		})
	}
}

func TestARequestArrivesAfterItsClientGaveUp(t *testing.T) {
	s := newScene(set, "c1")
	s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Slow, Delay: 5 * time.Second})
	s.Go(func() { s.Sleep(10 * time.Second) })
	want(t, s.run(t, time.Minute), "2.5s c1 ends: no answer in time", "5s grant by 1")
}

func TestAPartitionHoldsAndDeliversInOrder(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		for range 3 {
			// Each goes on the same connection only if the one before was answered.
			if err := set(e, ctx); err != nil {
				return err
			}
		}
		return nil
	}, "c1", "c2")
	s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Action: faults.Hold})
	s.After(time.Second, func() {
		if hits, _ := s.Restore(1); hits != 1 {
			t.Errorf("%d messages were held", hits)
		}
	})
	want(t, s.run(t, time.Minute),
		"0s grant by 2", "0s c2 ends: <nil>", "1s c1 ends: <nil>")
}

func TestASwallowedReplyLeavesTheConnectionSilent(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		first := set(e, ctx)
		if _, err := e.Redis.Del(ctx, 0, "a"); err != nil { // on a connection of its own
			return err
		}
		return first
	}, "c1")
	s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Swallow})
	want(t, s.run(t, time.Minute), "0s grant by 1", "2.5s remove by 1", "2.5s c1 ends: no answer in time")
}

func TestAResetConnectionIsAnUncertainAnswerAtOnce(t *testing.T) {
	for direction, effects := range map[faults.Direction][]string{
		faults.ToServer: {"0s c1 ends: connection reset by peer"},
		faults.ToClient: {"0s grant by 1", "0s c1 ends: connection reset by peer"},
	} {
		s := newScene(set, "c1")
		s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: direction, Action: faults.Reset})
		want(t, s.run(t, time.Minute), effects...)
	}
}

func TestAStoppedServerRefusesConnections(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		if err := e.Host.Sleep(ctx, time.Second); err != nil {
			return err
		}
		err := set(e, ctx)
		if !locks.IsDefinite(err) {
			t.Errorf("the request was never sent, and its error %v is not definite", err)
		}
		if err := e.Host.Sleep(ctx, 5*time.Second); err != nil {
			return err
		}
		return set(e, ctx)
	}, "c1")
	s.After(0, func() { s.Stop("redis-1", true) })
	s.After(2*time.Second, func() { s.Start("redis-1") })
	want(t, s.run(t, time.Minute), "6s grant by 1", "6s c1 ends: <nil>")
}

func TestAnEntryExpiresOnTimeByTheServersClock(t *testing.T) {
	for name, c := range map[string]struct {
		jump time.Duration
		want string
	}{
		"right":        {0, "5.001s expire by 0"},
		"set forward":  {3 * time.Second, "2.001s expire by 0"},
		"set far":      {time.Hour, "1s expire by 0"},
		"set backward": {-2 * time.Second, "7.001s expire by 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				_, err := e.Redis.SetIfAbsent(ctx, 0, "a", "v", 5*time.Second)
				return err
			}, "c1")
			s.After(time.Second, func() { s.Jump("redis-1", c.jump) })
			s.Go(func() { s.Sleep(10 * time.Second) })
			want(t, s.run(t, time.Minute), "0s grant by 1", "0s c1 ends: <nil>", c.want)
		})
	}
}

func TestAnOperationHasABudget(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		for {
			if _, _, err := e.Redis.Get(ctx, 0, "a"); err != nil {
				return err
			}
		}
	}, "c1")
	want(t, s.run(t, time.Hour), "600ms c1 ends: "+cluster.ErrBudget.Error())
}

func TestASpinThatCostsNoTimeEnds(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		for e.Host.Sleep(ctx, 0) == nil {
			s := e.Host.Mono()
			if s > time.Second {
				break
			}
			if _, _, err := e.Redis.Get(ctx, 0, "a"); err != nil {
				return err
			}
		}
		return errors.New("a second is over")
	}, "c1")
	s.run(t, time.Hour)
}

func TestNamesOfChoicesAreReadAsTheyAreWritten(t *testing.T) {
	for _, n := range []Name{{"latency", "c2→redis-1", 14}, {"think", "c1", 1}} {
		got, err := ParseName(n.String())
		if err != nil || got != n {
			t.Errorf("%v is read as %v, %v", n, got, err)
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	s := newScene(nil, "c1")
	s.Go(func() {
		for range b.N {
			s.Sleep(time.Millisecond)
		}
	})
	b.ReportAllocs()
	for s.alive > 0 {
		s.events = 0
		if s.Run() == nil {
			break
		}
	}
}
