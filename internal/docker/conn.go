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
	far      *net.TCPConn
	talk     dialect
	up, down *queue

	read   atomic.Int64 // bytes from near that are noted
	over   atomic.Bool  // near has ended
	silent atomic.Bool  // nothing travels on it any more

	ending sync.Once
	done   chan struct{}
}

// dialect is what a client and its server speak on one connection, as it looks
// from the middle: what is a message, and what has to be done when it passes.
type dialect interface {
	// request reads what the client sends next, in operation op. It may be cut
	// short by the connection's end.
	request(r *bufio.Reader, op int64) parcel
	// reply reads what the server sends next. An error is the connection's end.
	reply() (parcel, error)
}

// parcel is a message on its way, or the end of a direction.
type parcel struct {
	raw  []byte
	sort sort
	due  time.Time
	// pass is called when it is about to be delivered; stop is closed when the
	// connection ends. A request is announced to who tells what the server does;
	// a reply waits until that is told: a client's completion must not stand
	// before its cause. nil: there is nothing to do.
	pass  func(stop <-chan struct{})
	reset bool // of an end: it is a reset
}

// unknownOp stands for an operation that cannot be told.
const unknownOp = -1

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
			c.up.push(c.parcel(faults.ToServer, parcel{sort: ends, reset: !ended(err)}))
			return
		}
		c.up.push(c.parcel(faults.ToServer, c.talk.request(r, src.op)))
	}
}

// readReplies puts what the server sends on its way.
func (c *conn) readReplies() {
	for {
		p, err := c.talk.reply()
		if err != nil {
			c.down.push(c.parcel(faults.ToClient, parcel{sort: ends, reset: !ended(err)}))
			return
		}
		c.down.push(c.parcel(faults.ToClient, p))
	}
}

// parcel says when p is due.
func (c *conn) parcel(to faults.Direction, p parcel) parcel {
	if by := c.link.disturb.delay(c.way(to), p.sort); by > 0 {
		p.due = time.Now().Add(by)
	}
	return p
}

func (c *conn) way(to faults.Direction) way { return way{c.link.client, c.link.far.called(), to} }

// pump delivers what is in q, in order, until the connection ends.
func (c *conn) pump(q *queue, to faults.Direction, deliver func(parcel) (more bool)) {
	for {
		p, ok := q.pop(c.done)
		if !ok || !c.wait(p.due) {
			return
		}
		if c.silent.Load() && p.sort != ends {
			continue
		}
		switch c.link.disturb.arrive(c.way(to), p.sort, c.done) {
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

// toServer delivers a request.
func (c *conn) toServer(p parcel) bool {
	if c.link.dark.Load() {
		return true
	}
	if p.sort == ends {
		c.far.CloseWrite()
		return false
	}
	if p.pass != nil {
		p.pass(c.done)
	}
	c.far.Write(p.raw) // a failure shows in the other direction
	return true
}

// toClient delivers a reply.
func (c *conn) toClient(p parcel) bool {
	if p.sort == ends {
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
	if p.pass != nil {
		p.pass(c.done)
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
