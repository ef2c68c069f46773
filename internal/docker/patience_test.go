package docker_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

const (
	// patience is how long an event that must come may take. It only bounds the test.
	patience = time.Minute
	// unhurried is a lease whose timeouts, which are parts of it, do not expire on a
	// busy machine.
	unhurried = 10 * time.Second
)

// Limits for an environment, in starts and stops of one server; see dockertest.Pace.
const (
	upPaces  = 12 // until six servers are up, each in its own container
	endPaces = 12 // until an interrupted run has ended without leftovers
)

// withinPaces fails the test if a duration exceeds a number of paces. It measures the
// pace again if the engine was faster when pace was measured.
func withinPaces(t *testing.T, took time.Duration, paces time.Duration, pace time.Duration) {
	t.Helper()
	if took > paces*pace {
		pace = max(pace, dockertest.Pace(t))
	}
	if took > paces*pace {
		t.Errorf("it took %v, and the start and stop of one server take %v", took, pace)
	}
}

// eventually waits until so returns true, and fails the test after within.
func eventually(t *testing.T, p *docker.Environment, within time.Duration, what string, so func() bool) (took time.Duration) {
	t.Helper()
	start := p.Now()
	for !so() {
		if took = p.Now() - start; took > within {
			t.Errorf("not within %v: %s", within, what)
			return took
		}
		p.Sleep(2 * time.Millisecond)
	}
	return p.Now() - start
}
