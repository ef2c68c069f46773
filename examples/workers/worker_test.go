// Package workers_test proves that the example workers are what their READMEs
// say.
package workers_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// The lock of each worker of one page excludes others. When its lease has ended a release
// says so, and takes nothing from the next holder; with --del it does.
func TestWorkers(t *testing.T) {
	dockertest.Require(t)
	// A go run on an empty cache would take longer than init may.
	compiled := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.Command("go", "build", "-o", compiled, "./go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, command := range []string{"python3 python/worker.py", "python3 python/worker.py --del", "node node/worker.js", "java java/Worker.java", compiled} {
		t.Run(strings.Replace(command, compiled, "go/worker.go", 1), func(t *testing.T) {
			t.Parallel()
			worker, del := strings.Fields(command), strings.HasSuffix(command, "--del")
			dockertest.Program(t, worker[0])
			const lease = 2 * time.Second
			p, err := docker.New(t.Context(), env.Config{
				Lease: lease, Clients: []string{"c1", "c2"}, Names: []string{"a"}, Worker: worker,
			}, &resource{}, docker.Options{Log: t.Output()})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.Go(func() {
				c1, c2 := p.Client("c1"), p.Client("c2")
				g, err := c1.Acquire(env.Op{Index: 1, Lock: "a"}, 10*time.Second)
				if err != nil || g.ValidUntil <= 0 || g.ValidUntil > p.Now()+lease {
					t.Errorf("acquire: %v, %v", g, err)
				}
				if err := c1.Write(env.Op{Index: 2, Lock: "a", Acquire: 1}, 3); err != nil {
					t.Error(err)
				}
				if v, err := c1.Read(env.Op{Index: 3, Lock: "a", Acquire: 1}); v != 3 || err != nil {
					t.Errorf("read %d, %v", v, err)
				}
				if _, err := c2.Acquire(env.Op{Index: 4, Lock: "a"}, lease/5); !errors.Is(err, locks.ErrNotAcquired) {
					t.Errorf("second acquire: %v", err)
				}
				if _, err := c2.Acquire(env.Op{Index: 5, Lock: "a"}, time.Minute); err != nil {
					t.Errorf("acquire after the lease: %v", err)
				}
				if err := c1.Release(env.Op{Index: 6, Lock: "a", Acquire: 1}); del != (err == nil) {
					t.Errorf("late release: %v", err)
				}
				if err := c2.Release(env.Op{Index: 7, Lock: "a", Acquire: 5}); del == (err == nil) {
					t.Errorf("release after another's: %v", err)
				}
				if err := p.Stop("redis-1", true); err != nil {
					t.Error(err)
				}
				// The first request goes out on a connection that has ended; the next has no connection.
				if _, err := c1.Acquire(env.Op{Index: 8, Lock: "a"}, lease); err == nil || locks.IsDefinite(err) {
					t.Errorf("acquire from a server that is gone: %v", err)
				}
				if _, err := c1.Acquire(env.Op{Index: 9, Lock: "a"}, lease); !locks.IsDefinite(err) {
					t.Errorf("acquire without a server: %v", err)
				}
			})
			if err := p.Run(); err != nil {
				t.Error(err)
			}
			if !slices.Contains(p.Observes(), "ownership") {
				t.Error("the worker declares its entries, and they are not observed")
			}
		})
	}
}

// A release of redis-py that got no answer cannot be repeated: the Lock has forgotten its
// token. Without a timeout, the default, the lock is never free again; with one it is free
// when that is over. docs/findings.md has this finding.
func TestRedisPyCannotRepeatARelease(t *testing.T) {
	dockertest.Require(t)
	dockertest.Module(t, "redis")
	for _, forever := range []bool{false, true} {
		worker := []string{dockertest.Python, "libraries/redis_py.py"}
		if forever {
			worker = append(worker, "--forever")
		}
		t.Run(worker[len(worker)-1], func(t *testing.T) {
			const lease = time.Second
			p, err := docker.New(t.Context(), env.Config{
				Lease: lease, Clients: []string{"c1", "c2"}, Names: []string{"a"}, Worker: worker,
			}, &resource{}, docker.Options{Log: t.Output()})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.Go(func() {
				c1, c2 := p.Client("c1"), p.Client("c2")
				if _, err := c1.Acquire(env.Op{Index: 1, Lock: "a"}, 10*time.Second); err != nil {
					t.Errorf("acquire: %v", err)
				}
				if err := p.Stop("redis-1", false); err != nil {
					t.Error(err)
				}
				if err := c1.Release(env.Op{Index: 2, Lock: "a", Acquire: 1}); err == nil || locks.IsDefinite(err) {
					t.Errorf("release without a server: %v", err)
				}
				if err := p.Start("redis-1"); err != nil {
					t.Error(err)
				}
				if err := c1.Release(env.Op{Index: 3, Lock: "a", Acquire: 1}); err == nil || !strings.Contains(err.Error(), "Cannot release an unlocked lock") {
					t.Errorf("second release: %v", err)
				}
				if _, err := c2.Acquire(env.Op{Index: 4, Lock: "a"}, 5*lease); forever != errors.Is(err, locks.ErrNotAcquired) {
					t.Errorf("acquire after that: %v", err)
				}
			})
			if err := p.Run(); err != nil {
				t.Error(err)
			}
		})
	}
}

// resource is an observer that only keeps a value.
type resource struct {
	mu    sync.Mutex
	value int64
}

func (r *resource) Resource(a env.Access) env.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Write {
		r.value = a.Value
	}
	return env.Answer{Value: r.value}
}
func (*resource) Point(string, env.Op, faults.Point) {}
func (*resource) Server(history.Entry)               {}
func (*resource) Report(history.Entry)               {}
func (*resource) Enter(string, env.Grant) env.Op     { return env.Op{} }
func (*resource) Section(string, env.Op)             {}
