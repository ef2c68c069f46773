package docker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
)

// ownLock returns the configuration of a user's lock in Go, and the command of a worker
// that writes these answers.
func ownLock(answers ...string) (env.Config, []string) {
	script := ""
	for i, a := range answers {
		script += fmt.Sprintf("read q; echo '{\"id\":%d,%s}'; ", i+1, a)
	}
	return env.Config{
		Lock: catalogue.Lock{ID: "mine", Own: true}, Lease: time.Second, Clients: []string{"c1"}, Names: []string{"a"},
	}, []string{"sh", "-c", script + "exec cat >/dev/null"}
}

// A mistake in the user's code ends the run, and is told in the user's words.
func TestMisuseEndsTheRun(t *testing.T) {
	t.Parallel()
	cfg, command := ownLock(`"ok":true`, `"ok":false,"error":"misuse","text":"no release"`)
	p, err := docker.Serverless(t.Context(), cfg, &witness{}, command)
	if err != nil {
		t.Fatal(err)
	}
	p.Go(func() { p.Client("c1").Acquire(op(1), time.Second) })
	if wrong, ok := errors.AsType[*env.ProtocolError](p.Run()); !ok || wrong.Error() != "c1: no release" {
		t.Errorf("the run ended with %v", wrong)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}

	cfg, command = ownLock(`"ok":false,"error":"misuse","text":"no lock"`)
	_, err = docker.Serverless(t.Context(), cfg, &witness{}, command)
	if wrong, ok := errors.AsType[*env.ProtocolError](err); !ok || !strings.HasPrefix(err.Error(), "no lock") {
		t.Errorf("the start failed with %v", wrong)
	}
}

// A grant without an entry that has the lock's name: the servers show nothing of the lock.
func TestUnnamedEntriesAreNotObserved(t *testing.T) {
	t.Parallel()
	cfg, command := ownLock(`"ok":true`, `"ok":true`)
	p, err := docker.Serverless(t.Context(), cfg, &witness{}, command)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Observes(); len(got) != 2 {
		t.Errorf("observes %q before the first grant", got)
	}
	first := op(1)
	first.Grant = 0
	p.Go(func() { p.Client("c1").Acquire(first, time.Second) })
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
	if got := p.Observes(); got != nil {
		t.Errorf("observes %q", got)
	}
}

// A worker that can try is asked to, and extends what it says that it can extend.
func TestTriesAndExtends(t *testing.T) {
	t.Parallel()
	cfg, command := ownLock(`"ok":true,"features":["try"]`, `"ok":true,"extends":true`, `"ok":true`, `"ok":true`)
	p, err := docker.Serverless(t.Context(), cfg, &witness{}, command)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Go(func() {
		c := p.Client("c1")
		tries, extends := c.(env.Trier), c.(env.Extender)
		if _, err := tries.Try(op(1), time.Second); err != nil || !tries.CanTry() || !extends.CanExtend(1) {
			t.Errorf("try: %v, can try %v, can extend %v", err, tries.CanTry(), extends.CanExtend(1))
		}
		if until, err := extends.Extend(env.Op{Index: 2, Lock: "a", Grant: 1, Acquire: 1}); until != 0 || err != nil {
			t.Errorf("extended to %v, %v", until, err)
		}
		if _, err := c.Acquire(op(3), time.Second); err != nil || extends.CanExtend(3) {
			t.Errorf("acquire: %v, can extend %v", err, extends.CanExtend(3))
		}
	})
	if err := p.Run(); err != nil {
		t.Error(err)
	}
}
