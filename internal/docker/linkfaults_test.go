package docker_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// A held link keeps messages and connections. Messages arrive when the link is
// restored, though the client has given up long ago.
func TestHold(t *testing.T) {
	t.Parallel()
	w := &witness{}
	observed(t, setup{lease: 2 * time.Second, lock: "redis-setnx"}.run(t, w, func(p *docker.Environment) {
		must(t, p.Impair(1, faults.Impairment{Client: "c1", Server: redis1, Direction: faults.ToServer, Action: faults.Hold}))
		_, err := p.Client("c1").Acquire(op(1), time.Second) // on a new connection: not even its greeting passes
		if !locks.IsDefinite(err) {
			t.Errorf("acquire that could not greet: %v", err)
		}
		restore(t, p, 1)
		acquire(t, p.Client("c1"), op(2), time.Second)
		must(t, p.Client("c1").Release(op(3)))

		must(t, p.Impair(2, faults.Impairment{Client: "c1", Server: redis1, Direction: faults.ToServer, Action: faults.Hold}))
		_, err = p.Client("c1").Acquire(op(4), time.Second)
		if err == nil || locks.IsDefinite(err) {
			t.Errorf("acquire whose request is held: %v", err)
		}
		w.add("restored")
		restore(t, p, 2)
		if _, err := p.Client("c2").Acquire(op(5), 300*time.Millisecond); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("acquire after a late grant to another: %v", err)
		}
	}))
	wantLines(t, w, "grant a of 2 by 2", "remove a of 2 by 3", "restored", "grant a of 4 by 4")
}

func TestSlow(t *testing.T) {
	t.Parallel()
	const rounds, delay = 5, 100 * time.Millisecond
	setup{lease: 20 * time.Second}.run(t, &witness{}, func(p *docker.Environment) {
		c1 := p.Client("c1")
		// quickest returns the duration of the fastest of several acquires and
		// releases, the one that the machine delayed least.
		quickest := func(first int) time.Duration {
			least := time.Hour
			for i := range rounds {
				before := p.Now()
				acquire(t, c1, op(first+2*i), 10*time.Second)
				must(t, c1.Release(op(first+2*i+1)))
				least = min(least, p.Now()-before)
			}
			return least
		}
		quickest(1) // it is connected from now on
		must(t, p.Impair(1, faults.Impairment{Client: "c1", Server: redis1, Action: faults.Slow, Delay: delay}))
		slow := quickest(101)
		if hits, err := p.Restore(1); hits != 4*rounds || err != nil {
			t.Errorf("touched %d, %v", hits, err)
		}
		again := quickest(201)
		t.Logf("slow: %v, restored: %v", slow, again)
		if slow < 4*delay || slow > 8*delay {
			t.Errorf("4 messages over a link that is slow by %v took %v", delay, slow)
		}
		if again >= 4*delay {
			t.Errorf("over the restored link they took %v", again)
		}
	})
}

// The first reply is lost after the server has executed the request. That connection
// stays silent, but other connections work.
func TestSwallowAndReset(t *testing.T) {
	t.Parallel()
	for _, action := range []faults.Action{faults.Swallow, faults.Reset} {
		for _, to := range []faults.Direction{faults.ToClient, faults.ToServer} {
			t.Run(fmt.Sprint(action, to), func(t *testing.T) {
				t.Parallel()
				w := &witness{}
				lease := 2 * time.Second // a client's timeout is a quarter of it
				if action == faults.Reset {
					lease = 2 * time.Minute // longer than the test
				}
				setup{lease: lease, lock: "redis-setnx"}.run(t, w, func(p *docker.Environment) {
					c1 := p.Client("c1")
					must(t, p.Impair(1, faults.Impairment{Client: "c1", Server: redis1, Direction: to, Action: action}))
					before := p.Now()
					_, err := c1.Acquire(op(1), time.Second)
					if err == nil || locks.IsDefinite(err) {
						t.Errorf("acquire: %v", err)
					}
					if took := p.Now() - before; (action == faults.Reset) != (took < lease/4) {
						t.Errorf("the acquire took %v", took)
					}
					_, err = c1.Acquire(op(2), time.Second)
					if want := to == faults.ToServer; (err == nil) != want {
						t.Errorf("second acquire: %v", err)
					}
					if hits, err := p.Restore(1); hits != 1 || err != nil {
						t.Errorf("touched %d, %v", hits, err)
					}
				})
				granted := 1
				if to == faults.ToServer {
					granted = 2
				}
				wantLines(t, w, fmt.Sprintf("grant a of %d by %d", granted, granted))
			})
		}
	}
}

// The guarded resource is behind a link, too: an access that its client has given up
// arrives later.
func TestResourceLink(t *testing.T) {
	t.Parallel()
	w := &witness{access: nil}
	w.access = func(a env.Access) { w.add("write of %d by %d", a.Value, a.By) }
	setup{lease: 2 * time.Second}.run(t, w, func(p *docker.Environment) {
		c1 := p.Client("c1")
		must(t, p.Impair(1, faults.Impairment{Client: "c1", Server: history.Resource, Direction: faults.ToServer, Action: faults.Hold}))
		if err := c1.Write(op(1), 5); !errors.Is(err, env.ErrTimeout) {
			t.Errorf("a write that is held: %v", err)
		}
		w.add("given up")
		must(t, p.Client("c2").Write(op(2), 6))
		_, err := p.Restore(1)
		must(t, err)
		eventually(t, p, patience, "the held write arrives", func() bool { return len(w.told()) == 3 })
		must(t, p.Impair(2, faults.Impairment{Client: "c1", Server: history.Resource, Direction: faults.ToClient, Action: faults.Swallow}))
		if err := c1.Write(op(3), 7); !errors.Is(err, env.ErrTimeout) {
			t.Errorf("a write whose answer is lost: %v", err)
		}
		must(t, c1.Write(op(4), 8))
		must(t, p.Impair(3, faults.Impairment{Client: "c1", Server: history.Resource, Direction: faults.ToServer, Action: faults.Reset}))
		if err := c1.Write(op(5), 9); err == nil || locks.IsDefinite(err) {
			t.Errorf("a write that is reset: %v", err)
		}
	})
	wantLines(t, w, "given up", "write of 6 by 2", "write of 5 by 1", "write of 7 by 3", "write of 8 by 4")
}
