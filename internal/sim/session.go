package sim

import (
	"context"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/locks"
)

// zkTransport is the client's way to an ensemble.
type zkTransport client

// session is a zookeeper.Session. This file has the methods for its owner's
// tasks; library.go has the client library's background work.
type session struct {
	client *client
	id     int64
	life   int           // the ensemble's life in which it began
	length time.Duration // requested at first, then granted
	zxid   int64         // the greatest in a reply
	end    error         // why the session has ended

	calls   []*zkCall // calls without an answer, in order: first those that were sent
	sent    int       // the number of these
	watches []model.Watch
	events  []zookeeper.Event
	readers []*task // they wait for an event
	opener  *task   // waits for the session

	// For the library:
	state    libraryState
	servers  []*server
	at       int // index in servers
	last     int // index of the last connection; -1: none yet
	conn     *conn
	deadline time.Duration // when it gives up its current wait; never: it does not
	beat     time.Duration // when it sends the next heartbeat; never: it does not
	timer    time.Duration // its first timer in the queue; never: none
	kept     []*message    // messages that arrived during a pause
	late     bool          // a timer fired during a pause
}

// zkCall is a task's request.
type zkCall struct {
	task    *task // waits for the answer; nil: it has given up
	ask     ask
	op      int
	command zookeeper.Command
	reply   zookeeper.Reply
	err     error
	done    bool
}

// Open opens a session. On a timeout it returns an error, and the session expires
// later if it is granted.
func (t *zkTransport) Open(ctx context.Context, timeout, length time.Duration) (zookeeper.Session, error) {
	c := (*client)(t)
	if err := c.countCall(ctx); err != nil {
		return nil, err
	}
	s := c.sessions.next()
	s.reset(c, length)
	s.connectNext()
	until := min(c.until(timeout), endOf(ctx))
	s.opener = c.net.current
	for s.id == 0 && (c.park(until) || c.net.now < until) {
	}
	s.opener = nil
	if s.id != 0 {
		return s, nil
	}
	s.finish(zookeeper.ErrClosed) // a session that is granted later gets no heartbeats and expires
	if err := ctx.Err(); err != nil {
		return nil, locks.Definite(err)
	}
	return nil, zookeeper.ErrNotConnected
}

// ID returns the ensemble's number for the session.
func (s *session) ID() int64 { return s.id }

// Timeout returns the session's length.
func (s *session) Timeout() time.Duration { return s.length }

// Do executes one request.
func (s *session) Do(ctx context.Context, timeout time.Duration, cmd zookeeper.Command) (zookeeper.Reply, error) {
	c := s.client
	if err := c.countCall(ctx); err != nil {
		return zookeeper.Reply{}, err
	}
	if !model.Valid(cmd) { // the library checks this before it sends anything
		return zookeeper.Reply{Code: zookeeper.BadArguments}, nil
	}
	r := c.beginRequest(cmd.Verb)
	reply, err := s.ask(timeout, request, cmd)
	c.finish(r)
	return reply, err
}

// ask queues a request and waits for its answer.
func (s *session) ask(timeout time.Duration, a ask, cmd zookeeper.Command) (zookeeper.Reply, error) {
	c := s.client
	if s.end != nil {
		return zookeeper.Reply{}, s.end
	}
	call := c.calls.next()
	*call = zkCall{task: c.net.current, ask: a, op: c.net.current.operation.Index, command: cmd}
	s.calls = append(s.calls, call)
	s.sendCalls()
	until := c.until(timeout)
	for !call.done {
		if c.park(until) || call.done || c.net.now < until {
			continue
		}
		call.task = nil
		if s.unsend(call) {
			return zookeeper.Reply{}, zookeeper.ErrNotConnected
		}
		return zookeeper.Reply{}, zookeeper.ErrTimeout
	}
	return call.reply, call.err
}

// unsend removes a call from the queue, and reports false if it is under way.
func (s *session) unsend(call *zkCall) bool {
	i := slices.Index(s.calls, call)
	if i < s.sent {
		return false
	}
	s.calls = slices.Delete(s.calls, i, i+1)
	return true
}

// Next returns the next event from the queue.
func (s *session) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	c := s.client
	c.mustLive()
	t := c.net.current
	until := never
	if timeout > 0 {
		until = c.until(timeout)
	}
	for {
		switch {
		case len(s.events) > 0:
			e := s.events[0]
			s.events = slices.Delete(s.events, 0, 1)
			return e, nil
		case s.end != nil:
			return zookeeper.Event{}, s.end
		}
		if err := ctx.Err(); err != nil {
			return zookeeper.Event{}, err
		}
		if c.net.now >= until {
			return zookeeper.Event{}, zookeeper.ErrNoEvent
		}
		s.readers = append(s.readers, t)
		t.sleeping = true // so that stopping it wakes it
		c.park(min(until, endOf(ctx)))
		t.sleeping = false
		s.forget(t)
	}
}

func (s *session) forget(t *task) {
	if i := slices.Index(s.readers, t); i >= 0 {
		s.readers = slices.Delete(s.readers, i, i+1)
	}
}

// Close ends the session at the client's request.
func (s *session) Close(ctx context.Context, timeout time.Duration) error {
	if err := s.client.countCall(ctx); err != nil {
		return err
	}
	_, err := s.ask(timeout, farewell, zookeeper.Command{})
	if s.end == nil {
		s.event(zookeeper.Closed, "")
		s.finish(zookeeper.ErrClosed)
	}
	return err
}

// event queues an event for the readers.
func (s *session) event(t zookeeper.EventType, path string) {
	s.events = append(s.events, zookeeper.Event{Type: t, Path: path})
	s.wakeReaders()
}

func (s *session) wakeReaders() {
	for _, t := range s.readers {
		s.wake(t)
	}
}

// wake resumes a task that waits for s.
func (s *session) wake(t *task) {
	if t != nil && t.parked && !t.ended {
		t.answered = true
		t.wakeAt(s.client.net.now)
	}
}

// finish ends the session as far as the client knows.
func (s *session) finish(why error) {
	s.end = why
	s.state = over
	s.drop()
	err := why
	if why == zookeeper.ErrClosed {
		err = zookeeper.ErrConnectionLoss // calls under way may still be executed
	}
	s.fail(s.sent, err)
	s.fail(len(s.calls), why)
	s.wakeReaders()
	s.wake(s.opener)
}

// fail answers the first n calls with an error.
func (s *session) fail(n int, err error) {
	for _, call := range s.calls[:n] {
		call.err, call.done = err, true
		s.wake(call.task)
	}
	s.calls = append(s.calls[:0], s.calls[n:]...)
	s.sent = max(0, s.sent-n)
}
