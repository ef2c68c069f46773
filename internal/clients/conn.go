package clients

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

// conn is one connection of a client: near is the client's end, far the server's.
type conn struct {
	link     *link
	near     *net.TCPConn
	far      Conn    // nil: it is being reached, or was never
	talk     Dialect // of far
	sent     *queue[part]
	up, down *queue[Parcel]

	read   atomic.Int64 // bytes read from near
	over   atomic.Bool  // near has ended
	silent atomic.Bool  // nothing travels on it any more

	ending sync.Once
	done   chan struct{}
}

// Dialect is the protocol of one connection between client and server: where messages
// end, and what to do when one passes.
type Dialect interface {
	// Request reads the client's next message, in operation op. The connection's end
	// may cut it short.
	Request(r *bufio.Reader, op int64) Parcel
	// Reply reads the server's next message. It returns an error at the connection's
	// end.
	Reply() (Parcel, error)
}

// part is a part of what the client has sent.
type part struct {
	bytes []byte
	op    int64 // the operation in which it came
	err   error // the end of near, after the bytes
}

// readClient reads what the client sends. It does so at once, even if the server is still
// being reached, so that each byte is assigned to its operation.
func (c *conn) readClient() {
	for {
		b := make([]byte, 4096)
		n, err := c.near.Read(b)
		c.sent.push(part{b[:n], c.link.op.Load(), err})
		if c.read.Add(int64(n)); err != nil {
			c.over.Store(true)
			return
		}
	}
}

// opReader reads what the client has sent, and notes its operation.
type opReader struct {
	*conn
	part
}

func (t *opReader) Read(b []byte) (int, error) {
	for len(t.bytes) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		var ok bool
		if t.part, ok = t.sent.pop(t.done); !ok {
			return 0, net.ErrClosed
		}
	}
	n := copy(b, t.bytes)
	t.bytes = t.bytes[n:]
	return n, nil
}

// allRead reports whether everything that has arrived from near is read.
func (c *conn) allRead() bool {
	received, ok := bytesReceived(c.near)
	return !ok || c.over.Load() || c.read.Load() >= received
}

// readRequests queues the client's messages. A request belongs to the operation in
// which its first byte came.
func (c *conn) readRequests() {
	src := &opReader{conn: c}
	r := bufio.NewReader(src)
	for {
		if _, err := r.Peek(1); err != nil {
			c.up.push(c.withDelay(faults.ToServer, Parcel{Kind: end, reset: !isCleanEnd(err)}))
			return
		}
		c.up.push(c.withDelay(faults.ToServer, c.talk.Request(r, src.op)))
	}
}

// readReplies queues the server's messages.
func (c *conn) readReplies() {
	for {
		p, err := c.talk.Reply()
		if err != nil {
			c.down.push(c.withDelay(faults.ToClient, Parcel{Kind: end, reset: !isCleanEnd(err)}))
			return
		}
		if a := c.link.announced.Load(); p.Names && a != nil {
			p.Raw = a.rewrite(p.Raw)
		}
		c.down.push(c.withDelay(faults.ToClient, p))
	}
}

// withDelay sets the delivery time of p.
func (c *conn) withDelay(to faults.Direction, p Parcel) Parcel {
	if by := c.link.disturb.delay(c.way(to), p.Kind); by > 0 {
		p.due = time.Now().Add(by)
	}
	return p
}

func (c *conn) way(to faults.Direction) way { return way{c.link.client, c.link.far.Name(), to} }

// pump delivers the messages of q in order, until the connection ends.
func (c *conn) pump(q *queue[Parcel], to faults.Direction, deliver func(Parcel) (more bool)) {
	for {
		p, ok := q.pop(c.done)
		if !ok || !c.wait(p.due) {
			return
		}
		if c.silent.Load() && p.Kind != end {
			continue
		}
		switch c.link.disturb.arrive(c.way(to), p.Kind, c.done) {
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

// wait waits until t. It returns false if the connection ends first.
func (c *conn) wait(t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-c.done:
		return false
	}
}

// toServer delivers a request.
func (c *conn) toServer(p Parcel) bool {
	if c.link.dark.Load() {
		return true
	}
	if p.Kind == end {
		c.far.CloseWrite()
		return false
	}
	if p.Pass != nil {
		p.Pass(c.done)
	}
	c.far.Write(p.Raw) // a failed write shows in the other direction
	return true
}

// toClient delivers a reply.
func (c *conn) toClient(p Parcel) bool {
	if p.Kind == end {
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
	if p.Pass != nil {
		p.Pass(c.done)
	}
	c.near.Write(p.Raw)
	return true
}

// reset resets the connection at both ends.
func (c *conn) reset() {
	c.end(func() {
		reset(c.near)
		if c.far != nil {
			reset(c.far)
		}
	})
}

func (c *conn) end(closing func()) {
	c.ending.Do(func() {
		closing()
		close(c.done)
	})
}

// reset closes a connection with a RST.
func reset(c net.Conn) {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn() // TLS would say goodbye first
	}
	if plain, ok := c.(*net.TCPConn); ok {
		plain.SetLinger(0)
	}
	c.Close()
}

// isCleanEnd reports whether an end is clean, not a reset.
func isCleanEnd(err error) bool { return errors.Is(err, io.EOF) }
