// Package adapters_test connects popular Go lock libraries to lockcheck. Each file is an
// example of how to connect one, and says what that library keeps under which faults.
package adapters_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockcheck/lockcheck"
)

func TestMain(m *testing.M) {
	logging.Disable() // go-redis writes a line for each connection that it does not get
	os.Exit(m.Run())
}

// connectRedis is the line that connects go-redis to a server.
func connectRedis(e *lockcheck.Env, server int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: e.Addr(server), Dialer: e.DialContext})
}

// Faults that a lease of a single Redis server survives: those of clients, of the network,
// and those of the server that leave its data and its clock alone.
var survived = lockcheck.Faults("none", "pause", "kill", "server-pause", "restart",
	"partition", "partition-oneway", "delay", "drop-reply", "kill-connection")

// The other faults of a Redis server.
var worse = lockcheck.Faults("restart-lost", "evict", "server-skew", "server-jump", "server-rate")

// patience lets all runs happen, however slow the machine is.
var patience = lockcheck.For(5 * time.Minute)

// child is set in a process that runs one test whose failure is expected.
const child = "LOCKCHECK_ADAPTERS_CHILD"

// fails runs the calling test in a process of its own, where fails returns false. There
// the test must fail, with all of these words in its output.
func fails(t *testing.T, words ...string) bool {
	t.Helper()
	if os.Getenv(child) != "" {
		return false
	}
	out := childFails(t, t.TempDir())
	story := strings.Join(strings.Fields(out), " ") // without line breaks
	for _, w := range words {
		if !strings.Contains(story, w) {
			t.Errorf("the output does not contain %q:\n%s", w, out)
		}
	}
	t.Logf("%s", out)
	return true
}
