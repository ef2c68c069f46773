package zookeeper_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/lockstest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// ensemble is one tree, identical for all clients, with watches.
type ensemble struct {
	desk     *desk
	nodes    map[string]*node
	zxid     int64
	sessions []*session
	underWay bool // for ever: counters go beyond 2147483647
}

type node struct {
	owner *session
	czxid int64
	count int32 // of the children created here
}

func newEnsemble(d *desk) *ensemble { return &ensemble{desk: d, nodes: map[string]*node{}} }

// fault is the fault of a request.
type fault struct {
	err      error         // its caller gets this instead of the answer
	executed bool          // although there is an error
	held     time.Duration // the task is paused before it is sent
	expires  bool          // its session has expired before
}

var (
	before = fault{err: zookeeper.ErrConnectionLoss}
	after  = fault{err: zookeeper.ErrConnectionLoss, executed: true}
	late   = fault{err: zookeeper.ErrTimeout, executed: true}
	unsent = fault{err: zookeeper.ErrNotConnected}
	expiry = fault{expires: true}
)

// session is both ends of a session.
type session struct {
	*client
	id       int64
	ended    error // nil: it is alive
	events   []arrival
	reader   *lockstest.Task
	nodes    map[string]bool // watched nodes
	children map[string]bool
}

type arrival struct {
	at    time.Duration
	event zookeeper.Event
}

func (c *client) Open(ctx context.Context, _, _ time.Duration) (zookeeper.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.Pass(c.Time + time.Millisecond)
	if c.unreachable != nil {
		return nil, c.unreachable
	}
	s := &session{client: c, id: int64(len(c.sessions) + 1), nodes: map[string]bool{}, children: map[string]bool{}}
	c.ensemble.sessions = append(c.ensemble.sessions, s)
	c.opened = append(c.opened, s)
	s.deliver(zookeeper.Event{Type: zookeeper.Connected})
	return s, nil
}

func (s *session) ID() int64              { return s.id }
func (s *session) Timeout() time.Duration { return lease }

// Do takes a millisecond, and the server executes the request half-way.
func (s *session) Do(ctx context.Context, _ time.Duration, c zookeeper.Command) (zookeeper.Reply, error) {
	d := s.desk
	if err := ctx.Err(); err != nil {
		return zookeeper.Reply{}, locks.Definite(err)
	}
	s.sent = append(s.sent, text(c))
	f := s.faults[len(s.sent)]
	d.Pass(d.Time + f.held)
	d.Pass(d.Time + time.Millisecond/2)
	if f.expires {
		s.end(zookeeper.ErrSessionExpired, zookeeper.Expired)
	}
	if s.ended != nil {
		return zookeeper.Reply{}, s.ended
	}
	var r zookeeper.Reply
	if f.err == nil || f.executed {
		r = s.ensemble.apply(s, c)
	}
	d.Pass(d.Time + time.Millisecond/2)
	switch f.err {
	case nil:
		if s.ended != nil {
			return zookeeper.Reply{}, zookeeper.ErrConnectionLoss
		}
		return r, nil
	case zookeeper.ErrConnectionLoss, zookeeper.ErrNotConnected:
		s.blink()
	}
	return zookeeper.Reply{}, f.err
}

// blink is a lost connection and an immediate new one.
func (s *session) blink() {
	s.deliver(zookeeper.Event{Type: zookeeper.Disconnected})
	s.deliver(zookeeper.Event{Type: zookeeper.Connected})
}

func (s *session) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	d, end := s.desk, lockstest.EndOf(ctx)
	if timeout > 0 {
		end = min(end, d.Time+timeout)
	}
	if s.reader != nil {
		d.T.Error("two tasks read the events of one session")
	}
	for {
		switch {
		case ctx.Err() != nil:
			return zookeeper.Event{}, ctx.Err()
		case len(s.events) > 0 && s.events[0].at <= d.Time:
			e := s.events[0].event
			s.events = s.events[1:]
			return e, nil
		case len(s.events) == 0 && s.ended != nil:
			return zookeeper.Event{}, s.ended
		case d.Time >= end:
			return zookeeper.Event{}, zookeeper.ErrNoEvent
		}
		wake := end
		if len(s.events) > 0 {
			wake = min(wake, s.events[0].at)
		}
		s.reader, d.Running.Asleep = d.Running, true
		d.Pass(wake)
		s.reader = nil
	}
}

