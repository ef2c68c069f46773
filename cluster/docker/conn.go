package docker

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/faults"
)

// conn is one connection of a client: near, its own, and far, ours to the server.
type conn struct {
	link     *link
	accepted int64 // the operation in which near was accepted
	near     *net.TCPConn
	route    *route
	far      *net.TCPConn // of route
	up, down *queue

	read   atomic.Int64 // bytes from near that are noted
	over   atomic.Bool  // near has ended
	silent atomic.Bool  // nothing travels on it any more

	ending sync.Once
	done   chan struct{}

	mu         sync.Mutex
	unanswered []*request
}

// request is one request on its way.
type request struct {
	words []string
	op    int64         // index of the operation's invoke; 0: it belongs to none
	seen  chan struct{} // closed when the server's feed has shown it
}

// parcel is a message on its way, or the end of a direction.
type parcel struct {
	raw     []byte
	due     time.Time
	request *request // the request itself, or the one that raw answers; nil: neither
	end     bool
	reset   bool // the end is a reset
}

// unknownOp stands for an operation that cannot be told.
const unknownOp = -1

func (p parcel) sort() sort {
	switch {
	case p.end:
		return ends
	case p.request != nil && isGreeting(p.request.words):
		return greets
	}
	return works
}

// tagged notes what is read, and in which operation.
type tagged struct {
	*conn
	op int64
}

func (t *tagged) Read(b []byte) (int, error) {
	n, err := t.near.Read(b)
	t.op = t.link.op.Load()
	if first := t.conn.read.Add(int64(n)) == int64(n); first && t.op != t.accepted {
		t.op = unknownOp // it may have come while we still connected to the server
	}
	return n, err
}

// settled tells whether everything that has arrived from near is read.
func (c *conn) settled() bool {
	received, ok := received(c.near)
	return !ok || c.over.Load() || c.read.Load() >= received
}

// readRequests puts what the client sends on its way. A request belongs to the
// operation in which its first byte came.
func (c *conn) readRequests() {
	src := &tagged{conn: c}
	r := bufio.NewReader(src)
	for {
		if _, err := r.Peek(1); err != nil {
			c.over.Store(true)
			c.up.push(c.parcel(faults.ToServer, parcel{end: true, reset: !ended(err)}))
			return
		}
		op := src.op
		raw, words, err := readRequest(r)
		if err != nil {
			if errors.Is(err, errNotRESP) {
				c.link.server.ledger.drop("client %s does not speak the protocol of Redis", c.link.client)
			}
			c.up.push(c.parcel(faults.ToServer, parcel{raw: raw}))
			continue
		}
		q := &request{words: words, op: op, seen: make(chan struct{})}
		c.mu.Lock()
		c.unanswered = append(c.unanswered, q)
		c.mu.Unlock()
		c.up.push(c.parcel(faults.ToServer, parcel{raw: raw, request: q}))
	}
}

// readReplies puts what the server sends on its way.
func (c *conn) readReplies() {
	for {
		raw, err := readReply(c.route.replies)
		if len(raw) == 0 || err != nil && !errors.Is(err, errNotRESP) {
			c.down.push(c.parcel(faults.ToClient, parcel{end: true, reset: !ended(err)}))
			return
		}
		p := parcel{raw: raw}
		if raw[0] != '>' {
			p.request = c.answered()
		}
		c.down.push(c.parcel(faults.ToClient, p))
	}
}

// answered is the request that the next reply answers.
func (c *conn) answered() *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unanswered) == 0 {
		return nil
	}
	q := c.unanswered[0]
	c.unanswered = c.unanswered[1:]
	return q
}

// parcel says when p is due.
func (c *conn) parcel(to faults.Direction, p parcel) parcel {
	if by := c.link.disturb.delay(c.way(to), p.sort()); by > 0 {
		p.due = time.Now().Add(by)
	}
	return p
}

func (c *conn) way(to faults.Direction) way { return way{c.link.client, c.link.server.name, to} }

// pump delivers what is in q, in order, until the connection ends.
func (c *conn) pump(q *queue, to faults.Direction, deliver func(parcel) (more bool)) {
	for {
		p, ok := q.pop(c.done)
		if !ok || !c.wait(p.due) {
			return
		}
		if c.silent.Load() && !p.end {
			continue
		}
		switch c.link.disturb.arrive(c.way(to), p.sort(), c.done) {
		case abandoned:
			return
		case swallowed:
			c.silent.Store(true)
			continue
		case resets:
			c.reset()
			return
		}
		if !deliver(p) {
			return
		}
	}
}

// wait waits until t, unless the connection ends.
func (c *conn) wait(t time.Time) bool {
	d := time.Until(t)
	if t.IsZero() || d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.done:
		return false
	}
}

// toServer delivers a request. The feed is told first, so that it knows the
// request when the server shows it.
func (c *conn) toServer(p parcel) bool {
	if c.link.dark.Load() {
		return true
	}
	if p.end {
		c.far.CloseWrite()
		return false
	}
	if p.request != nil {
		c.route.feed.expect(c.route.expected, p.request)
	}
	c.far.Write(p.raw) // a failure shows in the other direction
	return true
}

// toClient delivers a reply. What the server did for it is told first: a
// client's completion must not stand before its cause.
func (c *conn) toClient(p parcel) bool {
	if p.end {
		if c.link.dark.Load() {
			return false
		}
		if p.reset {
			c.reset()
		} else {
			c.end(func() { c.near.Close(); c.far.Close() })
		}
		return false
	}
	if p.request != nil {
		if err := c.route.feed.shown(p.request); err != nil {
			c.link.server.ledger.drop("%v (%s)", err, p.request.words[0])
		}
	}
	c.near.Write(p.raw)
	return true
}

// reset resets the connection at both ends.
func (c *conn) reset() {
	c.end(func() { reset(c.near); reset(c.far) })
}

func (c *conn) end(closing func()) {
	c.ending.Do(func() {
		closing()
		close(c.done)
	})
}

// reset closes a connection so that the other end gets a RST.
func reset(c *net.TCPConn) {
	c.SetLinger(0)
	c.Close()
}

// ended tells an end in good order from a reset.
func ended(err error) bool { return errors.Is(err, io.EOF) }
