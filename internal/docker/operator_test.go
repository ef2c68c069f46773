package docker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
)

// An operator removes the entry of a holder: the server reports it without a client, another
// client gets the lock, and the holder notices only its own release.
func TestAnOperatorRemovesAnEntry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lock, server, event string }{
		{"redis-set-lua", redis1, "remove a"},
		{"zk-recipe", "zk-1", "remove"}, // nodes leaves out paths
		{"mysql-fair-fixed", "mysql-1", "remove a"},
		{"mysql-get-lock", "mysql-1", "lose a"},
	} {
		t.Run(c.lock, func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			observed(t, setup{lock: c.lock, lease: unhurried}.run(t, w, func(p *docker.Environment) {
				c1, c2 := p.Client("c1"), p.Client("c2")
				must(t, p.Tamper(c.server, faults.Removal, 0)) // there is none
				acquire(t, c1, op(1), patience)
				must(t, p.Tamper(c.server, faults.Removal, 3))
				w.add("removed")
				acquire(t, c2, op(2), patience)
				if err := c1.Release(op(3)); err == nil {
					t.Error("the release of a lock without its entry is ok")
				}
				must(t, c2.Release(op(4)))
			}))
			_, key, _ := strings.Cut(c.event, " ")
			name := strings.TrimSuffix(" "+key, " ")
			wantNodes(t, w, "grant"+name+" of 1 by 1", c.event+" of 1 by nobody", "removed", "grant"+name+" of 2 by 2", "remove"+name+" of 2 by 4")
		})
	}
}

// An operator changes the entry of a holder: the server reports it without a client. What
// the operator has written is nobody's, and he does not choose it again.
func TestAnOperatorChangesAnEntry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lock, server string
		events       []string // after the grant
	}{
		{"redis-set-lua", redis1, []string{"takeover a of 1 by nobody", "changed"}},
		{"zk-recipe", "zk-1", []string{"change of 1 by nobody", "changed", "remove of 1 by 3"}}, // its release asks for no data
		{"mysql-fair-fixed", "mysql-1", []string{"takeover a of 1 by nobody", "changed"}},
		{"mysql-fair", "mysql-1", []string{"takeover a of 1 by nobody", "changed"}},
	} {
		t.Run(c.lock, func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			observed(t, setup{lock: c.lock, lease: unhurried}.run(t, w, func(p *docker.Environment) {
				c1 := p.Client("c1")
				must(t, p.Tamper(c.server, faults.Overwriting, 0)) // there is none
				acquire(t, c1, op(1), patience)
				must(t, p.Tamper(c.server, faults.Overwriting, 3))
				if c.lock != "zk-recipe" {
					must(t, p.Tamper(c.server, faults.Overwriting, 0))
				}
				w.add("changed")
				_ = c1.Release(op(3))
			}))
			grant := "grant a of 1 by 1"
			if c.lock == "zk-recipe" {
				grant = "grant of 1 by 1"
			}
			wantNodes(t, w, append([]string{grant}, c.events...)...)
		})
	}
}

// A server that is down or paused, and a replica, do not serve an operator.
func TestServersThatRefuseAnOperator(t *testing.T) {
	t.Parallel()
	stopped := func(p *docker.Environment, s string) error {
		return errors.Join(p.Stop(s, false), p.Tamper(s, faults.Removal, 0), p.Start(s))
	}
	paused := func(p *docker.Environment, s string) error {
		return errors.Join(p.Pause(s), p.Tamper(s, faults.Removal, 0), p.Resume(s))
	}
	replica := func(p *docker.Environment, s string) error { return p.Tamper(s+"b", faults.Removal, 0) }
	for lock, server := range map[string]string{"redis-set-lua": redis1, "mysql-optimistic": "mysql-1"} {
		for name, c := range map[string]struct {
			replicas int
			ask      func(p *docker.Environment, server string) error
		}{"down": {0, stopped}, "paused": {0, paused}, "a replica": {1, replica}} {
			t.Run(lock+" "+name, func(t *testing.T) {
				t.Parallel()
				w := &witness{}
				observed(t, setup{lock: lock, lease: 6 * unhurried, server: catalogue.Server{Replicas: c.replicas}}.run(t, w, func(p *docker.Environment) {
					acquire(t, p.Client("c1"), op(1), patience)
					must(t, c.ask(p, server))
					w.add("refused")
					must(t, p.Tamper(server, faults.Removal, 0))
				}))
				wantLines(t, w, "grant a of 1 by 1", "refused", "remove a of 1 by nobody")
			})
		}
	}
}

// An operator does not choose among entries that nobody knows.
func TestAnOperatorNeedsTheEntriesOfAWorker(t *testing.T) {
	t.Parallel()
	lock, err := catalogue.WorkerLock("worker", "redis")
	must(t, err)
	command := []string{"sh", "-c", `read q; echo '{"id":1,"ok":true,"name":"silent"}'; exec cat >/dev/null`}
	cfg := env.Config{
		Lock: lock, Lease: unhurried, Clients: []string{"c1"}, Names: []string{"a"}, Worker: command,
		Schedule: []faults.Injection{{Fault: "entry-lost", On: []string{redis1}}},
	}
	_, err = docker.Serverless(t.Context(), cfg, &witness{}, command)
	if wrong, ok := errors.AsType[*env.ProtocolError](err); !ok || !strings.Contains(wrong.Error(), "declares them in its answer to init") {
		t.Error(err)
	}
}
