package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

func TestTasksOfAClient(t *testing.T) {
	for name, c := range map[string]struct {
		lock func(catalogue.Env, context.Context) error
		want string
	}{
		"run side by side, and on connections of their own": {
			func(e catalogue.Env, _ context.Context) error {
				var got [3]bool
				var tasks []locks.Task
				for i := range got {
					tasks = append(tasks, e.Host.Go(func(ctx context.Context) {
						_, err := e.Redis[0].SetIfAbsent(ctx, 0, fmt.Sprint("k", i), "v", 0)
						got[i] = err == nil
					}))
				}
				for _, task := range tasks {
					task.Wait()
				}
				return fmt.Errorf("%v at %v", got, e.Host.Mono())
			},
			"c1 ends: [true true true] at 400µs", // two of them must connect first
		},
		"are woken when they are stopped": {
			func(e catalogue.Env, _ context.Context) (err error) {
				task := e.Host.Go(func(ctx context.Context) { err = e.Host.Sleep(ctx, time.Hour) })
				e.Host.Sleep(context.Background(), time.Second)
				task.Stop()
				task.Wait()
				return errors.Join(err, fmt.Errorf("at %v", e.Host.Mono()))
			},
			"1s c1 ends: context canceled\nat 1s",
		},
		"send nothing any more when they are stopped": {
			func(e catalogue.Env, _ context.Context) (err error) {
				task := e.Host.Go(func(ctx context.Context) { err = set(e, ctx) })
				task.Stop()
				task.Wait()
				return err
			},
			"c1 ends: context canceled",
		},
		"are waited for while they wait for an answer": {
			func(e catalogue.Env, _ context.Context) (err error) {
				task := e.Host.Go(func(ctx context.Context) { _, err = e.Redis[0].Del(ctx, 0, "a") })
				e.Host.Sleep(context.Background(), latencyMin)
				task.Stop()
				task.Wait()
				return err
			},
			"c1 ends: <nil>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(c.lock, "c1")
			got := s.run(t, time.Minute)
			if c.want[0] == 'c' {
				c.want = "0s " + c.want
			}
			want(t, got, c.want)
		})
	}
}

// The client's own clock shows how much time its caller has left. The end of a
// task's context is unknown.
func TestWhatIsLeft(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		e.Host.Sleep(ctx, 20*time.Second)
		left, ends := e.Host.Left(ctx)
		_, life := e.Host.Left(e.Host.Life())
		task := false
		e.Host.Go(func(ctx context.Context) { _, task = e.Host.Left(ctx) }).Wait()
		e.Host.Sleep(ctx, time.Hour)
		over, _ := e.Host.Left(ctx)
		return fmt.Errorf("%v %v, then %v; %v %v", left, ends, over, life, task)
	}, "c1")
	s.clients[0].clock.offset = time.Hour
	want(t, s.run(t, time.Minute), "1m0s c1 ends: 40s true, then 0s; false false")
}

// A run needs as many coroutines as it has tasks at the same time, not in
// sequence. Keeping a task that has ended does not affect the script that now
// uses its coroutine.
func TestTasksLeaveTheirCoroutines(t *testing.T) {
	var s *scene
	coroutines := 0
	s = newScene(func(e catalogue.Env, ctx context.Context) error {
		var before locks.Task
		for range 100 {
			var pair [2]locks.Task
			for i := range pair {
				pair[i] = e.Host.Go(func(ctx context.Context) {
					began := e.Host.Mono()
					if err := e.Host.Sleep(ctx, time.Second); err != nil || e.Host.Mono()-began < time.Second {
						t.Errorf("slept for %v: %v", e.Host.Mono()-began, err)
					}
				})
			}
			if before != nil {
				e.Host.Sleep(ctx, time.Millisecond)
				before.Stop()
				before.Wait()
			}
			before = pair[1]
			pair[0].Wait()
			pair[1].Wait()
		}
		coroutines = len(s.tasks)
		return nil
	}, "c1")
	want(t, s.run(t, time.Hour), "1m40s c1 ends: <nil>")
	if coroutines > 4 {
		t.Errorf("%d coroutines", coroutines)
	}
}

// ticking starts a task that deletes a key each second until it is stopped.
func ticking(e catalogue.Env, ctx context.Context) error {
	e.Host.Go(func(ctx context.Context) {
		for e.Host.Sleep(ctx, time.Second) == nil {
			e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", time.Second/2)
			e.Host.Report(locks.News{Until: e.Host.Mono() + time.Second})
		}
	})
	return nil
}

