// Package porttest is the one conformance suite of the MySQL port. Whatever
// stands behind the port, a real server or the model of one, has to pass it;
// where two differ, the real one is right.
package porttest

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// World is a running server and the way to it. Its table is its own, and empty;
// named locks it may share. A method that cannot do what it is asked ends the
// test that the World was made for.
//
// Its methods are called by several goroutines at once only where Slack is not 0.
type World interface {
	// Port is the way through the pool of one process, the same each time.
	Port() mysql.Port
	// Open opens a session on a connection of its own, which is of no pool. Its
	// ID is the server's. Close of it ends the session at once, as far as its
	// caller can tell: the server may learn of it a little later.
	Open() mysql.Handle
	// Start sends c as h's next statement, and does not wait for the answer. It
	// returns when the server has begun with it, as far as anybody can tell.
	Start(h mysql.Handle, c mysql.Command) Call
	// Drop ends the connection of h from below, as a network or a process that
	// dies does: the server learns of it, and so does the client.
	Drop(h mysql.Handle)
	// Silence has the connection of h be half open: the server never learns that
	// its client is gone, and whatever the client does does not reach it.
	Silence(h mysql.Handle)
	// Empty makes the table as new, its numbers too. No session has a
	// transaction when it is called.
	Empty()
	// Settle waits until the server has cleaned up behind all that was done: it
	// has purged what was deleted, and learnt which connections have ended. It
	// gives up after a while: a snapshot may keep old rows from being purged.
	Settle()
	// Now is the time since some instant. It runs as the server's clocks do.
	Now() time.Duration
	// Sleep waits; Now has gone on by d at least when it returns.
	Sleep(d time.Duration)
	// Slack is how late anything here may be seen to happen: what has not
	// happened after it will not happen. 0: time is virtual, no statement takes
	// any, and all is exact.
	Slack() time.Duration
}

// Call is a statement on its way.
type Call interface {
	// Answer waits for the answer, for at most d; done says whether it is there.
	Answer(d time.Duration) (r mysql.Reply, done bool, err error)
}

// Restarter is a World whose server can be killed.
type Restarter interface {
	World
	// Restart ends the server's process, as kill -9 does, and starts it again
	// with the disk that it had. It returns when it serves clients.
	Restart()
}

// Follower is a World whose server can be told to be a replica's: read only
// for everybody whom Port and Open serve.
type Follower interface {
	World
	ReadOnly(on bool)
}

// Factory brings up a World of a server that is configured as o says, and has
// t's clean-up take it down. Several may be there at once, also on one server.
type Factory func(t *testing.T, o model.Options) World

// Run runs the suite. A World that can do more than World is asked for more.
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
