package docker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// witness is an observer that records.
type witness struct {
	mu     sync.Mutex
	lines  []string
	value  int64
	point  func(client string, op env.Op, p faults.Point)
	access func(env.Access)
	report func(history.Entry)
	enter  func(env.Grant) env.Op
	during func(env.Op) // an unrequested critical section
	names  bool         // prefix lines with the server's name
}

func (w *witness) Enter(_ string, g env.Grant) env.Op { return w.enter(g) }
func (w *witness) Section(_ string, acquire env.Op)   { w.during(acquire) }

func (w *witness) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *witness) Point(client string, op env.Op, p faults.Point) {
	if w.point != nil {
		w.point(client, op, p)
	}
}

func (w *witness) Server(e history.Entry) {
	by := "nobody"
	if e.By.Set {
		by = fmt.Sprint(e.By.V)
	}
	server := ""
	if w.names {
		server = e.Process.Name + ": "
	}
	if e.F == history.Promote {
		w.add("%spromote after %s", server, e.Text)
		return
	}
	w.add("%s%s %s of %d by %s", server, e.F, e.Key, e.Op.V, by)
}

func (w *witness) Resource(a env.Access) env.Answer {
	if w.access != nil {
		w.access(a)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Write {
		w.value = a.Value
	}
	return env.Answer{Value: w.value}
}

func (w *witness) Report(e history.Entry) {
	if w.report != nil {
		w.report(e)
	}
	w.add("%s %s", e.Client, e.F)
}

// told returns the lines so far.
func (w *witness) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lines)
}

// setup is an environment with two clients, and a script for it.
type setup struct {
	lock     string
	options  catalogue.Options
	server   catalogue.Server
	schedule []faults.Injection
	worker   []string // a user's
	own      []string // one of ours
	givesUp  bool     // the lock supports cancelling
	together int      // clients in one process; 0: one
	bare     bool     // without servers
	lease    time.Duration
	clients  []string
}

// rowsLock is not in the catalogue: its entries are rows, and its workers do nothing.
const rowsLock = "rows"

