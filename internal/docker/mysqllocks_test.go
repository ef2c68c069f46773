package docker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
)

// Locks that are rows are reported before the client's answer. Locks of sessions are
// not reported, and Observes claims nothing.
func TestMySQLReportsBeforeTheClientsAnswer(t *testing.T) {
	t.Parallel()
	for _, lock := range catalogue.Locks {
		if lock.Store != catalogue.StoreMySQL || lock.Together > 0 {
			continue
		}
		t.Run(lock.ID, func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			var want []string
			observes := setup{lock: lock.ID, lease: unhurried, options: catalogue.Options{Token: true}}.run(t, w, func(p *docker.Environment) {
				last := uint64(0)
				start := time.Now()
				for i := range 20 {
					for k, name := range []string{"c1", "c2"} {
						c, n := p.Client(name), 4*i+2*k+1
						g, err := c.Acquire(op(n), patience)
						w.add("acquired %v", err)
						if g.Token <= last {
							t.Errorf("token %d after %d", g.Token, last)
						}
						last = g.Token
						err = c.Release(op(n + 1))
						w.add("released %v", err)
						if lock.Lease == catalogue.LeaseFixed {
							want = append(want, fmt.Sprintf("grant a of %d by %[1]d", n))
						}
						want = append(want, "acquired <nil>")
						if lock.Lease == catalogue.LeaseFixed {
							want = append(want, fmt.Sprintf("remove a of %d by %d", n, n+1))
						}
						want = append(want, "released <nil>")
					}
				}
				t.Logf("%v for each acquire and release", time.Since(start)/40)
			})
			wantNodes(t, w, want...)
			if told := slices.Contains(observes, "ownership"); told != (lock.Lease == catalogue.LeaseFixed) {
				t.Errorf("observes %q", observes)
			}
		})
	}
}

// A holder of such a lock keeps others out until its session is closed from elsewhere,
// or its server ends.
func TestMySQLHoldersLoseTheirSession(t *testing.T) {
	t.Parallel()
	for _, lock := range []string{"mysql-get-lock", "mysql-for-update"} {
		for name, end := range map[string]func(p *docker.Environment) error{
			"killed": func(p *docker.Environment) error { return p.ExpireSession("c1") },
			"restarted": func(p *docker.Environment) error {
				if err := p.Stop("mysql-1", false); err != nil {
					return err
				}
				return p.Start("mysql-1")
			},
		} {
			t.Run(lock+" "+name, func(t *testing.T) {
				t.Parallel()
				setup{lock: lock, lease: unhurried}.run(t, &witness{}, func(p *docker.Environment) {
					c1, c2 := p.Client("c1"), p.Client("c2")
					_, err := c1.Acquire(op(1), patience)
					must(t, err)
					if _, err := c2.Acquire(op(2), 300*time.Millisecond); err == nil {
						t.Error("both hold the lock")
					}
					must(t, end(p))
					_, err = c2.Acquire(op(3), patience)
					must(t, err)
					if err := c1.Release(op(4)); err == nil {
						t.Error("a release after the end of the session returns ok")
					}
					must(t, c2.Release(op(5)))
				})
			})
		}
	}
}

// A promotion is reported for locks without rows, too.
func TestPromotionsAreReportedWithoutObservedRows(t *testing.T) {
	t.Parallel()
	for _, lock := range []string{"mysql-get-lock", "mysql-for-update"} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			w := &witness{names: true}
			setup{lock: lock, lease: time.Second, server: catalogue.Server{Replicas: 1}}.run(t, w, func(p *docker.Environment) {
				must(t, p.Stop("mysql-1", true))
				promotion(t, p, w, 1)
			})
			wantLines(t, w, "mysql-1b: promote after mysql-1")
		})
	}
}
