// Package client is the real ZooKeeper behind the port: go-zookeeper, told to
// say honestly what became of a request, and to stop when its session has.
//
// What the library keeps to itself is seen where its bytes pass (wire): which
// requests have left, and how long the ensemble granted the session. Watches,
// and the session's end, are said there, too.
package client

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// Options says where the ensemble is and how long to wait for it.
type Options struct {
	// Addrs are the servers' host:port. A session tries them in this order.
	Addrs []string
	// Shuffle changes the order for each session, as rand.Shuffle does; nil: the
	// order stays, and all sessions begin with the first.
	Shuffle func(n int, swap func(i, j int))
	// Timeout is for calls that give none; 0: 3 s.
	Timeout time.Duration
	// Life ends all sessions on this side when it ends, and with them every call:
	// the ensemble is not told, and keeps a session until it expires. nil: it
	// never ends.
	Life context.Context
	// Dial makes connections; nil: TCP. ctx ends with the session.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// client is a zookeeper.Transport.
type client struct{ o Options }

// New returns a way to the ensemble. It does not connect: Open does. What its
// sessions use they give back when they end.
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

// Open is zookeeper.Transport's. ErrTimeout says that a server was asked for a
// session, ErrNotConnected that none was.
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
		zk.WithHostProvider(h), zk.WithDialer(h.dial), zk.WithEventCallback(s.hear),
		zk.WithLogger(silence{}), zk.WithLogInfo(false))
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

// limit is a context that ends when a call has to give up.
func (o Options) limit(timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		timeout = o.Timeout
	}
	return context.WithTimeout(context.Background(), timeout)
}

// silence is a logger that says nothing: what the library would report, calls
// and events tell.
type silence struct{}

func (silence) Printf(string, ...any) {}
