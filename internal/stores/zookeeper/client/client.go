// Package client connects the port to a real ZooKeeper ensemble: go-zookeeper,
// configured so that errors are honest about a request's outcome, and so that it
// stops when its session ends.
//
// The package observes the library's bytes (wire) to learn facts that the library
// does not export: the requests that were sent, and the session length that was
// granted. It also sends watches and the session's end there.
package client

import (
	"context"
	"errors"
	"io"
	"log"
	"math"
	"net"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// Options describe the ensemble's addresses and the timeouts.
type Options struct {
	// Addrs are the servers' host:port addresses. A session tries them in this
	// order.
	Addrs []string
	// Shuffle changes the order for each session, like rand.Shuffle. nil: all
	// sessions use the same order and begin with the first server.
	Shuffle func(n int, swap func(i, j int))
	// Timeout is the default of calls without one; 0: 3 s.
	Timeout time.Duration
	// Life ends all sessions on this side when it ends, and with them every call.
	// The ensemble is not notified and keeps a session until it expires. nil: it
	// never ends.
	Life context.Context
	// Dial makes connections; nil: TCP. Its context ends with the session.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// client is a zookeeper.Transport.
type client struct{ o Options }

// New returns a transport to the ensemble. It does not connect: Open does.
// Sessions free all their resources when they end.
func New(o Options) zookeeper.Transport {
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Second
	}
	if o.Life == nil {
		o.Life = context.Background()
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	o.Addrs = slices.Clone(o.Addrs)
	return &client{o}
}

var (
	errNoAddrs = errors.New("zookeeper client: no addresses")
	errLength  = errors.New("zookeeper client: a session lasts for at least 1 ms and at most 2^31-1 ms")
)

// Open implements zookeeper.Transport. ErrTimeout means that a server has
// received the request for a session, ErrNotConnected that no server has.
func (c *client) Open(ctx context.Context, timeout, length time.Duration) (zookeeper.Session, error) {
	switch {
	case ctx.Err() != nil:
		return nil, locks.Definite(ctx.Err())
	case len(c.o.Addrs) == 0:
		return nil, locks.Definite(errNoAddrs)
	case length < time.Millisecond || length > math.MaxInt32*time.Millisecond:
		return nil, locks.Definite(errLength)
	}
	give, cancel := c.o.limit(timeout)
	defer cancel()
	s := newSession(c.o, length)
	h := &servers{session: s}
	conn, _, err := zk.Connect(s.addrs, length,
		zk.WithHostProvider(h), zk.WithDialer(h.dial), zk.WithEventCallback(s.handleEvent),
		zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithLogInfo(false)) // calls and events report the same facts
	if err != nil {
		s.finish(zookeeper.ErrClosed, zookeeper.Closed)
		return nil, locks.Definite(err)
	}
	s.conn = conn
	close(s.made)
	err = s.await(ctx, give, func() bool { return s.up || s.end != nil })
	s.mu.Lock()
	asked, end := s.asked, s.end
	s.mu.Unlock()
	switch {
	case err == nil && end == nil:
		return s, nil
	case err == nil:
		return nil, end
	}
	s.finish(zookeeper.ErrClosed, zookeeper.Closed)
	switch {
	case !errors.Is(err, errTime):
		return nil, err
	case asked:
		return nil, zookeeper.ErrTimeout
	}
	return nil, zookeeper.ErrNotConnected
}

// limit returns a context that ends when a call must give up.
func (o Options) limit(timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		timeout = o.Timeout
	}
	return context.WithTimeout(context.Background(), timeout)
}
