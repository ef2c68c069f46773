package bubble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// errReset is the error of a connection that was reset.
var errReset error = os.NewSyscallError("read", syscall.ECONNRESET)

// opError returns an error as package net does: libraries look at it to decide whether to
// try again.
func (x *conn) opError(op string, err error) error {
	if err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Addr: x.remote, Err: err}
}

// conn is a client's end of a connection in memory.
type conn struct {
	client *client
	server string
	nth    int           // from this client to this server
	later  time.Duration // its timeouts come so much later: see apart
	local  addr
	remote addr

	// Known to the scheduler only:
	far   *sim.Wire
	codec codec

	sentinel *sentinel  // instead of all these
	state    *wire.Conn // there

	mu      sync.Mutex
	in      []byte
	err     error         // what Read returns after in
	until   time.Time     // when Read gives up; zero: never
	changed chan struct{} // receives when a field above has changed
	timer   *time.Timer   // for the next Read that waits; nil: it makes one
	waiting int           // Reads that wait
	dialed  chan error
}

type addr string

func (a addr) Network() string { return "tcp" }
func (a addr) String() string  { return string(a) }

// dial connects to a server.
func (c *client) dial(ctx context.Context, server, address string) (net.Conn, error) {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: addr(address), Err: errReset}
	}
	c.dials[server]++
	x := &conn{
		client: c, server: server, nth: c.dials[server], local: addr(c.name), remote: addr(address),
		changed: make(chan struct{}, 1), dialed: make(chan error, 1),
	}
	x.later = x.apart()
	if slices.Contains(c.world.layout.Ensemble, server) {
		x.codec = &zkCodec{server: server}
	} else {
		x.codec = new(redisCodec)
	}
	for o := range c.conns {
		c.many = c.many || o.server == server
	}
	c.conns[x] = true
	c.mu.Unlock()
	if s := c.world.sentinels[server]; s != nil {
		return s.dial(x), nil
	}
	x.want(func() {
		w, err := c.world.Dial(c.name, server, x)
		if x.far = w; err != nil {
			c.world.later(func() { x.answerDial(x.opError("dial", err)) })
		}
	})
	select {
	case err := <-x.dialed:
		if err != nil {
			x.Close()
			return nil, err
		}
		return x, nil
	case <-ctx.Done():
		time.Sleep(x.later)
		x.Close()
		return nil, x.opError("dial", ctx.Err())
	}
}

// apart returns some nanoseconds that the timeouts of this connection come later. Timers
// of one instant end in an order that chance decides, and a library that asks several
// servers at once gives all connections one deadline.
func (x *conn) apart() time.Duration {
	w := x.client.world
	server := slices.Index(w.layout.Servers(), x.server)
	return 1 + time.Duration(x.nth+32*(server+16*x.client.n))%998
}

func (x *conn) want(do func()) {
	x.client.world.want(ask{client: x.client.n, conn: x.server, nth: x.nth, do: do})
}

