package docker_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
)

// A holder of a lock of a session keeps others out until its session is closed from elsewhere,
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
					acquire(t, c1, op(1), patience)
					if _, err := c2.Acquire(op(2), 300*time.Millisecond); err == nil {
						t.Error("both hold the lock")
					}
					must(t, end(p))
					acquire(t, c2, op(3), patience)
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

// A primary that comes back after a loss of power has lost the holders of named locks, and
// its replica follows it again.
func TestNamedLocksEndWithTheirPrimary(t *testing.T) {
	t.Parallel()
	w := &witness{}
	observed(t, setup{lock: "mysql-get-lock", lease: 6 * unhurried, server: catalogue.Server{Replicas: 1}}.run(t, w, func(p *docker.Environment) {
		acquire(t, p.Client("c1"), op(1), patience)
		must(t, p.Stop("mysql-1", true))
		must(t, p.Start("mysql-1"))
		acquire(t, p.Client("c2"), op(2), patience)
		must(t, docker.Replicates(p, "mysql-1b"))
	}))
	wantLines(t, w, "grant a of 1 by 1", "lose a of 1 by nobody", "grant a of 2 by 2")
}
