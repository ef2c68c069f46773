// Package porttest is the conformance suite of the ZooKeeper port, for real
// ensembles and for the model. If two implementations differ, the real ensemble
// is right.
package porttest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// World is a running ensemble of three servers. A method that fails ends the test
// of the World.
//
// Several goroutines call its methods at once only if Slack is not 0.
type World interface {
	// Open opens a session through a client of its own, which is connected to
	// that server, 0 to 2, and prefers it; -1: any. The ensemble must grant a
	// session of 1 s without changing its length.
	Open(server int, session time.Duration) zookeeper.Handle
	// Disconnect cuts the present connection of h. The client finds another by
	// itself, possibly to another server.
	Disconnect(h zookeeper.Handle)
	// Freeze pauses the client of h, including its heartbeats, until Thaw.
	Freeze(h zookeeper.Handle)
	Thaw(h zookeeper.Handle)
	// Now returns the time since some instant. It runs like the servers' clocks.
	Now() time.Duration
	// Sleep waits until Now has advanced by at least d.
	Sleep(d time.Duration)
	// Slack is the greatest delay of an observation. 0 means virtual time:
	// requests take none, and everything is exact.
	Slack() time.Duration
}

// Outage is a World that can separate a client from all servers.
type Outage interface {
	World
	// Cut separates the client of h from all servers until Join.
	Cut(h zookeeper.Handle)
	Join(h zookeeper.Handle)
}

// Failover is a World whose leader can be killed.
type Failover interface {
	World
	// KillLeader ends the leader's process. It returns when one of the two other
	// servers leads and both accept clients.
	KillLeader()
	// StartKilled starts that process again with its disk, and returns when it
	// accepts clients.
	StartKilled()
}

// Counting is a World that can create nodes with any number of past children.
type Counting interface {
	World
	// Preset makes an empty node at path whose next sequential child gets the
	// number counter, as if that many had been created and deleted. The World may
	// restart with empty servers for that: sessions and other nodes are lost.
	Preset(path string, counter int32)
}

// Factory returns a World, which t's cleanup stops. The ensemble may have other
// nodes: the suite's nodes are below one of its own.
type Factory func(t *testing.T) World

// Run runs the suite. Tests for optional interfaces run if the World has them.
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
	// patience is the limit of a wait for an event that must come, in real time.
	patience = time.Minute
	// moment is a wait for an event that must not come.
	moment = time.Millisecond
	// long and brief are session lengths: long does not expire in a test, brief
	// does.
	long  = 10 * time.Second
	brief = time.Second
)

// roots counts the base nodes of this process's tests.
var roots atomic.Int64

// root returns a new path.
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

// tester sends requests and asserts answers. Paths are relative to its own node,
// which is "".
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

// open opens a session and takes its first event from the queue.
func (t *tester) open(server int, session time.Duration) zookeeper.Handle {
	t.Helper()
	h := t.Open(server, session)
	t.Cleanup(func() { _ = h.Close(context.Background(), time.Second) })
	t.wantEvents(h, zookeeper.Event{Type: zookeeper.Connected})
	return h
}

// do executes c and returns the answer, which must come.
func (t *tester) do(h zookeeper.Handle, c zookeeper.Command) zookeeper.Reply {
	t.Helper()
	r, err := h.Do(t.Context(), patience, within(t.root, c))
	if err != nil {
		t.Fatalf("%s: %v", describe(c), err)
	}
	return r
}

// ok executes c and asserts success.
func (t *tester) ok(h zookeeper.Handle, c zookeeper.Command) zookeeper.Reply {
	t.Helper()
	r := t.do(h, c)
	if r.Code != zookeeper.OK {
		t.Fatalf("%s: %v", describe(c), r.Code)
	}
	return r
}

// refused executes c and asserts its refusal with code.
func (t *tester) refused(h zookeeper.Handle, c zookeeper.Command, code zookeeper.Code) {
	t.Helper()
	if r := t.do(h, c); r.Code != code {
		t.Fatalf("%s: got %v, want %v", describe(c), r.Code, code)
	}
}

// fails executes c and asserts the error want.
func (t *tester) fails(h zookeeper.Handle, c zookeeper.Command, want error) {
	t.Helper()
	if _, err := h.Do(t.Context(), patience, within(t.root, c)); !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", describe(c), err, want)
	}
}

// wantEvents asserts that the next events of h are want, in this order.
func (t *tester) wantEvents(h zookeeper.Handle, want ...zookeeper.Event) {
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

// wantNoEvent asserts that h has no further events after its server has caught up.
func (t *tester) wantNoEvent(h zookeeper.Handle) {
	t.Helper()
	t.ok(h, flush(""))
	if e, err := h.Next(t.Context(), moment); !errors.Is(err, zookeeper.ErrNoEvent) {
		t.Fatalf("got event %v, error %v; want %v", e, err, zookeeper.ErrNoEvent)
	}
}
