package porttest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

const (
	// patience is the limit of a wait for an event that must come, in real time.
	patience = time.Minute
	// lockWait is innodb_lock_wait_timeout for tests that wait for it.
	lockWait = 2 * time.Second
	ms       = time.Millisecond
)

// tests are functions that each begin with an empty table.
type tests []struct {
	name string
	run  func(*tester)
}

func runAll(t *testing.T, w World, all tests) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) { c.run(newTester(t, w)) })
	}
}

// tester sends statements and asserts answers. Its named locks are its own.
type tester struct {
	*testing.T
	World
	prefix string
}

// prefixes counts this process's prefixes of named locks.
var prefixes atomic.Int64

// prefix returns a new prefix for names.
func prefix() string { return fmt.Sprintf("%x/%d/", time.Now().UnixNano(), prefixes.Add(1)) }

func newTester(t *testing.T, w World) *tester {
	w.Settle()
	w.Empty()
	return &tester{t, w, prefix()}
}

// open opens a session with transactions at level.
func (t *tester) open(level mysql.Isolation) mysql.Handle {
	t.Helper()
	h := t.Open()
	t.Cleanup(h.Close)
	t.want(h, isolate(level), mysql.Reply{})
	return h
}

// do executes c and returns the answer.
func (t *tester) do(h mysql.Handle, c mysql.Command) mysql.Reply {
	t.Helper()
	r, err := h.Do(t.Context(), patience, within(t.prefix, c))
	if err != nil {
		t.Fatalf("%s: %v", describe(c), err)
	}
	return r
}

// want executes c and asserts the answer want.
func (t *tester) want(h mysql.Handle, c mysql.Command, want mysql.Reply) {
	t.Helper()
	if r := t.do(h, c); !alike(c, r, want) {
		t.Fatalf("%s: got %s, want %s", describe(c), show(r), show(want))
	}
}

// waits starts c and asserts that it waits.
func (t *tester) waits(h mysql.Handle, c mysql.Command) *pendingCall {
	t.Helper()
	p := &pendingCall{t.Start(h, within(t.prefix, c)), c}
	if r, done, err := p.Answer(t.Slack() + ms); done {
		t.Fatalf("%s: got %s, error %v; want it to wait", describe(c), show(r), err)
	}
	return p
}

// pendingCall is a waiting statement.
type pendingCall struct {
	Call
	do mysql.Command
}

// wantAnswer asserts that p gets the answer want now.
func (t *tester) wantAnswer(p *pendingCall, want mysql.Reply) {
	t.Helper()
	switch r, done, err := p.Answer(patience); {
	case err != nil:
		t.Fatalf("%s: %v", describe(p.do), err)
	case !done:
		t.Fatalf("%s: it still waits; want %s", describe(p.do), show(want))
	case !alike(p.do, r, want):
		t.Fatalf("%s: got %s, want %s", describe(p.do), show(r), show(want))
	}
}

// wantOver asserts that h's session has ended. The first statement may still have
// been sent.
func (t *tester) wantOver(h mysql.Handle) {
	t.Helper()
	t.Settle()
	if _, err := h.Do(t.Context(), patience, ping()); !errors.Is(err, mysql.ErrConnectionLost) && !errors.Is(err, mysql.ErrSessionOver) {
		t.Fatalf("a statement after the end: got error %v, want %v", err, mysql.ErrConnectionLost)
	}
	if _, err := h.Do(t.Context(), patience, ping()); !errors.Is(err, mysql.ErrSessionOver) {
		t.Fatalf("the next one: got error %v, want %v", err, mysql.ErrSessionOver)
	}
}

// wantCut asserts that the waiting p fails because its connection has ended, or
// because it was interrupted first. A client may or may not see the interruption.
func (t *tester) wantCut(p *pendingCall) {
	t.Helper()
	r, done, err := p.Answer(patience)
	if !done || !errors.Is(err, mysql.ErrConnectionLost) && r.Code != mysql.Interrupted {
		t.Fatalf("%s: got %s, error %v, answered %t; want %v", describe(p.do), show(r), err, done, mysql.ErrConnectionLost)
	}
}

// alike reports whether got equals want, apart from the time.
func alike(c mysql.Command, got, want mysql.Reply) bool {
	if got.Code == mysql.OK && (c.Verb == mysql.Select || c.Verb == mysql.SelectForUpdate) {
		if got.Now <= 0 {
			return false
		}
		got.Now = want.Now
	}
	return got == want
}