// open returns the environment, which the caller closes.
func (s setup) open(ctx context.Context, t *testing.T, w *witness) (p *docker.Environment) {
	t.Helper()
	if !s.bare {
		dockertest.Require(t)
	}
	if s.lock == "" {
		s.lock = "redis-set-lua"
	}
	if s.lease == 0 {
		s.lease = 2 * time.Second
	}
	if s.clients == nil {
		s.clients = []string{"c1", "c2"}
	}
	lock, ok := catalogue.FindLock(s.lock)
	if s.lock == rowsLock {
		lock = catalogue.Lock{ID: rowsLock, Store: catalogue.StoreMySQL}
	} else if !ok {
		t.Fatalf("no lock %q", s.lock)
	}
	lock.GivesUp, lock.Together = s.givesUp, s.together
	cfg := env.Config{
		Lock: lock, Options: s.options, Lease: s.lease, Clients: s.clients, Names: []string{"a"},
		Server: s.server, Seed: 1, Worker: s.worker, Schedule: s.schedule,
	}
	var err error
	if s.bare {
		p, err = docker.Serverless(ctx, cfg, w, s.own)
	} else {
		p, err = docker.New(ctx, cfg, w, docker.Options{Log: t.Output(), Worker: s.own})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs script as a task. It fails the test if the environment fails.
func (s setup) run(t *testing.T, w *witness, script func(*docker.Environment)) []string {
	t.Helper()
	p := s.open(t.Context(), t, w)
	defer func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	p.Go(func() { script(p) })
	must(t, p.Run())
	return p.Observes()
}

// op numbers operations like the harness.
func op(index int) env.Op {
	return env.Op{Index: index, Acquisition: 1, Lock: "a", Grant: 1, Acquire: index}
}

func wantLines(t *testing.T, w *witness, want ...string) {
	t.Helper()
	if got := w.told(); !slices.Equal(got, want) {
		t.Errorf("observed\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// A server's event always precedes the client's completion, and names its operations. No
// event reports a row that is only locked, and Observes claims nothing.
func TestServerEventsPrecedeCompletions(t *testing.T) {
	t.Parallel()
	several := []string{"redis-setnx", "redis-setnx-expire", "redis-set-del", "redis-set-get-del", "redis-set-lua", "zk-recipe"}
	for _, lock := range catalogue.Locks {
		if !slices.Contains(several, lock.ID) && (lock.Store != catalogue.StoreMySQL || lock.Together > 0) {
			continue
		}
		for _, options := range []catalogue.Options{{Token: true}, {}} {
			if !options.Token && lock.Store != catalogue.StoreRedis {
				continue
			}
			t.Run(lock.ID+" "+options.String(), func(t *testing.T) {
				t.Parallel()
				w := &witness{}
				reported := !lock.Hidden()
				key := map[bool]string{false: " a"}[lock.Store == catalogue.StoreZooKeeper] // nodes leaves out paths
				var want []string
				observes := setup{lock: lock.ID, lease: unhurried, options: options}.run(t, w, func(p *docker.Environment) {
					last := uint64(0)
					for i := range 40 {
						c, n := p.Client(fmt.Sprint("c", 1+i%2)), 2*i+1
						g, err := c.Acquire(op(n), patience)
						w.add("acquired %v", err)
						if options.Token && (g.Token <= last || lock.Store == catalogue.StoreRedis && g.Token != last+1) {
							t.Errorf("token %d after %d", g.Token, last)
						}
						last = g.Token
						err = c.Release(op(n + 1))
						w.add("released %v", err)
						if reported {
							want = append(want, fmt.Sprintf("grant%s of %d by %[2]d", key, n))
						}
						if lock.ID == "redis-setnx-expire" {
							want = append(want, fmt.Sprintf("shorten a of %d by %[1]d", n))
						}
						want = append(want, "acquired <nil>")
						if reported {
							want = append(want, fmt.Sprintf("remove%s of %d by %d", key, n, n+1))
						}
						want = append(want, "released <nil>")
					}
				})
				wantNodes(t, w, want...)
				if reported {
					observed(t, observes)
				} else if observes != nil {
					t.Errorf("observes %q", observes)
				}
			})
		}
	}
}

// A refused acquire returns "held". A deadline is that of the lock.
func TestAcquireRefused(t *testing.T) {
	t.Parallel()
	w := &witness{}
	setup{}.run(t, w, func(p *docker.Environment) {
		before := p.Now()
		g, err := p.Client("c1").Acquire(op(1), time.Second)
		after := p.Now()
		if err != nil {
			t.Fatal(err)
		}
		if until := g.ValidUntil - 2*time.Second; until < before-5*time.Millisecond || until > after {
			t.Errorf("valid from %v, acquired between %v and %v", until, before, after)
		}
		if _, err := p.Client("c2").Acquire(op(2), 100*time.Millisecond); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("second acquire: %v", err)
		}
		must(t, p.Client("c2").Write(op(3), 7))
		if v, err := p.Client("c1").Read(op(4)); v != 7 || err != nil {
			t.Errorf("read %d, %v", v, err)
		}
	})
}

// With five contending clients every completion still follows its cause.
func TestContention(t *testing.T) {
	t.Parallel()
	w := &witness{}
	clients := []string{"c1", "c2", "c3", "c4", "c5"}
	var next atomic.Int64
	observed(t, setup{clients: clients, lease: unhurried, options: catalogue.Options{Token: true}}.run(t, w, func(p *docker.Environment) {
		var all sync.WaitGroup
		for _, name := range clients {
			all.Go(func() {
				c := p.Client(name)
				for range 20 {
					acquire := int(next.Add(1))
					if _, err := c.Acquire(op(acquire), 10*time.Second); err != nil {
						t.Errorf("acquire: %v", err)
						return
					}
					w.add("acquired by %d", acquire)
					release := int(next.Add(1))
					if err := c.Release(op(release)); err != nil {
						t.Errorf("release: %v", err)
					}
					w.add("released %d by %d", acquire, release)
				}
			})
		}
		all.Wait()
	}))
	lines := w.told()
	for i, line := range lines {
		var acquire, release int
		cause := ""
		if n, _ := fmt.Sscanf(line, "acquired by %d", &acquire); n == 1 {
			cause = fmt.Sprintf("grant a of %d by %d", acquire, acquire)
		} else if n, _ := fmt.Sscanf(line, "released %d by %d", &acquire, &release); n == 2 {
			cause = fmt.Sprintf("remove a of %d by %d", acquire, release)
		}
		if cause != "" && !slices.Contains(lines[:i], cause) {
			t.Errorf("%q precedes %q", line, cause)
		}
	}
	if len(lines) != 400 {
		t.Errorf("%d lines", len(lines))
	}
}
