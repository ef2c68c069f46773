package docker_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

const (
	// patience is how long what has to come may take: a guard, and no promise.
	patience = time.Minute
	// unhurried is a lease of which the time-outs, which are a part of it, do not
	// fail on a busy machine.
	unhurried = 10 * time.Second
)

// What a place may take, in what one server takes that comes and goes; see
// dockertest.Pace.
const (
	upPaces  = 12 // until six servers are up, in containers of their own
	endPaces = 12 // until an interrupted run has ended, and nothing is left
)

// heldAgainst holds what a place took against the pace that was measured before, or
// now where that was when the engine had less to do.
func heldAgainst(t *testing.T, took time.Duration, paces time.Duration, pace time.Duration) {
	t.Helper()
	if took > paces*pace {
		pace = max(pace, dockertest.Pace(t))
	}
	if took > paces*pace {
		t.Errorf("it took %v, and one server comes and goes in %v", took, pace)
	}
}

// eventually waits for what has to come within a time.
func eventually(t *testing.T, p *docker.Place, within time.Duration, what string, so func() bool) (took time.Duration) {
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
