package docker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// callerArgument makes this program a worker whose lock is a caller.
const callerArgument = "caller"

// caller is a lock that calls the critical section itself, in the way of its name. It
// uses a lock of the catalogue, or nothing if there are no servers.
type caller struct {
	locks.Locker
	host locks.Host
	way  string
}

// nothing is a lock that grants everything.
type nothing struct{}

func (nothing) Acquire(context.Context, string) (locks.Lease, error) { return nothing{}, nil }
func (nothing) Release(context.Context) error                        { return nil }
func (nothing) Close(context.Context) error                          { return nil }

func newCaller(way string) worker.Factory {
	return func(s worker.Setup) (locks.Locker, func() error, error) {
		if len(s.Init.Targets) == 0 {
			return caller{nothing{}, s.Host, way}, func() error { return nil }, nil
		}
		l, done, err := worker.Catalogue(s)
		return caller{l, s.Host, way}, done, err
	}
}

func (c caller) Run(ctx context.Context, name string, critical func(context.Context, locks.Lease)) error {
	switch c.way {
	case "never":
		return nil
	case "late":
		if c.host.Sleep(ctx, time.Second) != nil {
			return locks.ErrNotAcquired
		}
	}
	lease, err := c.Acquire(ctx, name)
	if err != nil {
		return err
	}
	enter := func() { critical(c.host.Life(), lease) }
	beside := c.host.Go(func(ctx context.Context) {
		switch c.way {
		case "twice":
			enter()
		case "loses":
			c.host.Report(locks.News{})
		case "exit":
			c.host.Sleep(ctx, time.Second)
			os.Exit(3)
		}
	})
	enter()
	beside.Wait()
	if c.way == "slow" {
		c.host.Sleep(ctx, 2*time.Second)
	}
	return lease.Release(c.host.Life())
}

// callers returns a setup with such a lock, without servers.
func callers(way string) setup {
	return setup{own: []string{os.Args[0], callerArgument, way}, bare: true}
}

// within returns an operation of a client that holds the grant of an acquire.
func within(index, acquire int) env.Op {
	o := op(index)
	o.Acquire = acquire
	return o
}

// waits fails the test unless an acquire goes on waiting.
func waits(t *testing.T, c env.Client, o env.Op) {
	t.Helper()
	if _, err := c.Acquire(o, 50*time.Millisecond); !errors.Is(err, env.ErrWaits) {
		t.Errorf("acquire %d: %v", o.Index, err)
	}
}

// The first entry of a run is the grant that its caller waits for, and the rest after
// its end is the release. An abandoned run still enters, and its requests cannot be
// told apart from those of the next one.
func TestARunIsAnAcquireAndARelease(t *testing.T) {
	t.Parallel()
	for _, abandons := range []bool{false, true} {
		t.Run(fmt.Sprint("abandons: ", abandons), func(t *testing.T) {
			t.Parallel()
			w := &witness{during: func(env.Op) {}}
			w.access = func(a env.Access) { w.add("access by %d", a.By) }
			w.enter = func(env.Grant) env.Op { return op(10) }
			s := callers("once")
			s.bare, s.lease = false, unhurried
			observes := s.run(t, w, func(p *docker.Environment) {
				c1, c2 := p.Client("c1"), p.Client("c2")
				g := acquire(t, c1, op(1), time.Second)
				if left := g.ValidUntil - p.Now(); left <= 0 || left > unhurried {
					t.Errorf("valid for %v", left)
				}
				waits(t, c2, op(2))
				second := 2
				if abandons {
					second = 3
					c2.(env.Patient).Abandon(op(2))
				}
				waits(t, c2, op(second))
				must(t, c1.Write(within(4, 1), 7))
				must(t, c1.Release(within(5, 1)))
				if err := c1.Release(within(6, 1)); !errors.Is(err, locks.ErrNotHeld) {
					t.Errorf("a second release: %v", err)
				}
				acquire(t, c2, op(second), 5*time.Second)
				must(t, c2.Release(within(7, second)))
			})
			if (observes == nil) != abandons {
				t.Errorf("observes %v", observes)
			}
			if !abandons {
				wantLines(t, w, "grant a of 1 by 1", "access by 4", "remove a of 1 by 5", "grant a of 2 by 2", "remove a of 2 by 7")
			}
		})
	}
}

