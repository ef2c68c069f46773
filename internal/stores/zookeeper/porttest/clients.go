package porttest

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// Dial makes a connection to a server.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Clients are the clients of a World in real time whose servers are reached over
// connections. They are an Outage.
type Clients struct {
	t     *testing.T
	addrs func() []string
	dial  Dial
	port  func(addrs []string, dial Dial) zookeeper.Port
	start time.Time

	mu   sync.Mutex
	ways map[zookeeper.Session]*network
}

// NewClients returns clients of the servers at addrs. port makes the port of one client.
func NewClients(t *testing.T, addrs func() []string, dial Dial, port func(addrs []string, dial Dial) zookeeper.Port) *Clients {
	c := &Clients{t: t, addrs: addrs, dial: dial, port: port, start: time.Now(), ways: map[zookeeper.Session]*network{}}
	t.Cleanup(func() {
		for s, way := range c.ways {
			way.set(func() { way.cut = true }, true)
			s.Close(context.Background(), time.Millisecond)
		}
	})
	return c
}

// Open implements World.
func (c *Clients) Open(server int, session time.Duration) zookeeper.Handle {
	addrs := c.addrs()
	if server > 0 {
		addrs = slices.Concat(addrs[server:], addrs[:server])
	}
	way := newNetwork(c.dial)
	h, err := c.port(addrs, way.dial).Open(context.Background(), patience, session)
	if err != nil {
		c.t.Errorf("open: %v", err)
		return h
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ways[h.Session] = way
	return h
}

func (c *Clients) way(h zookeeper.Handle) *network {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ways[h.Session]
}

// Disconnect implements World.
func (c *Clients) Disconnect(h zookeeper.Handle) { c.way(h).set(func() {}, true) }

// Freeze implements World.
func (c *Clients) Freeze(h zookeeper.Handle) {
	y := c.way(h)
	y.set(func() { y.still = true }, false)
}

// Thaw implements World.
func (c *Clients) Thaw(h zookeeper.Handle) { y := c.way(h); y.set(func() { y.still = false }, false) }

// Cut implements Outage.
func (c *Clients) Cut(h zookeeper.Handle) { y := c.way(h); y.set(func() { y.cut = true }, true) }

// Join implements Outage.
func (c *Clients) Join(h zookeeper.Handle) { y := c.way(h); y.set(func() { y.cut = false }, false) }

// Now implements World.
func (c *Clients) Now() time.Duration { return time.Since(c.start) }

// Sleep implements World.
func (c *Clients) Sleep(d time.Duration) { time.Sleep(d) }

// Slack implements World.
func (c *Clients) Slack() time.Duration { return 5 * time.Second }

// network is a client's connection to all servers.
type network struct {
	reach Dial

	mu    sync.Mutex
	turn  *sync.Cond // signals each change
	still bool       // the client is paused
	cut   bool       // the client reaches no server
	conns map[*networkConn]bool
}

func newNetwork(dial Dial) *network {
	y := &network{reach: dial, conns: map[*networkConn]bool{}}
	y.turn = sync.NewCond(&y.mu)
	return y
}

// set changes the way and, with hangUp, closes its connections.
func (y *network) set(change func(), hangUp bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	change()
	if hangUp {
		for h := range y.conns {
			h.Conn.Close()
		}
	}
	y.turn.Broadcast()
}

// move waits until the client is not paused.
func (y *network) move(over func() bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for y.still && !over() {
		y.turn.Wait()
	}
}

var errCut = errors.New("cut")

func (y *network) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	defer context.AfterFunc(ctx, func() { y.set(func() {}, false) })()
	y.move(func() bool { return ctx.Err() != nil })
	conn, err := y.reach(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.cut {
		conn.Close()
		return nil, errCut
	}
	h := &networkConn{Conn: conn, way: y}
	y.conns[h] = true
	return h, nil
}

// networkConn is a connection that is paused with its client.
type networkConn struct {
	net.Conn
	way    *network
	closed bool
}

func (h *networkConn) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	h.way.move(func() bool { return h.closed })
	return n, err
}

func (h *networkConn) Write(b []byte) (int, error) {
	h.way.move(func() bool { return h.closed })
	return h.Conn.Write(b)
}

func (h *networkConn) Close() error {
	h.way.set(func() {
		h.closed = true
		delete(h.way.conns, h)
	}, false)
	return h.Conn.Close()
}
