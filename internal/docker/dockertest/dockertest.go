// Package dockertest is what tests with real servers begin with.
package dockertest

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
)

// Require lets a test go on where there is a Docker engine. Elsewhere it is
// skipped, unless LOCKCHECK_DOCKER is "require": then it fails.
//
// Packages whose tests use Docker take turns on this machine: from the first
// call on until the process ends, those of others wait. What a package does
// without Docker would keep the clocks of another's servers waiting.
func Require(t testing.TB) {
	t.Helper()
	if err := docker.Available(t.Context()); err != nil {
		absent(t, err)
	}
	if err := takeTurn(); err != nil {
		t.Fatalf("wait for other tests that use Docker: %v", err)
	}
}

// Program lets a test that needs a program of this machine go on where it is
// installed. Elsewhere it is skipped, unless LOCKCHECK_DOCKER is "require".
func Program(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		absent(t, err)
	}
}

// absent ends a test that lacks something: nothing is skipped where everything
// is required.
func absent(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("LOCKCHECK_DOCKER") == "require" {
		t.Fatalf("LOCKCHECK_DOCKER=require: %v", err)
	}
	t.Skip(err)
}

// Pace is what this engine takes now to bring up a server and to remove it, the
// median of three. A duration is held against it by tests for whose limits the
// engine is accountable as well: how slow that is differs from hour to hour.
func Pace(t testing.TB) time.Duration {
	t.Helper()
	Require(t)
	var took []time.Duration
	for range 3 {
		start := time.Now()
		_, remove, err := docker.Redis(t.Context(), docker.Options{Log: t.Output()})
		if err == nil {
			err = remove(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Logf("a server comes and goes in %v", took)
	return took[1]
}

// Redis returns the address of a Redis server that keeps nothing on disk and
// ends with the test.
func Redis(t testing.TB) (addr string) {
	t.Helper()
	Require(t)
	addr, remove, err := docker.Redis(t.Context(), docker.Options{Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return addr
}

// Group returns n servers that are down, and end with the test.
func Group(t testing.TB, n int) []*docker.Member {
	t.Helper()
	Require(t)
	g, err := docker.RedisGroup(t.Context(), n, docker.Options{Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g.Members
}

// ZooKeeper returns an ensemble of three servers, which are up and end with the
// test.
func ZooKeeper(t testing.TB) *docker.Ensemble {
	t.Helper()
	Require(t)
	g, err := docker.ZooKeeper(t.Context(), 3, docker.Options{Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// MySQL returns a server (MariaDB) with further flags, which is up and ends with
// the test.
func MySQL(t testing.TB, flags ...string) *docker.MySQLServer {
	t.Helper()
	Require(t)
	s, err := docker.MySQL(t.Context(), docker.Options{Log: t.Output()}, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}