// Dialed implements sim.WireEnd. The error is what a kernel says: it is certain for the
// connection only, not for what a lock does with several.
func (x *conn) Dialed(err error) {
	if err != nil {
		err = &net.OpError{Op: "dial", Net: "tcp", Addr: x.remote, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	x.client.world.later(func() { x.answerDial(err) })
}

func (x *conn) answerDial(err error) {
	select {
	case x.dialed <- err:
	default: // nobody waits any more
	}
}

// Answer implements sim.WireEnd.
func (x *conn) Answer(a sim.WireAnswer) {
	data := x.codec.answer(a)
	if g := x.client.grants[a.Prolonged]; g != nil {
		g.reportProlonged()
	}
	x.client.world.later(func() { x.receive(data) })
}

// receive adds bytes that have arrived.
func (x *conn) receive(data []byte) {
	x.mu.Lock()
	x.in = append(x.in, data...)
	x.mu.Unlock()
	x.change()
}

// Reset implements sim.WireEnd.
func (x *conn) Reset(ended bool) {
	err := errReset
	if ended {
		err = io.EOF
	}
	x.client.world.later(func() { x.fail(err) })
}

func (x *conn) change() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// fail ends the connection on this side.
func (x *conn) fail(err error) {
	x.mu.Lock()
	if x.err == nil {
		x.err = err
	}
	x.mu.Unlock()
	x.answerDial(x.opError("dial", errReset))
	x.change()
}

// Read implements net.Conn. During a pause of the client no time is over: it finds what
// has arrived meanwhile when it goes on.
func (x *conn) Read(b []byte) (int, error) {
	for {
		x.mu.Lock()
		n := copy(b, x.in)
		x.in = x.in[:copy(x.in, x.in[n:])] // its memory serves the next answer, too
		err, until, more := x.err, x.until, len(x.in) > 0
		x.mu.Unlock()
		switch {
		case n > 0:
			if more || err != nil {
				x.change()
			}
			return n, nil
		case err != nil:
			x.change()
			return 0, x.opError("read", err)
		case !until.IsZero() && !time.Now().Before(until):
			if resumed := x.client.standstill(); resumed != nil {
				<-resumed
				continue
			}
			return 0, x.opError("read", os.ErrDeadlineExceeded)
		}
		x.wait()
	}
}

// wait waits for a change, or until the time is over. Most connections are read by one
// goroutine at a time, so that one timer is enough.
func (x *conn) wait() {
	x.mu.Lock()
	until, timer := x.until, x.timer
	x.timer = nil
	x.waiting++
	x.mu.Unlock()
	var over <-chan time.Time
	if !until.IsZero() {
		if timer == nil {
			timer = time.NewTimer(time.Until(until))
		} else {
			timer.Reset(time.Until(until))
		}
		over = timer.C
	}
	select {
	case <-x.changed:
	case <-over:
	}
	if over != nil {
		timer.Stop()
	}
	x.mu.Lock()
	x.timer = timer
	x.waiting--
	x.mu.Unlock()
}

// Write implements net.Conn. The bytes are on their way when the scheduler runs.
func (x *conn) Write(b []byte) (int, error) {
	x.mu.Lock()
	err := x.err
	x.mu.Unlock()
	if err != nil {
		if err == io.EOF {
			err = os.NewSyscallError("write", syscall.EPIPE)
		}
		return 0, x.opError("write", err)
	}
	if x.sentinel != nil {
		x.sentinel.serve(x, b)
		return len(b), nil
	}
	data, late := append([]byte(nil), b...), x.client.late()
	x.want(func() { x.send(data, late) })
	return len(b), nil
}

// send cuts what the client has written into requests. Nobody knows whose late ones are: a
// goroutine that serves a connection may have begun in an operation that was abandoned.
func (x *conn) send(data []byte, late bool) {
	if x.far == nil {
		return
	}
	ask := func(r sim.WireRequest) {
		r.Late = late && !r.Library
		x.client.world.unseen = x.client.world.unseen || r.Late
		if x.client.world.watched != nil && !r.Library && !r.Late {
			x.client.asked = append(x.client.asked, formOf(r.Name))
		}
		x.far.Ask(r)
	}
	if err := x.codec.take(data, ask); err != nil {
		if _, ok := errors.AsType[*userlock.Misuse](err); !ok {
			err = &userlock.Misuse{Words: fmt.Sprintf("%s cannot read a request: %v", x.server, err)}
		}
		x.abort(err)
	}
}

// abort ends the run.
func (x *conn) abort(err error) { x.client.world.Abort(fmt.Errorf("%s: %w", x.client.name, err)) }

// Close implements net.Conn.
func (x *conn) Close() error {
	c := x.client
	c.mu.Lock()
	there := c.conns[x]
	delete(c.conns, x)
	c.mu.Unlock()
	x.fail(net.ErrClosed)
	if there {
		x.want(func() {
			if x.far != nil {
				x.far.Close()
			}
		})
	}
	return nil
}

func (x *conn) LocalAddr() net.Addr  { return x.local }
func (x *conn) RemoteAddr() net.Addr { return x.remote }

// SetDeadline implements net.Conn. Writes never wait.
func (x *conn) SetDeadline(t time.Time) error      { return x.SetReadDeadline(t) }
func (x *conn) SetWriteDeadline(t time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (x *conn) SetReadDeadline(t time.Time) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.until = t
	if !t.IsZero() {
		x.until = t.Add(x.later)
	}
	if x.waiting > 0 {
		x.change()
	}
	return nil
}
