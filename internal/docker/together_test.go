package docker_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// anybodyArgument makes this program a worker whose lock grants everything, in turn or
// not, and lets every client release it.
const anybodyArgument = "anybody"

type anybody struct{ nothing }

func (anybody) AcquireUnfair(context.Context, string) (locks.Lease, error) {
	return nil, locks.ErrNotAcquired
}
func (anybody) ReleaseName(context.Context, string) error { return nil }

func newAnybody(worker.Setup) (locks.Locker, func() error, error) {
	return anybody{}, func() error { return nil }, nil
}

func withAnybody(together int) setup {
	return setup{own: []string{os.Args[0], anybodyArgument}, bare: true, together: together, clients: []string{"c1", "c2", "c3"}}
}

// A fault on one client of a process strikes the other clients in it, and no others.
func TestClientsOfOneProcess(t *testing.T) {
	t.Parallel()
	withAnybody(2).run(t, &witness{}, func(p *docker.Environment) {
		acquires := func(name string) error {
			_, err := p.Client(name).Acquire(env.Op{Index: 1, Lock: "a", Acquire: 1}, time.Second)
			return err
		}
		for _, name := range []string{"c1", "c2", "c3"} {
			if err := acquires(name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := p.Pause("c1"); err != nil {
			t.Fatal(err)
		}
		second := make(chan error)
		go func() { second <- acquires("c2") }()
		if err := acquires("c3"); err != nil {
			t.Errorf("c3, while c1 is paused: %v", err)
		}
		select {
		case err := <-second:
			t.Errorf("c2 goes on while c1 is paused: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
		if err := errors.Join(p.Jump("c2", time.Second), p.Resume("c1"), <-second); err != nil {
			t.Errorf("c2, after that: %v", err)
		}
		if err := p.Kill("c2"); err != nil {
			t.Fatal(err)
		}
		if err := acquires("c1"); !errors.Is(err, env.ErrCrashed) {
			t.Errorf("c1, after the end of c2: %v", err)
		}
		if err := acquires("c3"); err != nil {
			t.Errorf("c3, after the end of c2: %v", err)
		}
	})
}

// A worker gets releases by name and acquires out of turn if it supports them.
func TestMisuseReachesTheWorker(t *testing.T) {
	t.Parallel()
	withAnybody(1).run(t, &witness{}, func(p *docker.Environment) {
		c := p.Client("c1")
		must(t, c.(env.NameReleaser).ReleaseName(env.Op{Index: 1, Lock: "a"}))
		if _, err := c.Acquire(env.Op{Index: 2, Lock: "a", Acquire: 2, Unfair: true}, time.Second); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("out of turn: %v", err)
		}
	})
	setup{own: callers("once").own, bare: true, clients: []string{"c1"}}.run(t, &witness{}, func(p *docker.Environment) {
		if err := p.Client("c1").(env.NameReleaser).ReleaseName(env.Op{Index: 1, Lock: "a"}); !errors.Is(err, env.ErrNoReleaseName) {
			t.Errorf("for a lock without release by name: %v", err)
		}
	})
}