// A run has points up to its entry and after it.
func TestPointsOfARun(t *testing.T) {
	t.Parallel()
	w := &witness{}
	w.point = func(_ string, op env.Op, p faults.Point) { w.add("%d: %v", op.Index, p) }
	s := callers("once")
	s.bare = false
	for _, f := range []string{history.Acquire, history.Release} {
		s.schedule = append(s.schedule, faults.Injection{
			Fault: "pause", On: []string{"c1"}, Point: &faults.Point{Client: "c1", Acquisition: 1, Op: f, Request: 1},
		})
	}
	s.run(t, w, func(p *docker.Environment) {
		c1 := p.Client("c1")
		acquire(t, c1, op(1), time.Second)
		must(t, c1.Release(within(2, 1)))
	})
	wantLines(t, w, "1: c1 acquire: before request 1, SET", "grant a of 1 by 1", "2: c1 release: before request 1, script", "remove a of 1 by 2")
}

// Another entry is a grant on the run's own entries in the store. The harness goes
// through it beside the caller, even while the client hangs. The release waits for it.
func TestAnUnrequestedEntry(t *testing.T) {
	t.Parallel()
	w := &witness{}
	w.access = func(a env.Access) { w.add("access by %d of %d", a.By, a.Grant) }
	w.enter = func(g env.Grant) env.Op {
		w.add("stands on %d", g.Stands)
		return env.Op{Index: 10, Lock: "a", Grant: 2, Acquire: 10}
	}
	callers("twice").run(t, w, func(p *docker.Environment) {
		c1 := p.Client("c1")
		hangs, ends := make(chan bool), make(chan bool)
		w.during = func(acquire env.Op) {
			<-hangs
			_, err := c1.Read(env.Op{Index: 11, Lock: "a", Grant: 2, Acquire: acquire.Index})
			must(t, err)
			<-ends
			w.add("is over")
		}
		acquire(t, c1, op(1), time.Second)
		must(t, p.Hang("c1"))
		hangs <- true
		eventually(t, p, patience, "it reads", func() bool { return len(w.told()) == 2 })
		must(t, p.Unhang("c1"))
		released := async(func() {
			must(t, c1.Release(within(3, 1)))
			w.add("released")
		})
		p.Sleep(50 * time.Millisecond)
		ends <- true
		released()
	})
	wantLines(t, w, "stands on 1", "access by 11 of 2", "is over", "released")
}

// An abandoned run still enters, unless its lock can be cancelled.
func TestAnAbandonedRun(t *testing.T) {
	t.Parallel()
	for _, givesUp := range []bool{false, true} {
		t.Run(fmt.Sprint("the lock gives up: ", givesUp), func(t *testing.T) {
			t.Parallel()
			w := &witness{during: func(env.Op) {}}
			w.enter = func(g env.Grant) env.Op {
				w.add("stands on %d", g.Stands)
				return op(10)
			}
			s := callers("late")
			s.givesUp = givesUp
			s.run(t, w, func(p *docker.Environment) {
				c1 := p.Client("c1")
				waits(t, c1, op(1))
				c1.(env.Patient).Abandon(op(1))
				acquire(t, c1, op(2), 10*time.Second)
				must(t, c1.Release(within(3, 2)))
			})
			if entered := len(w.told()) > 0; entered == givesUp {
				t.Errorf("%q", w.told())
			}
		})
	}
}

