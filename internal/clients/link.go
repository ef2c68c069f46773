package clients

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/faults"
)

// link is the only way from a client to a server: a TCP proxy that knows the ends of
// requests and replies, applies disturbances, and assigns each request to its
// operation. It replaces the addresses that servers announce by those of links.
type link struct {
	client   string
	far      Server
	listener net.Listener
	disturb  *disturbances
	op       *atomic.Int64 // the client's present operation
	life     context.Context
	stop     context.CancelFunc

	announced atomic.Pointer[announced] // nil: servers announce nothing

	pumps sync.WaitGroup
	dark  atomic.Bool // the client's machine is off: nothing more is sent, not even an end

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	probes map[string]chan struct{} // connections of settle, by address: closed when accepted
}

// Server is the server at the end of a link.
type Server interface {
	Name() string
	// Reach connects to the server for a client.
	Reach(ctx context.Context, client string) (Conn, Dialect, error)
	// Drop stops observing the server, with the reason.
	Drop(format string, args ...any)
}

// Conn is a connection to a server: of TCP, or of TLS above it.
type Conn interface {
	net.Conn
	CloseWrite() error
}

func newLink(client string, f Server, d *disturbances, op *atomic.Int64) (*link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("link from %s to %s: %w", client, f.Name(), err)
	}
	k := &link{client: client, far: f, listener: l, disturb: d, op: op, conns: map[*conn]struct{}{}, probes: map[string]chan struct{}{}}
	k.life, k.stop = context.WithCancel(context.Background())
	k.pumps.Go(k.accept)
	return k, nil
}

// addr returns the address at which the client reaches the server.
func (l *link) addr() string { return l.listener.Addr().String() }

// accept accepts connections. It resets them if the server is not reachable.
func (l *link) accept() {
	for {
		near, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // out of files, for now
			continue
		}
		if c := l.add(near.(*net.TCPConn)); c != nil {
			l.pumps.Go(c.readClient)
			l.pumps.Go(func() { l.join(c) })
		}
	}
}

// add registers a new connection. It returns nil if that needs no server.
func (l *link) add(near *net.TCPConn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := near.RemoteAddr().String()
	if accepted := l.probes[from]; accepted != nil || l.closed {
		if delete(l.probes, from); accepted != nil {
			close(accepted)
		}
		reset(near)
		return nil
	}
	c := &conn{
		link: l, near: near, done: make(chan struct{}),
		sent: newQueue[part](), up: newQueue[Parcel](), down: newQueue[Parcel](),
	}
	l.conns[c] = struct{}{}
	return c
}

// join connects c to the server.
func (l *link) join(c *conn) {
	defer l.remove(c)
	far, talk, err := l.far.Reach(l.life, l.client)
	if err != nil {
		c.reset()
		return
	}
	if !l.connect(c, far, talk) {
		reset(far)
		return
	}
	var both sync.WaitGroup
	both.Go(c.readRequests)
	both.Go(c.readReplies)
	both.Go(func() { c.pump(c.up, faults.ToServer, c.toServer) })
	both.Go(func() { c.pump(c.down, faults.ToClient, c.toClient) })
	both.Wait()
}

// connect gives a connection its server. It returns false if the connection was reset
// meanwhile: it may lead to the wrong server.
func (l *link) connect(c *conn, far Conn, talk Dialect) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-c.done:
		return false
	default:
		c.far, c.talk = far, talk
		return true
	}
}

func (l *link) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// settle returns when every byte that the client has sent so far is assigned to its
// operation. It is quick: the bytes only have to be read. It returns false after
// settleLimit.
func (l *link) settle() bool {
	limit := time.Now().Add(settleLimit)
	if !l.allAccepted() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		for !c.allRead() {
			if time.Now().After(limit) {
				return false
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
	return true
}

// allAccepted returns when every connection that the client has opened so far is accepted.
// Connections are accepted in order, so it opens one itself and waits for that.
func (l *link) allAccepted() bool {
	l.mu.Lock()
	probe, err := net.DialTimeout("tcp", l.addr(), settleLimit)
	if err != nil {
		defer l.mu.Unlock()
		return l.closed
	}
	defer probe.Close()
	accepted := make(chan struct{})
	l.probes[probe.LocalAddr().String()] = accepted
	l.mu.Unlock()
	select {
	case <-accepted:
		return true
	case <-l.life.Done():
		return true
	case <-time.After(settleLimit):
		return false
	}
}

const settleLimit = time.Second

// cut resets all connections, even those that are being made. New ones may follow.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.reset()
	}
}

// close ends all connections.
func (l *link) close() {
	l.listener.Close()
	l.stop()
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		c.reset()
	}
	l.mu.Unlock()
	l.pumps.Wait()
}

// ErrDown is the error of a server that is down.
var ErrDown = errors.New("the server is down")
