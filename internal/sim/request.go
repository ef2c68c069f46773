package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// countCall counts a call of the port, and returns an error if it cannot be made.
func (c *client) countCall(ctx context.Context) error {
	c.mustLive()
	o := c.world.current.operation
	if o.calls++; o.calls > maxPortCalls && !o.over {
		c.dead = true
		panic(unwindPanic{})
	}
	if err := ctx.Err(); err != nil {
		return locks.Definite(err)
	}
	return nil
}

// transport is the client's connection to Redis as its library makes it: to the
// master of a node, as far as the client knows it, or to the server of tokens.
type transport struct {
	client *client
	node   int
	server *server // nil: the master of a node
}

func (t *transport) to() *server {
	if t.server != nil {
		return t.server
	}
	return t.client.masters[t.node]
}

// These are the retries of go-redis after an error, by default.
const (
	defaultRetries = 3
	minBackoff     = 8 * time.Millisecond
	maxBackoff     = 512 * time.Millisecond
)

// Do executes one call of the port.
func (t *transport) Do(ctx context.Context, timeout time.Duration, cmd redis.Command) (redis.Reply, error) {
	c := t.client
	if err := c.countCall(ctx); err != nil {
		return redis.Reply{}, err
	}
	if timeout == 0 {
		timeout = c.world.cfg.Lease / 4
	}
	task := c.world.current
	r := c.beginRequest(cmd.Verb)
	retries := 0
	if c.world.cfg.Options.Retries {
		retries = defaultRetries
	}
	err := c.request(t.to(), timeout, &cmd)
	for try := 0; err != nil && try < retries; try++ {
		c.sleep(context.Background(), min(minBackoff<<try, maxBackoff))
		if again := c.request(t.to(), timeout, &cmd); again == nil || !locks.IsDefinite(again) {
			err = again // an earlier try may have been executed, so a definite error would be wrong
		}
	}
	reply := task.reply // time may pass at a point
	r.finish()
	if err != nil {
		return redis.Reply{}, err
	}
	return reply, nil
}

// numberedRequest is one request of an operation, with a point before it and one after
// it.
type numberedRequest struct {
	client    *client
	operation *operation
	n         int
	last      bool
	sends     fmt.Stringer // its command
}

// beginRequest counts a request of the running task and announces the point before it.
func (c *client) beginRequest(sends fmt.Stringer) numberedRequest {
	o := c.world.current.operation
	o.requests++
	c.world.requests++
	r := numberedRequest{c, o, o.requests, o.requests == c.lastRequest(o), sends}
	c.point(&r, false)
	return r
}

// finish announces the point after it.
func (r *numberedRequest) finish() {
	r.operation.answered, r.operation.sent = r.n, r.sends
	r.client.point(r, true)
}

// lastRequest returns how many requests an undisturbed operation has.
func (c *client) lastRequest(o *operation) int {
	if o.kind == history.Acquire {
		return c.world.cfg.Lock.Steps.Acquire
	}
	return c.world.cfg.Lock.Steps.Release
}

// request sends cmd, or the running task's access to the guarded resource, and
// waits for the answer. The answer is then in the task's reply or result.
func (c *client) request(s *server, timeout time.Duration, cmd *redis.Command) error {
	until := c.world.now + c.clock.trueDuration(timeout)
	n := c.idle(s)
	n.busy = true
	err := c.carry(n, until, cmd)
	n.busy = false
	return err
}

func (c *client) carry(n *conn, until time.Duration, cmd *redis.Command) error {
	if !n.open {
		if err := c.exchange(n, dial, until, nil); err != nil || !n.open { // it may have been reset during a pause
			return errUnreachable // the request itself was never sent
		}
	}
	return c.exchange(n, call, until, cmd)
}

// idle returns an unused connection to s, which may not be open yet.
func (c *client) idle(s *server) *conn {
	slot := &c.conns[s.n]
	if (*slot).busy {
		slot = c.spareSlot(s)
	}
	if !(*slot).open {
		*slot = c.world.connect(c, s)
	}
	return *slot
}

func (c *client) spareSlot(s *server) **conn {
	for i, n := range c.spare {
		if n.server == s && !n.busy {
			return &c.spare[i]
		}
	}
	c.spare = append(c.spare, c.world.connect(c, s))
	return &c.spare[len(c.spare)-1]
}

// exchange sends a message and waits for its answer. A call carries cmd or the
// task's access.
func (c *client) exchange(n *conn, k kind, until time.Duration, cmd *redis.Command) error {
	t := c.world.current
	m := c.world.newMessage(n, k, true)
	if cmd != nil {
		m.command = *cmd
	} else if k == call {
		m.access = t.access
	}
	err := c.await(m, until)
	c.journal.result(n.server, k, &t.reply, &t.result, err)
	return err
}

// await sends m and waits for its answer.
//
// A client that was paused beyond its timeout finds two events when it resumes:
// the timeout, and the answer in its kernel's buffer. In a real client either may
// come first. Here the answer always does, because it can do harm: a client with
// a grant whose lease has expired goes on to use it, while a client with a
// timeout gives up.
func (c *client) await(m *message, until time.Duration) error {
	t, n := c.world.current, m.conn
	m.op = t.operation.Index
	n.waiter, t.err = t, nil
	c.world.send(m)
	if c.park(until) {
		return t.err
	}
	n.waiter, n.open = nil, false
	return env.ErrTimeout
}

// receive handles an answer that arrives at the client.
func (c *client) receive(m *message) {
	n := m.conn
	if n.library != nil {
		n.library.receive(m)
		return
	}
	t := n.waiter
	switch {
	case m.kind == rst:
		n.reset()
		t = nil
	case m.kind == notice:
		t = nil
		if c.paused {
			c.news = append(c.news, m.master)
		} else {
			c.learn(m.master)
		}
	case t != nil:
		// The kernel has the connection now, whether or not the client runs.
		n.open = m.err == nil
		n.waiter, t.err, t.reply, t.result = nil, m.err, m.reply, m.answer
		if n.server.database != nil && m.kind == call {
			t.rows = m.sql.reply
		}
	}
	c.world.free = append(c.world.free, m)
	if t != nil {
		t.answer()
	}
}
