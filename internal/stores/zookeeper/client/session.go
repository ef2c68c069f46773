package client

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// session is a zookeeper.Session: one of the library's connections, up to the
// first end of its session.
type session struct {
	o      Options
	addrs  []string
	length time.Duration   // as asked for
	life   context.Context // ends with the session
	cancel context.CancelFunc
	conn   *zk.Conn
	made   chan struct{} // closed when conn is set

	// turn is had by whoever makes a request, until that has left or never will:
	// so at most one is in the library that has not, and they leave in order.
	turn chan struct{}

	mu       sync.Mutex
	news     chan struct{} // closed when anything below has changed
	id       int64
	timeout  time.Duration // as granted
	asked    bool          // a server was asked for the session
	up       bool          // a server carries the session
	wire     *wire         // the last connection; nil: there was none
	making   *request      // what has the turn and is in the library
	watches  map[watch]bool
	watched  bool // some of them were for the event that the library is about to tell
	closing  bool
	stopping bool  // the library was told to stop
	end      error // ErrSessionExpired or ErrClosed; nil: it goes on
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

// ID is zookeeper.Session's.
func (s *session) ID() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Timeout is zookeeper.Session's.
func (s *session) Timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// changed wakes all who await something. The caller has the mutex.
func (s *session) changed() {
	close(s.news)
	s.news = make(chan struct{})
}

// errTime is await's when the call has to give up.
var errTime = errors.New("zookeeper client: out of time")

// await returns when so holds, which is asked with the mutex. The error is
// errTime, or a definite one of ctx's.
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

// over says why no further request is made; nil: they are. The caller has the
// mutex.
func (s *session) over() error {
	if s.end == nil && s.closing {
		return zookeeper.ErrClosed
	}
	return s.end
}

// hear is told by the library what happens, before it goes on.
func (s *session) hear(e zk.Event) {
	switch e.Type {
	case zk.EventNodeCreated:
		s.tell(zookeeper.Event{Type: zookeeper.NodeCreated, Path: e.Path})
	case zk.EventNodeDeleted:
		s.tell(zookeeper.Event{Type: zookeeper.NodeDeleted, Path: e.Path})
	case zk.EventNodeDataChanged:
		s.tell(zookeeper.Event{Type: zookeeper.NodeDataChanged, Path: e.Path})
	case zk.EventNodeChildrenChanged:
		s.tell(zookeeper.Event{Type: zookeeper.NodeChildrenChanged, Path: e.Path})
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

// tell puts what a watch tells in the queue. A server that a client tells of two
// watches on a node that is gone says so twice (DataTree.setWatches); the first
// event has used up both, as in the Java client.
func (s *session) tell(e zookeeper.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil && s.watched {
		s.events = append(s.events, e)
		s.changed()
	}
}

// carry notes that a server carries the session. The library waits until it
// knows what is watched: it sends no request before.
func (s *session) carry() {
	s.mu.Lock()
	w, watches := s.wire, slices.Collect(maps.Keys(s.watches))
	s.mu.Unlock()
	if len(watches) > 0 && w.setWatches(watches) != nil {
		w.Close() // the library finds out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.up = true
		s.events = append(s.events, zookeeper.Event{Type: zookeeper.Connected})
		s.changed()
	}
}

// drop notes that no server does; the library says so for each try, and when it
// stops.
func (s *session) drop() {
	s.mu.Lock()
	stopping := s.stopping
	if s.end == nil && s.up {
		s.up = false
		s.events = append(s.events, zookeeper.Event{Type: zookeeper.Disconnected})
		s.changed()
	}
	s.mu.Unlock()
	if stopping {
		time.Sleep(headStart)
	}
}

// finish ends the session on this side, if nothing has yet: no server is dialed
// any more, and the library is told to stop when it looks for the next.
func (s *session) finish(end error, last zookeeper.EventType) {
	s.mu.Lock()
	if s.end == nil {
		s.end = end
		s.up = false
		s.events = append(s.events, zookeeper.Event{Type: last})
		s.changed()
	}
	w := s.wire
	s.mu.Unlock()
	s.cancel()
	if w != nil {
		w.Close()
	}
}

// Next is zookeeper.Session's.
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

// Close is zookeeper.Session's. It waits for a connection to say it on. Of a
// session that has ended it says how.
func (s *session) Close(ctx context.Context, timeout time.Duration) error {
	give, cancel := s.o.limit(timeout)
	defer cancel()
	s.mu.Lock()
	if err := s.over(); err != nil {
		s.mu.Unlock()
		return err
	}
	s.closing = true
	s.changed()
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
	go w.bid()
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
