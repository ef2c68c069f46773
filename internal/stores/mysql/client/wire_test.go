package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/client"
)

// wires are a client's connections, in the order of their creation.
type wires struct {
	mu  sync.Mutex
	all []*wire
}

// dial is a client's Dialer.
func (w *wires) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	y := &wire{TCPConn: conn.(*net.TCPConn), over: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, y)
	return y, nil
}

// last returns the newest connection.
func (w *wires) last() *wire {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[len(w.all)-1]
}

// sent returns how many packets the client has written.
func (w *wires) sent() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, y := range w.all {
		y.mu.Lock()
		n += y.sent
		y.mu.Unlock()
	}
	return n
}

// end closes the client's open connections.
func (w *wires) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, y := range w.all {
		y.TCPConn.Close()
	}
}

// wire is a connection used by a driver. The driver checks the socket itself for
// a lost connection.
type wire struct {
	*net.TCPConn

	mu      sync.Mutex
	sent    int
	dropped bool
	silent  bool // half open: no data passes in either direction
	torn    bool // only a part of the next write is sent
	deaf    bool // the connection ends at the next packet, which is not read
	once    sync.Once
	over    chan struct{} // closed when the client closes its end
}

func (y *wire) set(change func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	change()
}

// drop ends the connection from below. Both ends notice.
func (y *wire) drop() {
	y.set(func() { y.dropped = true })
	y.TCPConn.Close()
}

// hasEnded reports whether the server can know that the connection has ended.
func (y *wire) hasEnded() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	select {
	case <-y.over:
		return !y.silent
	default:
		return y.dropped
	}
}

func (y *wire) isSilent() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.silent
}

var errTorn = errors.New("torn")

func (y *wire) Write(b []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.sent++
	switch {
	case y.silent:
		return len(b), nil
	case y.torn:
		n, _ := y.TCPConn.Write(b[:len(b)/2])
		return n, errTorn
	}
	return y.TCPConn.Write(b)
}

func (y *wire) Read(b []byte) (int, error) {
	n, err := y.TCPConn.Read(b)
	y.mu.Lock()
	silent, deaf := y.silent, y.deaf
	y.mu.Unlock()
	switch {
	case silent:
		<-y.over
		return 0, net.ErrClosed
	case deaf:
		return 0, io.EOF
	}
	return n, err
}

func (y *wire) Close() error {
	y.once.Do(func() { close(y.over) })
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.silent {
		return y.SetReadDeadline(time.Unix(1, 0)) // wakes a reader
	}
	return y.TCPConn.Close()
}

// newClient returns a client and its connections. All of them end with the test.
func newClient(t testing.TB, o client.Options) (mysql.Port, *client.Client, *wires) {
	t.Helper()
	w := &wires{}
	if o.Dialer == nil {
		o.Dialer = w.dial
	}
	c, err := client.New(o)
	must(t, err)
	t.Cleanup(func() { c.Close(); w.end() })
	return mysql.Port{Transport: c}, c, w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a session that ends with the test.
func open(t testing.TB, p mysql.Port) mysql.Handle {
	t.Helper()
	h, err := p.Open(t.Context(), patience)
	must(t, err)
	t.Cleanup(h.Close)
	return h
}
