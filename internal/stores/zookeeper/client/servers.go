package client

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// servers is a session's zk.HostProvider: it chooses the next server. The library
// calls it from one goroutine.
type servers struct {
	*session
	at    int // index of the next server
	tried int // servers tried since the last success
	quit  sync.Once
}

// Init does nothing: the session knows the order, which the library has already
// changed.
func (*servers) Init([]string) error { return nil }

// Len returns the number of servers.
func (h *servers) Len() int { return len(h.addrs) }

// Next returns the next server. It never reports that all servers were tried,
// because the library would then wait for a second, a whole session's length:
// dial waits instead. It reports it only after the session's end. The library
// then waits, and reacts to its stop at once only in that wait.
func (h *servers) Next() (addr string, tried bool) {
	addr = h.addrs[h.at%len(h.addrs)]
	if h.life.Err() != nil {
		h.quit.Do(h.stop)
		return addr, true
	}
	h.at++
	h.tried++
	return addr, false
}

// stop stops the library.
func (h *servers) stop() {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	go func() {
		<-h.made
		h.conn.Close()
	}()
}

// headStart is a delay for the library's Close after the library has announced
// its stop. Close then leaves a request, which the library answers if it finds it
// before it stops. Without the delay Close, in the background, would wait for a
// second.
const headStart = 10 * time.Millisecond

// Connected is called when a server has accepted the session.
func (h *servers) Connected() { h.tried = 0 }

// patience is the timeout for connecting to a server and getting the session from
// it. It is short enough to try every server within the session's time. The
// library would wait for almost seven times the session's length.
func (h *servers) patience() time.Duration {
	return max(h.length/time.Duration(len(h.addrs)), minPatience)
}

const (
	minPatience = 50 * time.Millisecond
	// maxPause limits the pause after all servers were tried. The pause is a
	// twentieth of the session.
	maxPause = time.Second
)

// dial connects to a server. After the session's end it fails, which keeps the
// library from opening a new session.
func (h *servers) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	if h.tried > 1 && h.tried%len(h.addrs) == 1%len(h.addrs) {
		select {
		case <-time.After(min(h.length/20, maxPause)):
		case <-h.life.Done():
		}
	}
	until := time.Now().Add(h.patience())
	ctx, cancel := context.WithDeadline(h.life, until)
	defer cancel()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	conn, err := h.o.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, session: h.session, until: until, asked: map[int32]ask{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end != nil {
		conn.Close()
		return nil, zookeeper.ErrClosed
	}
	h.wire = w
	return w, nil
}
