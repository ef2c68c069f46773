package client

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// servers is the library's zk.HostProvider for a session: which server is next.
// The library asks from one goroutine.
type servers struct {
	*session
	at    int // whose turn it is
	tried int // since one carried the session
	quit  sync.Once
}

// Init does nothing: the library has changed the order, and the session knows it.
func (*servers) Init([]string) error { return nil }

// Len is how many there are.
func (h *servers) Len() int { return len(h.addrs) }

// Next is the next server. That all were tried in vain is never said, because
// the library would wait for a second, which is a session's whole length: dial
// waits instead. It is said once the session is over: while it waits, and only
// then, the library heeds at once that it has to stop.
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

// stop has the library end.
func (h *servers) stop() {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	go func() {
		<-h.made
		h.conn.Close()
	}()
}

// headStart is what the library's Close gets when it has said that the library
// is to stop: it then leaves a request, which the library answers if it finds
// it before it stops. Else Close, for which nobody waits, would wait for a
// second.
const headStart = 10 * time.Millisecond

// Connected is called when a server carries the session.
func (h *servers) Connected() { h.tried = 0 }

// patience is how long a server may take to be connected to and to take the
// session, and with it each of the others before the session's time is over.
// The library would wait for almost seven times the session's length.
func (h *servers) patience() time.Duration {
	return max(h.length/time.Duration(len(h.addrs)), minPatience)
}

const (
	minPatience = 50 * time.Millisecond
	// maxPause is the longest pause after all servers were tried; it is a
	// twentieth of the session.
	maxPause = time.Second
)

// dial connects to a server. A session that is over connects to none: this is
// what keeps the library from opening another one in its place.
func (h *servers) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	if h.tried > 1 && h.tried%len(h.addrs) == 1%len(h.addrs) {
		pause := time.NewTimer(min(h.length/20, maxPause))
		defer pause.Stop()
		select {
		case <-pause.C:
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
