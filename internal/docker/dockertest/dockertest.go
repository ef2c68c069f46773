// Package dockertest helps tests that use real servers.
package dockertest

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/docker"
)

// Require skips a test that needs real servers unless LOCKCHECK_TESTS is "all", and
// there is a Docker engine.
//
// Packages whose tests use Docker take turns on this machine: from the first call until
// the process ends, tests of other packages wait. Otherwise the work of one package
// would slow down the clocks of another's servers.
func Require(t testing.TB) {
	t.Helper()
	if !alltests.Wanted() {
		t.Skip("needs real servers: LOCKCHECK_TESTS=all runs it")
	}
	engine(t)
}

// Sample is Require for the few tests with real servers that run by default, and not
// with LOCKCHECK_TESTS=all, where other tests do the same and more.
func Sample(t testing.TB) {
	t.Helper()
	if testing.Short() || alltests.Wanted() {
		t.Skip("a sample of the tests with real servers: it runs neither with -short nor with LOCKCHECK_TESTS=all")
	}
	engine(t)
}

// engine skips a test if there is no Docker engine, and waits for its turn. It builds
// the image of the servers where that is missing, which takes minutes: no limit of a
// test includes them.
func engine(t testing.TB) {
	t.Helper()
	if err := docker.Available(t.Context()); err != nil {
		absent(t, err)
	}
	if err := takeTurn(func() { t.Log("waits for tests of another process that use Docker") }); err != nil {
		t.Fatalf("wait for other tests that use Docker: %v", err)
	}
	if _, err := docker.ServersImage(t.Context(), t.Output()); err != nil {
		t.Fatal(err)
	}
}

// Program skips a test that needs a program which is not installed.
func Program(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		absent(t, err)
	}
}

// Python is Debian's Python: it finds the libraries that Debian has packages of.
const Python = "/usr/bin/python3"

// Module skips a test that needs a library of Python that is not installed.
func Module(t testing.TB, name string) {
	t.Helper()
	if out, err := exec.Command(Python, "-c", "import "+name).CombinedOutput(); err != nil {
		absent(t, fmt.Errorf("%s -c 'import %s': %w: %s", Python, name, err, out))
	}
}

// absent ends a test that lacks something: it skips the test, or fails it if all tests
// are wanted.
func absent(t testing.TB, err error) {
	t.Helper()
	if alltests.Wanted() {
		t.Fatalf("LOCKCHECK_TESTS=all: %v", err)
	}
	t.Skip(err)
}

// Pace returns how long this engine takes now to start and remove a server, the median
// of three. Tests compare durations with it if the engine's speed, which differs from
// hour to hour, matters.
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

// endWith fails the test if its servers were not made, and removes them at its end.
func endWith(t testing.TB, err error, remove func(context.Context) error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// Redis returns the address of a Redis server without a disk that ends with the test.
func Redis(t testing.TB) (addr string) {
	t.Helper()
	Require(t)
	addr, remove, err := docker.Redis(t.Context(), docker.Options{Log: t.Output()})
	endWith(t, err, remove)
	return addr
}

// Group returns n stopped servers that end with the test.
func Group(t testing.TB, n int) []*docker.Member {
	t.Helper()
	Require(t)
	g, err := docker.RedisGroup(t.Context(), n, docker.Options{Log: t.Output()})
	endWith(t, err, g.Close)
	return g.Members
}

// ZooKeeper returns a running ensemble of three servers that ends with the test.
func ZooKeeper(t testing.TB) *docker.Ensemble {
	t.Helper()
	Require(t)
	g, err := docker.ZooKeeper(t.Context(), 3, docker.Options{Log: t.Output()})
	endWith(t, err, g.Close)
	return g
}

// MySQL returns a running MariaDB server with additional flags that ends with the test.
func MySQL(t testing.TB, flags ...string) *docker.MySQLServer {
	t.Helper()
	Require(t)
	s, err := docker.MySQL(t.Context(), docker.Options{Log: t.Output()}, flags...)
	endWith(t, err, s.Close)
	return s
}