func (s *session) Close(ctx context.Context, _ time.Duration) error {
	s.Pass(s.Time + time.Millisecond)
	s.end(zookeeper.ErrClosed, zookeeper.Closed)
	return nil
}

// deliver delivers an event half a millisecond later.
func (s *session) deliver(e zookeeper.Event) {
	at := s.desk.Time + time.Millisecond/2
	s.events = append(s.events, arrival{at, e})
	if s.reader != nil {
		s.reader.Wake = min(s.reader.Wake, at)
	}
}

// end ends a session and removes its nodes.
func (s *session) end(err error, last zookeeper.EventType) {
	if s.ended != nil {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(s.ensemble.nodes)) {
		if s.ensemble.nodes[path].owner == s {
			s.ensemble.remove(path)
		}
	}
	s.nodes, s.children = map[string]bool{}, map[string]bool{}
	s.ended = err
	s.deliver(zookeeper.Event{Type: last})
}

// expire expires a client's sessions.
func (c *client) expire() {
	for _, s := range c.opened {
		s.end(zookeeper.ErrSessionExpired, zookeeper.Expired)
	}
}

func (e *ensemble) apply(s *session, c zookeeper.Command) (r zookeeper.Reply) {
	n, there := e.nodes[c.Path]
	if c.Verb != zookeeper.Create && c.Verb != zookeeper.Sync && !there {
		if c.Verb == zookeeper.Exists && c.Watch {
			s.nodes[c.Path] = true
		}
		return zookeeper.Reply{Code: zookeeper.NoNode}
	}
	switch c.Verb {
	case zookeeper.Create:
		return e.create(s, c)
	case zookeeper.Delete:
		e.remove(c.Path)
	case zookeeper.Exists, zookeeper.GetData:
		r.Stat.Czxid = n.czxid
		if c.Watch {
			s.nodes[c.Path] = true
		}
	case zookeeper.GetChildren:
		r.Children = e.list(c.Path)
		if c.Watch {
			s.children[c.Path] = true
		}
	case zookeeper.Sync:
	default:
		panic(errors.ErrUnsupported)
	}
	return r
}

func (e *ensemble) create(s *session, c zookeeper.Command) zookeeper.Reply {
	name, dir := c.Path, path.Dir(c.Path)
	parent, ok := e.nodes[dir]
	if !ok && dir != "/" {
		return zookeeper.Reply{Code: zookeeper.NoNode}
	}
	if c.Mode&zookeeper.Sequential != 0 {
		name += fmt.Sprintf("%010d", parent.count)
		if parent.count < math.MaxInt32 || e.underWay {
			parent.count++
		}
	}
	if _, ok := e.nodes[name]; ok {
		return zookeeper.Reply{Code: zookeeper.NodeExists}
	}
	e.zxid++
	e.nodes[name] = &node{czxid: e.zxid}
	if c.Mode&zookeeper.Ephemeral != 0 {
		e.nodes[name].owner = s
	}
	e.fire(name, zookeeper.NodeCreated)
	return zookeeper.Reply{Path: name}
}

func (e *ensemble) remove(name string) {
	e.zxid++
	delete(e.nodes, name)
	e.fire(name, zookeeper.NodeDeleted)
}

func (e *ensemble) fire(name string, what zookeeper.EventType) {
	dir := path.Dir(name)
	for _, s := range e.sessions {
		if s.nodes[name] {
			delete(s.nodes, name)
			s.deliver(zookeeper.Event{Type: what, Path: name})
		}
		if s.children[dir] {
			delete(s.children, dir)
			s.deliver(zookeeper.Event{Type: zookeeper.NodeChildrenChanged, Path: dir})
		}
	}
}

// list returns the children from the last to the first: locks must not rely on an
// order.
func (e *ensemble) list(dir string) (names []string) {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(e.nodes))) {
		if child, ok := strings.CutPrefix(name, dir+"/"); ok {
			names = append(names, child)
		}
	}
	return names
}

// text formats a request for the tests.
func text(c zookeeper.Command) string {
	verbs := map[zookeeper.Verb]string{
		zookeeper.Create: "create", zookeeper.Delete: "delete", zookeeper.Exists: "exists", zookeeper.GetData: "get",
		zookeeper.GetChildren: "list", zookeeper.Sync: "sync",
	}
	s := verbs[c.Verb] + " " + c.Path
	if c.Watch {
		s += " watch"
	}
	return s
}
