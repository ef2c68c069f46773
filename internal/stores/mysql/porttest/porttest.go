// Package porttest is the conformance suite of the MySQL port, for real servers
// and for the model. If two implementations differ, the real server is right.
package porttest

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
)

// World is a running server and its connections. It has an empty table of its
// own; named locks may be shared with others. A method that fails ends the test
// of the World.
//
// Several goroutines call its methods at once only if Slack is not 0.
type World interface {
	// Port returns the port that uses the pool of one process. It is always the
	// same.
	Port() mysql.Port
	// Open opens a session on a connection of its own, outside of any pool. Its
	// ID is the server's. Close ends the session at once for its caller; the
	// server may notice a little later.
	Open() mysql.Handle
	// Start sends c as h's next statement without waiting for the answer. It
	// returns when the server has visibly begun the statement.
	Start(h mysql.Handle, c mysql.Command) Call
	// Drop ends the connection of h from below, as a network or a dying process
	// does. Both the server and the client notice.
	Drop(h mysql.Handle)
	// Silence makes the connection of h half open: the server never notices that
	// its client is gone, and receives nothing from it.
	Silence(h mysql.Handle)
	// Empty makes the table new, with new numbers. No session may have an open
	// transaction.
	Empty()
	// Settle waits until the server has purged deleted rows and noticed closed
	// connections. It gives up after a while, because a snapshot may keep old
	// rows.
	Settle()
	// Now returns the time since some instant. It runs like the server's clocks.
	Now() time.Duration
	// Sleep waits until Now has advanced by at least d.
	Sleep(d time.Duration)
	// Slack is the greatest delay of an observation: an event that has not
	// happened after it will not happen. 0 means virtual time: statements take
	// none, and everything is exact.
	Slack() time.Duration
}

// Call is a statement under way.
type Call interface {
	// Answer waits up to d for the answer. done reports whether it has come.
	Answer(d time.Duration) (r mysql.Reply, done bool, err error)
}

// Restarter is a World whose server can be killed.
type Restarter interface {
	World
	// Restart kills the server's process as kill -9 does, and starts it again
	// with its disk. It returns when the server accepts clients.
	Restart()
}

// Follower is a World whose server can become a replica: read-only for the
// clients of Port and Open.
type Follower interface {
	World
	ReadOnly(on bool)
}

// Factory returns a World with a server that is configured as in o. t's cleanup
// stops it. Several may exist at once, also on one server.
type Factory func(t *testing.T, o model.Options) World

// Run runs the suite. Tests for optional interfaces run if the World has them.
func Run(t *testing.T, f Factory) {
	t.Helper()
	w := f(t, model.Options{})
	t.Run("port", func(t *testing.T) { runPort(newTester(t, w)) })
	for _, level := range []mysql.Isolation{mysql.RepeatableRead, mysql.ReadCommitted} {
		t.Run(level.String(), func(t *testing.T) {
			for _, c := range cases() {
				if c.at[level] {
					t.Run(c.name, func(t *testing.T) { c.run(newTester(t, w), level) })
				}
			}
		})
	}
	t.Run("named locks", func(t *testing.T) { runAll(t, w, nameTests) })
	t.Run("sessions", func(t *testing.T) { runAll(t, w, sessionTests) })
	t.Run("waiting", func(t *testing.T) { runAll(t, f(t, model.Options{LockWait: lockWait}), waitTests) })
	t.Run("sequences", func(t *testing.T) { runSequences(t, w) })
	if _, ok := w.(Follower); ok {
		t.Run("read only", func(t *testing.T) { runAll(t, w, followerTests) })
	}
	if _, ok := w.(Restarter); ok {
		t.Run("restart", func(t *testing.T) { runAll(t, w, restartTests) })
	}
}