// News about a run's grant is reported for the acquire that got it.
func TestNewsOfARun(t *testing.T) {
	t.Parallel()
	w := &witness{}
	told := make(chan history.Entry, 9)
	w.report = func(e history.Entry) { told <- e }
	callers("loses").run(t, w, func(p *docker.Environment) {
		c1 := p.Client("c1")
		acquire(t, c1, op(7), time.Second)
		if e := <-told; e.F != history.Lost || e.Op.V != 7 || e.Lock != "a" {
			t.Errorf("%s of %d", e.F, e.Op.V)
		}
		must(t, c1.Release(within(8, 7)))
	})
}

// A release that takes too long may have happened. Its client goes on, and the answer
// is late.
func TestALateReleaseOfARun(t *testing.T) {
	t.Parallel()
	w := &witness{}
	s := callers("slow")
	s.lease = 100 * time.Millisecond
	s.run(t, w, func(p *docker.Environment) {
		c1 := p.Client("c1")
		acquire(t, c1, op(1), 5*time.Second)
		if err := c1.Release(within(2, 1)); !errors.Is(err, env.ErrTimeout) {
			t.Errorf("release: %v", err)
		}
		acquire(t, c1, op(3), 5*time.Second)
		eventually(t, p, patience, "the answer comes", func() bool { return len(w.told()) == 1 })
	})
	wantLines(t, w, "c1 late")
}

// Runs may fail in several ways.
func TestRunsThatBreak(t *testing.T) {
	t.Parallel()
	t.Run("without an entry", func(t *testing.T) {
		t.Parallel()
		callers("never").run(t, &witness{}, func(p *docker.Environment) {
			_, err := p.Client("c1").Acquire(op(1), time.Second)
			if err == nil || locks.IsDefinite(err) || !strings.Contains(err.Error(), "has not called") {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("by the end of the worker", func(t *testing.T) {
		t.Parallel()
		callers("exit").run(t, &witness{}, func(p *docker.Environment) {
			c1 := p.Client("c1")
			acquire(t, c1, op(1), time.Second)
			crashed := func(err error) bool {
				return errors.Is(err, env.ErrCrashed) && strings.Contains(err.Error(), "exit status 3")
			}
			var err error
			eventually(t, p, patience, "a read fails", func() bool {
				_, err = c1.Read(within(2, 1))
				return err != nil
			})
			if !crashed(err) {
				t.Errorf("read: %v", err)
			}
			if err := c1.Release(within(3, 1)); !crashed(err) {
				t.Errorf("release: %v", err)
			}
		})
	})
	t.Run("by a kill, in two entries", func(t *testing.T) {
		t.Parallel()
		w := &witness{enter: func(env.Grant) env.Op { return op(10) }}
		callers("twice").run(t, w, func(p *docker.Environment) {
			c1 := p.Client("c1")
			var read error
			inside, killed, over := make(chan bool), make(chan bool), make(chan bool)
			w.during = func(acquire env.Op) {
				close(inside)
				<-killed
				_, read = c1.Read(within(11, acquire.Index))
				close(over)
			}
			acquire(t, c1, op(1), time.Second)
			<-inside
			must(t, p.Kill("c1"))
			close(killed)
			<-over
			if err := c1.Release(within(3, 1)); !errors.Is(err, env.ErrCrashed) || !errors.Is(read, env.ErrCrashed) {
				t.Errorf("release: %v; read: %v", err, read)
			}
		})
	})
}

// A caller's timeout does not end while its client is stopped.
func TestARunOfAStoppedClient(t *testing.T) {
	t.Parallel()
	callers("once").run(t, &witness{}, func(p *docker.Environment) {
		must(t, p.Pause("c1"))
		var goesOn time.Duration
		p.After(300*time.Millisecond, func() {
			goesOn = p.Now()
			must(t, p.Resume("c1"))
		})
		_, err := p.Client("c1").Acquire(op(1), 50*time.Millisecond)
		if err != nil && !errors.Is(err, env.ErrWaits) || p.Now() < 300*time.Millisecond {
			t.Errorf("%v, and the client goes on at %v", err, goesOn)
		}
	})
}
