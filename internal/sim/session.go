package sim

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// zkTransport is the client's way to an ensemble.
type zkTransport client

// session is a zookeeper.Session, as its owner's tasks see it. What the client
// library does beside them is in library.go.
type session struct {
	client *client
	id     int64
	life   int           // of the ensemble
	length time.Duration // asked for, and then granted
	zxid   int64         // the greatest that a reply has carried
	end    error         // why there is no session any more

	calls   []*zkCall // that were not answered, in order: first those that were sent
	sent    int       // of them
	watches []model.Watch
	events  []zookeeper.Event
	readers []*task // that wait for an event
	opener  *task   // that waits for the session

	// The library's:
	state    libraryState
	servers  []*member
	at       int // among them
	last     int // where it was connected last; -1: nowhere yet
	conn     *conn
	deadline time.Duration // when it gives up what it waits for; never: it does not
	beat     time.Duration // when it sends the next heartbeat; never: no more
	timer    time.Duration // the first timer of its in the queue; never: there is none
	kept     []*message    // what has arrived in a pause
	late     bool          // a timer has run out in a pause
}

// zkCall is a request of a task.
type zkCall struct {
	task    *task // that waits; nil: it has given up
	ask     ask
	op      int
	command zookeeper.Command
	reply   zookeeper.Reply
	err     error
	done    bool
}

// Open opens a session.
func (t *zkTransport) Open(ctx context.Context, timeout, length time.Duration) (zookeeper.Session, error) {
	c := (*client)(t)
	if err := c.calls(ctx); err != nil {
		return nil, err
	}
	s := c.world.memory.sessions.next()
	s.reset(c, length)
	c.sessions = append(c.sessions, s)
	s.connectNext()
	until := min(c.until(timeout), endOf(ctx))
	s.opener = c.world.current
	for s.id == 0 && (c.park(until) || c.world.now < until) {
	}
	s.opener = nil
	if s.id != 0 {
		return s, nil
	}
	s.finish(zookeeper.ErrClosed) // what is granted nevertheless nobody keeps alive
	if err := ctx.Err(); err != nil {
		return nil, locks.Definite(err)
	}
	return nil, zookeeper.ErrNotConnected
}

// until is when a time-out that begins now ends.
func (c *client) until(timeout time.Duration) time.Duration {
	if timeout == 0 {
		timeout = c.world.cfg.Lease / 4
	}
	return c.world.now + c.clock.lasts(timeout)
}

// ID is what the ensemble knows it by.
func (s *session) ID() int64 { return s.id }

// Timeout is its length.
func (s *session) Timeout() time.Duration { return s.length }

// Do carries out one request.
func (s *session) Do(ctx context.Context, timeout time.Duration, cmd zookeeper.Command) (zookeeper.Reply, error) {
	c := s.client
	if err := c.calls(ctx); err != nil {
		return zookeeper.Reply{}, err
	}
	if !model.Valid(cmd) { // as the library says before it sends anything
		return zookeeper.Reply{Code: zookeeper.BadArguments}, nil
	}
	r := c.asks(cmd.Verb)
	reply, err := s.ask(timeout, request, cmd)
	r.answered()
	return reply, err
}

// ask puts a request into the queue, and waits for its answer.
func (s *session) ask(timeout time.Duration, a ask, cmd zookeeper.Command) (zookeeper.Reply, error) {
	c := s.client
	if s.end != nil {
		return zookeeper.Reply{}, s.end
	}
	call := c.world.memory.zkCalls.next()
	*call = zkCall{task: c.world.current, ask: a, op: c.world.current.operation.Index, command: cmd}
	s.calls = append(s.calls, call)
	s.sendCalls()
	until := c.until(timeout)
	for !call.done {
		if c.park(until) || call.done || c.world.now < until {
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

// unsend takes a call out of the queue, if it is not under way.
func (s *session) unsend(call *zkCall) bool {
	for i := s.sent; i < len(s.calls); i++ {
		if s.calls[i] == call {
			s.calls = append(s.calls[:i], s.calls[i+1:]...)
			return true
		}
	}
	return false
}

// Next takes the next event from the queue.
func (s *session) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	c := s.client
	c.mustLive()
	t := c.world.current
	until := never
	if timeout > 0 {
		until = c.until(timeout)
	}
	for {
		switch {
		case len(s.events) > 0:
			e := s.events[0]
			copy(s.events, s.events[1:])
			s.events = s.events[:len(s.events)-1]
			return e, nil
		case s.end != nil:
			return zookeeper.Event{}, s.end
		}
		if err := ctx.Err(); err != nil {
			return zookeeper.Event{}, err
		}
		if c.world.now >= until {
			return zookeeper.Event{}, zookeeper.ErrNoEvent
		}
		s.readers = append(s.readers, t)
		t.sleeping = true // so that who stops it wakes it
		c.park(min(until, endOf(ctx)))
		t.sleeping = false
		s.forget(t)
	}
}

func (s *session) forget(t *task) {
	for i, o := range s.readers {
		if o == t {
			s.readers = append(s.readers[:i], s.readers[i+1:]...)
			return
		}
	}
}

// Close ends the session at the client's wish.
func (s *session) Close(ctx context.Context, timeout time.Duration) error {
	if err := s.client.calls(ctx); err != nil {
		return err
	}
	_, err := s.ask(timeout, farewell, zookeeper.Command{})
	if s.end == nil {
		s.event(zookeeper.Closed, "")
		s.finish(zookeeper.ErrClosed)
	}
	return err
}

// event puts an event into the queue.
func (s *session) event(t zookeeper.EventType, path string) {
	s.events = append(s.events, zookeeper.Event{Type: t, Path: path})
	s.wakeReaders()
}

func (s *session) wakeReaders() {
	for _, t := range s.readers {
		s.wake(t)
	}
}

// wake lets a task go on that waits for s.
func (s *session) wake(t *task) {
	if t != nil && t.parked && !t.ended {
		t.answered = true
		t.wakeAt(s.client.world.now)
	}
}

// finish is the end of the session, as far as the client knows.
func (s *session) finish(why error) {
	s.end = why
	s.state = over
	s.drop()
	err := why
	if why == zookeeper.ErrClosed {
		err = zookeeper.ErrConnectionLoss // what is under way may happen
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
