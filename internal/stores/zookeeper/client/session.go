package client

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// session is a zookeeper.Session: one connection of the library, up to the end of
// its first session.
type session struct {
	o      Options
	addrs  []string
	length time.Duration   // as requested
	life   context.Context // ends with the session
	cancel context.CancelFunc
	conn   *zk.Conn
	made   chan struct{} // closed when conn is set

	// turn is held by a request until it has been sent or dropped. So the library
	// has at most one unsent request, and requests are sent in order.
	turn chan struct{}

	mu       sync.Mutex
	news     chan struct{} // closed when a field below changes
	id       int64
	timeout  time.Duration // as granted
	asked    bool          // a server has received the request for a session
	up       bool          // a server carries the session
	wire     *wire         // the last connection; nil: none yet
	making   *request      // the request that has the turn and is in the library
	watches  map[watch]bool
	watched  bool // some of them were for the event that the library delivers next
	closing  bool
	stopping bool  // the library has been stopped
	end      error // ErrSessionExpired or ErrClosed; nil: not ended
	events   []zookeeper.Event
}

func newSession(o Options, length time.Duration) *session {
	s := &session{
		o: o, addrs: append([]string(nil), o.Addrs...), length: length,
		made: make(chan struct{}), turn: make(chan struct{}, 1),
		news: make(chan struct{}), watches: map[watch]bool{},
	}
	if o.Shuffle != nil {
		o.Shuffle(len(s.addrs), func(i, j int) { s.addrs[i], s.addrs[j] = s.addrs[j], s.addrs[i] })
	}
	s.life, s.cancel = context.WithCancel(o.Life)
	context.AfterFunc(s.life, func() { s.finish(zookeeper.ErrClosed, zookeeper.Closed) })
	return s
}

// ID implements zookeeper.Session.
func (s *session) ID() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Timeout implements zookeeper.Session.
func (s *session) Timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// wakeWaiters wakes all waiting calls. The caller holds the mutex.
func (s *session) wakeWaiters() {
	close(s.news)
	s.news = make(chan struct{})
}

// errTime is the error of await when the call must give up.
var errTime = errors.New("zookeeper client: out of time")

// await waits until so returns true. It calls so with the mutex held. The error
// is errTime, or a definite one of ctx.
func (s *session) await(ctx, give context.Context, so func() bool) error {
	for {
		s.mu.Lock()
		ok, news := so(), s.news
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return locks.Definite(ctx.Err())
		case <-give.Done():
			return errTime
		}
	}
}

// endErr returns the error of further requests after the session's end, or nil. The
// caller holds the mutex.
func (s *session) endErr() error {
	if s.end == nil && s.closing {
		return zookeeper.ErrClosed
	}
	return s.end
}

// handleEvent handles an event of the library before the library continues.
func (s *session) handleEvent(e zk.Event) {
	switch e.Type {
	case zk.EventNodeCreated, zk.EventNodeDeleted, zk.EventNodeDataChanged, zk.EventNodeChildrenChanged:
		s.queueEvent(zookeeper.Event{Type: zookeeper.EventType(e.Type), Path: e.Path}) // both have the protocol's numbers
	case zk.EventSession:
		switch e.State {
		case zk.StateHasSession:
			s.carry()
		case zk.StateDisconnected:
			s.drop()
		case zk.StateExpired:
			s.finish(zookeeper.ErrSessionExpired, zookeeper.Expired)
		}
	}
}

// queueEvent queues the event of a watch. If a node with two watches is gone, a server
// sends the event twice after a reconnect (DataTree.setWatches). The first event
// has used up both, as in the Java client.
func (s *session) queueEvent(e zookeeper.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil && s.watched {
		s.events = append(s.events, e)
		s.wakeWaiters()
	}
}

// carry notes that a server has accepted the session. The library waits until the
// watches are set: it sends no request before.
func (s *session) carry() {
	s.mu.Lock()
	w, watches := s.wire, slices.Collect(maps.Keys(s.watches))
	s.mu.Unlock()
	if len(watches) > 0 && w.setWatches(watches) != nil {
		w.Close() // the library notices
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.up = true
		s.events = append(s.events, zookeeper.Event{Type: zookeeper.Connected})
		s.wakeWaiters()
	}
}

// drop notes a lost connection. The library reports it for each attempt and when
// it stops.
func (s *session) drop() {
	s.mu.Lock()
	stopping := s.stopping
	if s.end == nil && s.up {
		s.up = false
		s.events = append(s.events, zookeeper.Event{Type: zookeeper.Disconnected})
		s.wakeWaiters()
	}
	s.mu.Unlock()
	if stopping {
		time.Sleep(headStart)
	}
}

// finish ends the session on this side, if it has not ended yet: no server is
// dialed again, and the library is stopped when it asks for the next server.
func (s *session) finish(end error, last zookeeper.EventType) {
	s.mu.Lock()
	if s.end == nil {
		s.end = end
		s.up = false
		s.events = append(s.events, zookeeper.Event{Type: last})
		s.wakeWaiters()
	}
	w := s.wire
	s.mu.Unlock()
	s.cancel()
	if w != nil {
		w.Close()
	}
}

// Next implements zookeeper.Session.
func (s *session) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	give := context.Background()
	if timeout > 0 {
		var cancel context.CancelFunc
		give, cancel = context.WithTimeout(give, timeout)
		defer cancel()
	}
	var e zookeeper.Event
	var end error
	err := s.await(ctx, give, func() bool {
		if len(s.events) > 0 {
			e, s.events = s.events[0], s.events[1:]
			return true
		}
		end = s.end
		return end != nil
	})
	switch {
	case errors.Is(err, errTime):
		return e, zookeeper.ErrNoEvent
	case err != nil:
		return e, ctx.Err()
	}
	return e, end
}

// Close implements zookeeper.Session. It waits for a connection. After the
// session's end it returns that end's error.
func (s *session) Close(ctx context.Context, timeout time.Duration) error {
	give, cancel := s.o.limit(timeout)
	defer cancel()
	s.mu.Lock()
	if err := s.endErr(); err != nil {
		s.mu.Unlock()
		return err
	}
	s.closing = true
	s.wakeWaiters()
	s.mu.Unlock()
	defer s.finish(zookeeper.ErrClosed, zookeeper.Closed)

	err := s.await(ctx, give, func() bool { return s.up || s.end != nil })
	switch {
	case errors.Is(err, errTime):
		return zookeeper.ErrNotConnected
	case err != nil:
		return err
	}
	s.mu.Lock()
	w := s.wire
	s.mu.Unlock()
	go w.sendClose()
	var end error
	err = s.await(context.Background(), give, func() bool {
		end = s.end
		return end != nil || !s.up
	})
	switch {
	case err != nil:
		return zookeeper.ErrTimeout
	case end == nil:
		return zookeeper.ErrConnectionLoss
	case errors.Is(end, zookeeper.ErrClosed):
		return nil
	}
	return end
}
