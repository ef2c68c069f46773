package docker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
)

// mortal are locks, one on each store, each with one of their servers.
var mortal = map[string]string{"redis-set-lua": catalogue.RedisName, "zk-predecessor": members[0], "mysql-get-lock": catalogue.MySQLName}

// A server that has ended by itself is an unplanned fault. Alive reports it, even if a
// planned fault later stops and restarts the server.
func TestAliveReportsAServerThatEndedByItself(t *testing.T) {
	for lock, name := range mortal {
		t.Run(lock, func(t *testing.T) {
			setup{lock: lock}.run(t, new(witness), func(p *docker.Environment) {
				if err := p.Alive(); err != nil {
					t.Errorf("all servers live: %v", err)
				}
				must(t, docker.EndServer(t.Context(), p, name, false))
				if p.Alive() == nil {
					t.Error("Alive ignores a server that has ended")
				}
				for _, lose := range []bool{true, false} {
					if p.Stop(name, lose) == nil {
						t.Error("a server that has ended can be stopped")
					}
					must(t, p.Start(name))
					if p.Alive() == nil {
						t.Error("Alive ignores the end of the server after a restart")
					}
				}
			})
		})
	}
}

// Stops by faults are not failures of the server.
func TestAliveIgnoresServersThatFaultsStopped(t *testing.T) {
	for lock, name := range mortal {
		t.Run(lock, func(t *testing.T) {
			setup{lock: lock}.run(t, new(witness), func(p *docker.Environment) {
				for _, step := range []struct {
					what string
					do   func(string) error
				}{
					{"stands still", p.Pause},
					{"goes on", p.Resume},
					{"is stopped", func(s string) error { return p.Stop(s, false) }},
					{"is back", p.Start},
					{"has lost power", func(s string) error { return p.Stop(s, true) }},
					{"is back again", p.Start},
				} {
					must(t, step.do(name))
					if err := p.Alive(); err != nil {
						t.Errorf("it %s: %v", step.what, err)
					}
				}
			})
		})
	}
}

// Another server at the same address does not replace the original one.
func TestAliveReportsAReplacedServer(t *testing.T) {
	setup{}.run(t, new(witness), func(p *docker.Environment) {
		must(t, docker.EndServer(t.Context(), p, catalogue.RedisName, true))
		if p.Alive() == nil {
			t.Error("another server counts as the original")
		}
		if p.Stop(catalogue.RedisName, true) == nil {
			t.Error("another server is stopped instead of the original")
		}
	})
}

// Alive works in an interrupted run, too.
func TestAliveWorksInAnInterruptedRun(t *testing.T) {
	p := setup{lease: unhurried, clients: []string{"c1"}}.open(t.Context(), t, new(witness))
	defer func() { must(t, p.Close()) }()
	p.Go(func() { docker.Interrupt(p) })
	if err := p.Run(); !errors.Is(err, context.Canceled) {
		t.Errorf("the interrupted run returns %v", err)
	}
	if err := p.Alive(); err != nil {
		t.Errorf("all servers live: %v", err)
	}
	must(t, docker.EndServer(t.Context(), p, catalogue.RedisName, false))
	if p.Alive() == nil {
		t.Error("Alive ignores a server that has ended")
	}
}