func TestFaultsAndBackgroundTasks(t *testing.T) {
	for name, c := range map[string]struct {
		start, end func(*group) error
		want       []string
	}{
		"a pause stops them": {
			func(g *group) error { return g.Pause("c1") }, func(g *group) error { return g.Resume("c1") },
			[]string{"3.5s redis-1 grant", "3.5s c1 valid until 4.5002s"},
		},
		"a hang does not": {
			func(g *group) error { return g.Hang("c1") }, func(g *group) error { return g.Unhang("c1") },
			[]string{"2s redis-1 grant", "2s c1 valid until 3.0004s", "2.501s redis-1 expire", "3s redis-1 grant", "3s c1 valid until 4.0006s", "3.501s redis-1 expire"},
		},
		"a kill ends them": {
			func(g *group) error { return g.Kill("c1") }, func(*group) error { return nil }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroupOn(catalogue.Server{}, ticking, "c1")
			g.Go(func() {
				_, err := g.Client("c1").Acquire(env.Op{Index: 1, Acquisition: 1, Lock: "a"}, time.Minute)
				must(t, err)
				g.Sleep(1600 * time.Millisecond)
				must(t, c.start(g))
				g.seen = nil
				g.Sleep(1900 * time.Millisecond)
				must(t, c.end(g))
				g.Sleep(100 * time.Millisecond)
			})
			must(t, g.Run())
			want(t, g.seen, c.want...)
		})
	}
}

// A hang at a point stops the task at that point, and with it the operation.
func TestAHangAtAPoint(t *testing.T) {
	s := newScene(set, "c1")
	s.onPoint(func(client string, p faults.Point) {
		if !p.After {
			must(t, s.Hang(client))
			s.After(time.Second, func() { must(t, s.Unhang(client)) })
		}
	})
	want(t, s.run(t, time.Minute), "1s grant by 1", "1s c1 ends: <nil>")
}

func TestClocksOfClients(t *testing.T) {
	read := func(e catalogue.Env, ctx context.Context) error {
		e.Host.Sleep(ctx, 2*time.Second)
		return fmt.Errorf("wall %v, mono %v", e.Host.Now().Sub(time.Unix(0, int64(epoch))), e.Host.Mono())
	}
	for name, c := range map[string]struct {
		set  func(*scene) error
		want string
	}{
		"right":               {func(*scene) error { return nil }, "2s c1 ends: wall 2s, mono 2s"},
		"a jump":              {func(s *scene) error { return s.Jump("c1", time.Hour) }, "2s c1 ends: wall 1h0m2s, mono 2s"},
		"there and back":      {func(s *scene) error { return errors.Join(s.Jump("c1", time.Hour), s.Jump("c1", -time.Hour)) }, "2s c1 ends: wall 2s, mono 2s"},
		"fast":                {func(s *scene) error { return s.Rate("c1", 10*time.Second) }, "1s c1 ends: wall 2s, mono 2s"},
		"slow":                {func(s *scene) error { return s.Rate("c1", -2*time.Second) }, "2.5s c1 ends: wall 2s, mono 2s"},
		"of another host":     {func(s *scene) error { return s.Rate("redis-1", 10*time.Second) }, "2s c1 ends: wall 2s, mono 2s"},
		"that runs backwards": {func(s *scene) error { s.note("%v", s.Rate("c1", -10*time.Second)); return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(read, "c1")
			must(t, c.set(s))
			got := s.run(t, time.Minute)
			if c.want != "" {
				want(t, got, c.want)
			} else if len(got) != 2 {
				t.Errorf("saw %q", got)
			}
		})
	}
}

// A deadline is reported in true time, and again when the client's clock changes.
func TestDeadlinesOfAClientWhoseClockIsWrong(t *testing.T) {
	g := newGroupOn(catalogue.Server{}, keeps(0), "c1")
	g.cfg.Lock.New = nil // c1 already has its lock, see below
	g.find("c1").locker = lastingLock{g.find("c1")}
	g.Go(func() {
		must(t, g.Rate("c1", 10*time.Second)) // twice as fast
		grant, err := g.Client("c1").Acquire(env.Op{Index: 1, Acquisition: 1, Lock: "a"}, time.Minute)
		must(t, err)
		g.note("until %v", grant.ValidUntil)
		g.Sleep(time.Second)
		must(t, g.Rate("c1", -10*time.Second)) // right again
		g.Sleep(time.Minute)
		must(t, g.Rate("c1", time.Second)) // the lease has ended by now
	})
	must(t, g.Run())
	want(t, g.seen, "0s until 5s", "1s c1 valid until 9s")
}

// lastingLock gives leases of ten seconds without asking a server.
type lastingLock struct{ c *client }

func (l lastingLock) Acquire(context.Context, string) (locks.Lease, error) {
	return lastsUntil(l.c.Mono() + 10*time.Second), nil
}
func (lastingLock) Close(context.Context) error { return nil }

type lastsUntil time.Duration

func (u lastsUntil) Until() time.Duration        { return time.Duration(u) }
func (lastsUntil) Release(context.Context) error { return nil }

// Converting a clock reading to true time and back gives the same reading.
func TestClock(t *testing.T) {
	for _, gain := range []time.Duration{0, time.Second / 10, -time.Second / 10, 7777, 9 * time.Second} {
		var k clock
		k.addGain(3*time.Second, gain, 10*time.Second)
		for _, shows := range []time.Duration{4 * time.Second, 4*time.Second + 1, 1000 * time.Hour} {
			at := k.when(shows)
			if k.mono(at) < shows || k.mono(at-1) >= shows {
				t.Errorf("gain %v: at %v it shows %v, and before %v; want %v", gain, at, k.mono(at), k.mono(at-1), shows)
			}
		}
	}
}
