// Package porttest is the one conformance suite of the ZooKeeper port. Whatever
// stands behind the port, a real ensemble or the model of one, has to pass it;
// where two differ, the real one is right.
package porttest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// World is a running ensemble of three servers and the way to it. A method that
// cannot do what it is asked ends the test that the World was made for.
//
// Its methods are called by several goroutines at once only where Slack is not 0.
type World interface {
	// Open opens a session through a client of its own, which is connected to
	// that server, 0 to 2, and prefers it; -1: any. The ensemble has to grant a
	// session of 1 s as it is asked for.
	Open(server int, session time.Duration) zookeeper.Handle
	// Disconnect cuts the connection that carries h now. The client finds
	// another by itself, perhaps to another server.
	Disconnect(h zookeeper.Handle)
	// Freeze has the client of h stand still, heartbeats and all, until Thaw.
	Freeze(h zookeeper.Handle)
	Thaw(h zookeeper.Handle)
	// Now is the time since some instant. It runs as the servers' clocks do.
	Now() time.Duration
	// Sleep waits; Now has gone on by d at least when it returns.
	Sleep(d time.Duration)
	// Slack is how late anything here may be seen to happen. 0: time is
	// virtual, no request takes any, and all is exact.
	Slack() time.Duration
}

// Outage is a World that can keep a client from all servers.
type Outage interface {
	World
	// Cut has the client of h reach no server, until Join.
	Cut(h zookeeper.Handle)
	Join(h zookeeper.Handle)
}

// Failover is a World whose leader can be killed.
type Failover interface {
	World
	// KillLeader ends the process of the server that leads. It returns when
	// the two others are led by one of them, and serve clients.
	KillLeader()
	// StartKilled starts that process again, with the disk that it had, and
	// returns when it serves clients.
	StartKilled()
}

// Counting is a World whose nodes can have had any number of children.
type Counting interface {
	World
	// Preset makes an empty node at path whose next sequential child is number
	// counter, as if as many had come and gone. The World may begin anew for
	// that: no session lives on, and no other node.
	Preset(path string, counter int32)
}

// Factory brings up a World, and has t's clean-up take it down. The ensemble
// may hold nodes of others: the suite's are below one of its own.
type Factory func(t *testing.T) World

// Run runs the suite. A World that can do more than World is asked for more.
func Run(t *testing.T, f Factory) {
	t.Helper()
	w := f(t)
	t.Run("commands", func(t *testing.T) { runCases(t, w) })
	t.Run("port", func(t *testing.T) { runPort(t, w) })
	t.Run("watches", func(t *testing.T) { runAll(t, w, watchTests) })
	t.Run("sessions", func(t *testing.T) { runAll(t, w, sessionTests) })
	t.Run("sequences", func(t *testing.T) { runSequences(t, w) })
	if _, ok := w.(Outage); ok {
		t.Run("outage", func(t *testing.T) { runAll(t, w, outageTests) })
	}
	if _, ok := w.(Failover); ok {
		t.Run("failover", func(t *testing.T) { runAll(t, w, failoverTests) })
	}
	if c, ok := w.(Counting); ok {
		t.Run("the end of the numbers", func(t *testing.T) { endOfNumbers(t, c) })
	}
}

const (
	// patience is how long what has to come may take, where time is real.
	patience = time.Minute
	// moment is how long nothing comes that would have to be there already.
	moment = time.Millisecond
	// long and brief are sessions: one that does not expire here, and one that does.
	long  = 10 * time.Second
	brief = time.Second
)

// roots counts the nodes that this process has put its tests under.
var roots atomic.Int64

// root is a path that nobody else uses.
func root() string {
	return fmt.Sprintf("/porttest-%x-%d", time.Now().UnixNano(), roots.Add(1))
}

// tests are functions that each get a node of their own.
type tests []struct {
	name string
	run  func(*tester)
}

func runAll(t *testing.T, w World, all tests) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) { c.run(newTester(t, w)) })
	}
}

// tester asks and asserts. Paths are relative to a node of its own, and "" is
// that node.
type tester struct {
	*testing.T
	World
	root string
}

func newTester(t *testing.T, w World) *tester {
	x := &tester{t, w, root()}
	x.ok(x.open(-1, long), create("", "", zookeeper.Persistent))
	return x
}

// open opens a session, and takes the news of it from the queue.
func (t *tester) open(server int, session time.Duration) zookeeper.Handle {
	t.Helper()
	h := t.Open(server, session)
	t.Cleanup(func() { _ = h.Close(context.Background(), time.Second) })
	t.told(h, zookeeper.Event{Type: zookeeper.Connected})
	return h
}

// do has c asked, and returns the answer; an answer there has to be.
func (t *tester) do(h zookeeper.Handle, c zookeeper.Command) zookeeper.Reply {
	t.Helper()
	r, err := h.Do(t.Context(), patience, within(t.root, c))
	if err != nil {
		t.Fatalf("%s: %v", describe(c), err)
	}
	return r
}

// ok has c done.
func (t *tester) ok(h zookeeper.Handle, c zookeeper.Command) zookeeper.Reply {
	t.Helper()
	r := t.do(h, c)
	if r.Code != zookeeper.OK {
		t.Fatalf("%s: %v", describe(c), r.Code)
	}
	return r
}

// refused has c refused with code.
func (t *tester) refused(h zookeeper.Handle, c zookeeper.Command, code zookeeper.Code) {
	t.Helper()
	if r := t.do(h, c); r.Code != code {
		t.Fatalf("%s: got %v, want %v", describe(c), r.Code, code)
	}
}

// fails has c not answered, but fail with want.
func (t *tester) fails(h zookeeper.Handle, c zookeeper.Command, want error) {
	t.Helper()
	if _, err := h.Do(t.Context(), patience, within(t.root, c)); !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", describe(c), err, want)
	}
}

// told takes the events that h learns next: want, in this order.
func (t *tester) told(h zookeeper.Handle, want ...zookeeper.Event) {
	t.Helper()
	for _, e := range want {
		if e.Type <= zookeeper.NodeChildrenChanged {
			e.Path = t.root + e.Path
		}
		if got, err := h.Next(t.Context(), patience); err != nil || got != e {
			t.Fatalf("got event %v, error %v; want %v", got, err, e)
		}
	}
}

// quiet has nothing more to be told to h, now that its server has caught up.
func (t *tester) quiet(h zookeeper.Handle) {
	t.Helper()
	t.ok(h, flush(""))
	if e, err := h.Next(t.Context(), moment); !errors.Is(err, zookeeper.ErrNoEvent) {
		t.Fatalf("got event %v, error %v; want %v", e, err, zookeeper.ErrNoEvent)
	}
}
