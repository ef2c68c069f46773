package docker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
)

// mortal are locks, one on each store, and a server of theirs.
var mortal = map[string]string{"redis-set-lua": catalogue.RedisName, "zk-predecessor": members[0], "mysql-get-lock": catalogue.MySQLName}

// A server that has ended by itself is a fault that nobody injected: whoever judges
// the run has to know, also when a fault was to stop it later and have it come back.
func TestAServerThatEndsByItselfIsMissed(t *testing.T) {
	for lock, name := range mortal {
		t.Run(lock, func(t *testing.T) {
			setup{lock: lock}.run(t, new(witness), func(p *docker.Place) {
				if err := p.Alive(); err != nil {
					t.Errorf("all servers live: %v", err)
				}
				must(t, docker.EndServer(t.Context(), p, name, false))
				if p.Alive() == nil {
					t.Error("a server has ended, and is not missed")
				}
				for _, lose := range []bool{true, false} {
					if p.Stop(name, lose) == nil {
						t.Error("it is stopped, and has ended before")
					}
					must(t, p.Start(name))
					if p.Alive() == nil {
						t.Error("it is not missed any more after a restart")
					}
				}
			})
		})
	}
}

// What faults have done to a server is none of its own doing.
func TestAServerThatFaultsStopIsNotMissed(t *testing.T) {
	for lock, name := range mortal {
		t.Run(lock, func(t *testing.T) {
			setup{lock: lock}.run(t, new(witness), func(p *docker.Place) {
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

// Somebody else's server at the same address has not seen what ours has.
func TestAServerThatAnotherHasReplacedIsMissed(t *testing.T) {
	setup{}.run(t, new(witness), func(p *docker.Place) {
		must(t, docker.EndServer(t.Context(), p, catalogue.RedisName, true))
		if p.Alive() == nil {
			t.Error("another server is taken for it")
		}
		if p.Stop(catalogue.RedisName, true) == nil {
			t.Error("another server is stopped for it")
		}
	})
}

// Who interrupts a run still learns whether its servers lived.
func TestServersAreMissedInAnInterruptedRunToo(t *testing.T) {
	dockertest.Require(t)
	lock, _ := catalogue.FindLock("redis-set-lua")
	p, err := docker.New(t.Context(), env.Config{
		Lock: lock, Lease: unhurried, Clients: []string{"c1"}, Names: []string{"a"},
	}, new(witness), docker.Options{Log: t.Output()})
	must(t, err)
	defer func() { must(t, p.Close()) }()
	p.Go(func() { docker.Interrupt(p) })
	if err := p.Run(); !errors.Is(err, context.Canceled) {
		t.Errorf("it was interrupted, and says %v", err)
	}
	if err := p.Alive(); err != nil {
		t.Errorf("all servers live: %v", err)
	}
	must(t, docker.EndServer(t.Context(), p, catalogue.RedisName, false))
	if p.Alive() == nil {
		t.Error("a server has ended, and is not missed")
	}
}
