package model_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/porttest"
)

const (
	ms    = time.Millisecond
	tick  = 500 * ms
	pulse = tick / 5 // the interval of heartbeats
)

// world is a leader, three members and their clients, on a clock that only moves
// while a call waits. Messages have no delay.
type world struct {
	t       *testing.T
	now     time.Duration
	leader  model.Leader
	leading int
	epoch   int32
	log     []model.Txn
	members [3]*model.Member
	down    [3]bool
	clients []*client
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: 12345 * ms}
	for i := range w.members {
		w.members[i] = model.NewMember()
	}
	w.elect(0)
	return w
}

func (w *world) elect(n int) {
	w.leading, w.epoch = n, w.epoch+1
	w.leader.Lead(w.now, tick, w.epoch, w.members[n])
}

// commit applies t to all running members and returns their replies.
func (w *world) commit(t model.Txn) (replies [3]zookeeper.Reply) {
	w.log = append(w.log, t)
	for i, m := range w.members {
		if w.down[i] {
			continue
		}
		replies[i] = m.Commit(t)
		w.deliver(i)
	}
	w.leader.Committed(t.Zxid)
	for _, c := range w.clients {
		if t.Kind == model.Closing && c.id == t.Session {
			c.lose()
		}
	}
	return replies
}

// deliver sends the events of member n to its clients.
func (w *world) deliver(n int) {
	for _, f := range w.members[n].Fired() {
		for _, c := range w.clients {
			if c.id == f.Session && c.server == n {
				c.handleEvent(f.Event)
			}
		}
	}
}

// beat makes all clients that are not frozen send heartbeats and reconnect.
func (w *world) beat() {
	for _, c := range w.clients {
		c.beat()
	}
}

func (c *client) beat() {
	switch {
	case c.over != nil || c.frozen:
	case c.server >= 0:
		c.w.leader.Touch(c.w.now, c.id)
	case !c.cut:
		c.connect()
	}
}

func (w *world) Now() time.Duration   { return w.now }
func (w *world) Slack() time.Duration { return 0 }

func (w *world) Sleep(d time.Duration) {
	for end := w.now + d; w.now < end; {
		w.beat()
		w.now += min(pulse, end-w.now)
		for _, t := range w.leader.Expire(w.now) {
			w.commit(t)
		}
	}
}

func (w *world) Open(server int, session time.Duration) zookeeper.Handle {
	t := w.leader.Open(w.now, 0, session)
	w.commit(t)
	c := &client{w: w, id: t.Session, timeout: t.Timeout, server: -1, prefers: max(server, 0)}
	w.clients = append(w.clients, c)
	c.connect()
	return zookeeper.Handle{Session: c}
}

func (w *world) Disconnect(h zookeeper.Handle) { h.Session.(*client).lose() }
func (w *world) Freeze(h zookeeper.Handle)     { h.Session.(*client).frozen = true }
func (w *world) Thaw(h zookeeper.Handle)       { h.Session.(*client).frozen = false }
func (w *world) Join(h zookeeper.Handle)       { h.Session.(*client).cut = false }

func (w *world) Cut(h zookeeper.Handle) {
	c := h.Session.(*client)
	c.cut = true
	c.lose()
}

func (w *world) KillLeader() {
	w.down[w.leading] = true
	for _, c := range w.clients {
		c.lose()
	}
	w.elect((w.leading + 1) % len(w.members))
}

func (w *world) StartKilled() {
	for i, m := range w.members {
		if !w.down[i] {
			continue
		}
		w.down[i] = false
		m.Restart()
		for _, t := range w.log {
			m.Commit(t)
		}
	}
}

func (w *world) Preset(path string, counter int32) {
	t, _ := w.leader.Preset(path, counter)
	w.commit(t)
}

// client is one session and its library's state.
type client struct {
	w           *world
	id          int64
	timeout     time.Duration
	server      int // -1: not connected
	prefers     int
	frozen, cut bool
	watches     []model.Watch
	seen        int64
	queue       []zookeeper.Event
	over        error
}

