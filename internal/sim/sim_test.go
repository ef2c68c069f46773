package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is a world whose clients have a test's lock, and the observations in it.
type scene struct {
	*World
	seen []string
	at   func(client string, p faults.Point)
}

func (s *scene) note(format string, args ...any) {
	s.seen = append(s.seen, fmt.Sprintf("%v ", s.now.Truncate(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (s *scene) Enter(client string, g env.Grant) env.Op {
	s.note("%s enters uncalled, on %d", client, g.Stands)
	return env.Op{Index: 100, Acquire: 100, Lock: "a"}
}

func (s *scene) Section(client string, op env.Op) {
	s.Sleep(time.Second)
	_, err := s.Client(client).Read(op)
	s.note("%s leaves: %v", client, err)
}

// onPoint lets f act at the clients' points. Without it no point is announced,
// and a client checks for pauses only where it waits.
func (s *scene) onPoint(f func(client string, p faults.Point)) {
	s.at = f
	for _, c := range s.clients {
		c.armed = true
	}
}

func (s *scene) Point(client string, _ env.Op, p faults.Point) { s.at(client, p) }
func (s *scene) Server(e history.Entry)                        { s.note("%s by %d", e.F, e.By.V) }
func (s *scene) Report(history.Entry)                          {}
func (s *scene) Resource(a env.Access) env.Answer {
	s.note("resource %s %v", a.Client, a.Write)
	return env.Answer{Value: a.Value}
}

// newScene returns a world with the given clients, each with a lock that calls
// acquire. Every choice is the least disturbing one: a latency is 0.1 ms.
func newScene(acquire func(catalogue.Env, context.Context) error, clients ...string) *scene {
	return newSceneWith(catalogue.Options{}, nil, acquire, clients...)
}

// newSceneWith also takes options and choices.
func newSceneWith(o catalogue.Options, choices []env.Choice, acquire func(catalogue.Env, context.Context) error, clients ...string) *scene {
	s := &scene{}
	cfg := configOf(catalogue.StoreRedis, acquire, clients...)
	cfg.Options = o
	s.World = New(cfg, s, replayOf(choices...))
	return s
}

// configOf returns the configuration of a scene with a T of 10 s.
func configOf(store catalogue.Store, acquire func(catalogue.Env, context.Context) error, clients ...string) env.Config {
	return env.Config{
		Lock: catalogue.Lock{
			ID: "of a test", Steps: catalogue.Requests{Acquire: 1, Release: 1}, Store: store,
			New: func(e catalogue.Env) locks.Locker { return lockFunc{e, acquire} },
		},
		Lease: 10 * time.Second, Clients: clients, Names: []string{"a"},
	}
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

// run lets each client acquire once and returns the observations.
func (s *scene) run(t *testing.T, timeout time.Duration) []string {
	t.Helper()
	for i, c := range s.cfg.Clients {
		s.Go(func() {
			_, err := s.Client(c).Acquire(env.Op{Index: i + 1, Acquisition: 1, Lock: "a"}, timeout)
			s.note("%s ends: %v", c, err)
		})
	}
	must(t, s.Run())
	return s.seen
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("saw\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func set(e catalogue.Env, ctx context.Context) error {
	_, err := e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", 0)
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
	s.After(latencyMin/2, func() { s.Pause("c1") }) // while its request is under way
	s.After(5*time.Second, func() { s.Resume("c1") })
	// The reply waits in the kernel's buffer beyond the request's timeout of T/4.
	want(t, s.run(t, time.Minute), "0s grant by 1", "6s c1 ends: <nil>")
}

func TestAPauseAtAPointHoldsBackTheRequest(t *testing.T) {
	s := newScene(set, "c1")
	s.onPoint(func(_ string, p faults.Point) {
		if !p.After {
			s.Pause("c1")
			s.After(5*time.Second, func() { s.Resume("c1") })
		}
	})
	want(t, s.run(t, time.Minute), "5s grant by 1", "5s c1 ends: <nil>")
}

func TestAKilledClientEndsWhereverItIs(t *testing.T) {
	for name, at := range map[string]func(*scene){
		"before a request": func(s *scene) {
			s.onPoint(func(_ string, p faults.Point) {
				if !p.After {
					s.Kill("c1")
				}
			})
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
			if last := seen[len(seen)-1]; !strings.HasSuffix(last, "c1 ends: "+env.ErrCrashed.Error()) {
				t.Errorf("the last observation is %q", last)
			}
			if name != "in a pause" && !deferred {
				t.Error("the client's deferred calls did not run")
			}
		})
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
	if err := s.Run(); err != nil {
		b.Fatal(err)
	}
}
