package client_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/porttest"
)

// The client and real servers must answer like the model.
func TestConformance(t *testing.T) {
	porttest.Run(t, func(t *testing.T) porttest.World {
		w := &world{t: t, ensemble: dockertest.ZooKeeper(t), start: time.Now(), ways: map[zookeeper.Session]*network{}}
		t.Cleanup(func() {
			for s, way := range w.ways {
				way.set(func() { way.cut = true }, true)
				s.Close(context.Background(), time.Millisecond)
			}
		})
		return w
	})
}

// world is a porttest.World of real servers.
type world struct {
	t        *testing.T
	ensemble *docker.Ensemble
	start    time.Time
	killed   *docker.ZooKeeperServer

	mu   sync.Mutex
	ways map[zookeeper.Session]*network
}

func (w *world) Open(server int, session time.Duration) zookeeper.Handle {
	addrs := w.ensemble.Addrs()
	if server > 0 {
		addrs = slices.Concat(addrs[server:], addrs[:server])
	}
	way := newNetwork()
	h, err := port(client.Options{Addrs: addrs, Dial: way.dial}).Open(context.Background(), patience, session)
	if err != nil {
		w.t.Errorf("open: %v", err)
		return h
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ways[h.Session] = way
	return h
}

func (w *world) way(h zookeeper.Handle) *network {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ways[h.Session]
}

func (w *world) Disconnect(h zookeeper.Handle) { w.way(h).set(func() {}, true) }
func (w *world) Freeze(h zookeeper.Handle)     { y := w.way(h); y.set(func() { y.still = true }, false) }

func (w *world) Thaw(h zookeeper.Handle) { y := w.way(h); y.set(func() { y.still = false }, false) }

func (w *world) Cut(h zookeeper.Handle) { y := w.way(h); y.set(func() { y.cut = true }, true) }

func (w *world) Join(h zookeeper.Handle) { y := w.way(h); y.set(func() { y.cut = false }, false) }
func (w *world) Now() time.Duration      { return time.Since(w.start) }
func (w *world) Sleep(d time.Duration)   { time.Sleep(d) }
func (w *world) Slack() time.Duration    { return 5 * time.Second }

func (w *world) KillLeader() {
	ctx := context.Background()
	leader, err := w.ensemble.Leader(ctx)
	if err == nil {
		w.killed = leader
		err = leader.Kill(ctx)
	}
	for _, s := range w.ensemble.Servers {
		if err == nil && s != leader {
			err = s.Serves(ctx)
		}
	}
	if err == nil {
		_, err = w.ensemble.Leader(ctx)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) StartKilled() {
	if err := w.killed.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// Preset makes a new ensemble. Earlier sessions have ended.
func (w *world) Preset(path string, counter int32) {
	if err := w.ensemble.Restore(context.Background(), snapshotZxid, snapshot(counter, path)); err != nil {
		w.t.Fatal(err)
	}
}

// network is a client's connection to all servers.
type network struct {
	mu    sync.Mutex
	turn  *sync.Cond // signals each change
	still bool       // the client is paused
	cut   bool       // the client reaches no server
	conns map[*networkConn]bool
}

func newNetwork() *network {
	y := &network{conns: map[*networkConn]bool{}}
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
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
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
