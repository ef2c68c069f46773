package sim

import (
	"context"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

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
	task := c.net.current
	r := c.beginRequest(cmd.Verb)
	retries := 0
	if c.net.cfg.Options.Retries {
		retries = defaultRetries
	}
	err := c.request(t.to(), timeout, &cmd)
	for try := 0; err != nil && try < retries; try++ {
		c.Sleep(context.Background(), min(minBackoff<<try, maxBackoff))
		if again := c.request(t.to(), timeout, &cmd); again == nil || !locks.IsDefinite(again) {
			err = again // an earlier try may have been executed, so a definite error would be wrong
		}
	}
	reply := task.reply // time may pass at a point
	c.finish(r)
	if err != nil {
		return redis.Reply{}, err
	}
	return reply, nil
}

// request sends cmd, or the running task's access to the guarded resource, and
// waits for the answer. The answer is then in the task's reply or result.
func (c *client) request(s *server, timeout time.Duration, cmd *redis.Command) error {
	until := c.until(timeout)
	n := c.idle(s)
	n.busy = true
	var err error
	if !n.open {
		if err = c.exchange(n, dial, until, nil); err != nil || !n.open { // it may have been reset during a pause
			err = errUnreachable // the request itself was never sent
		}
	}
	if err == nil {
		err = c.exchange(n, call, until, cmd)
	}
	n.busy = false
	return err
}

// idle returns an unused connection to s, which may not be open yet.
func (c *client) idle(s *server) *conn {
	slot := &c.conns[s.n]
	if (*slot).busy {
		slot = c.spareSlot(s)
	}
	if !(*slot).open {
		*slot = c.net.connect(&c.endpoint, s)
	}
	return *slot
}

func (c *client) spareSlot(s *server) **conn {
	for i, n := range c.spare {
		if n.server == s && !n.busy {
			return &c.spare[i]
		}
	}
	c.spare = append(c.spare, c.net.connect(&c.endpoint, s))
	return &c.spare[len(c.spare)-1]
}

// exchange sends a message and waits for its answer. A call carries cmd or the
// task's access.
func (c *client) exchange(n *conn, k kind, until time.Duration, cmd *redis.Command) error {
	t := c.net.current
	m := c.net.newMessage(n, k, true)
	if cmd != nil {
		m.command = *cmd
	} else if k == call {
		m.access = t.access
	}
	err := c.await(m, until)
	c.journal.failure(err)
	switch {
	case err != nil || k != call:
	case n.server.redis == nil:
		c.journal.answer(&t.result)
	default:
		c.journal.reply(&t.reply)
	}
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
	t, n := c.net.current, m.conn
	m.op = t.operation.Index
	n.waiter, t.err = t, nil
	c.net.send(m)
	if c.park(until) {
		return t.err
	}
	n.waiter, n.open = nil, false
	return env.ErrTimeout
}

// newsReader is the client library's end of its connections to Sentinels.
type newsReader client

func (r *newsReader) receive(m *message) {
	c := (*client)(r)
	switch {
	case m.kind != notice:
	case c.paused:
		c.news = append(c.news, m.master)
	default:
		c.learn(m.master)
	}
	c.net.release(m)
}

// learn notes that s is the master of its node now. The library then leaves its
// connections to the other servers.
func (c *client) learn(s *server) {
	i := slices.Index(c.net.nodes, s.node)
	if c.masters[i] == s {
		return
	}
	c.masters[i] = s
	c.eachConn(func(n *conn) {
		if n.server.node == s.node && n.server != s {
			n.leave()
		}
	})
}