func (c *client) queueEvent(e zookeeper.EventType) {
	c.queue = append(c.queue, zookeeper.Event{Type: e})
}

// handleEvent handles the event of a watch that the client must have. After a
// reconnection the deletion of a node may come once more: see Member.Attach.
func (c *client) handleEvent(e zookeeper.Event) {
	left := c.watches[:0:0]
	for _, w := range c.watches {
		if !w.Ends(e) {
			left = append(left, w)
		}
	}
	switch {
	case len(left) < len(c.watches):
		c.watches, c.queue = left, append(c.queue, e)
	case e.Type != zookeeper.NodeDeleted || !slices.Contains(c.queue, e):
		c.w.t.Errorf("session %d got %v without a watch", c.id, e)
	}
}

func (c *client) lose() {
	if c.server < 0 {
		return
	}
	c.w.members[c.server].Detach(c.id)
	c.server = -1
	if c.over == nil {
		c.queueEvent(zookeeper.Disconnected)
	}
}

func (c *client) connect() {
	for i := range c.w.members {
		n := (c.prefers + i) % len(c.w.members)
		switch m := c.w.members[n]; {
		case c.w.down[n]:
		case !m.Has(c.id):
			c.over = zookeeper.ErrSessionExpired
			c.queueEvent(zookeeper.Expired)
			return
		case m.Attach(c.id, c.watches, c.seen):
			c.server = n
			c.queueEvent(zookeeper.Connected)
			c.w.deliver(n)
			c.w.leader.Touch(c.w.now, c.id)
			return
		}
	}
}

func (c *client) ID() int64              { return c.id }
func (c *client) Timeout() time.Duration { return c.timeout }

func (c *client) Do(ctx context.Context, timeout time.Duration, do zookeeper.Command) (zookeeper.Reply, error) {
	c.beat()
	switch {
	case c.over != nil:
		return zookeeper.Reply{}, c.over
	case ctx.Err() != nil:
		return zookeeper.Reply{}, ctx.Err()
	case c.server < 0:
		c.w.Sleep(timeout)
		return zookeeper.Reply{}, zookeeper.ErrNotConnected
	}
	var r zookeeper.Reply
	switch do.Verb {
	case zookeeper.Create, zookeeper.Delete, zookeeper.SetData:
		t, ok := c.w.leader.Propose(c.w.now, c.id, 1, do)
		if !ok {
			return r, zookeeper.ErrSessionExpired
		}
		r = c.w.commit(t)[c.server]
	default:
		r = c.w.members[c.server].Read(c.id, do)
	}
	c.seen = c.w.members[c.server].Zxid()
	if w, ok := model.WatchOf(do, r); ok {
		c.watches = append(c.watches, w)
	}
	return r, nil
}

func (c *client) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	for end := c.w.now + timeout; ctx.Err() == nil; c.w.Sleep(min(pulse, end-c.w.now)) {
		c.beat()
		switch {
		case len(c.queue) > 0:
			e := c.queue[0]
			c.queue = c.queue[1:]
			return e, nil
		case c.over != nil:
			return zookeeper.Event{}, c.over
		case c.w.now >= end:
			return zookeeper.Event{}, zookeeper.ErrNoEvent
		}
	}
	return zookeeper.Event{}, ctx.Err()
}

func (c *client) Close(context.Context, time.Duration) error {
	if c.over != nil {
		return c.over
	}
	t, ok := c.w.leader.Close(c.w.now, c.id, 0)
	if !ok {
		return zookeeper.ErrSessionExpired
	}
	c.over = zookeeper.ErrClosed
	c.w.commit(t)
	c.queueEvent(zookeeper.Closed)
	return nil
}

func TestConformance(t *testing.T) {
	porttest.Run(t, func(t *testing.T) porttest.World { return newWorld(t) })
}
