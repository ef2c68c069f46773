package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	zkmodel "github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/locks"
)

// Outside is code of clients that is not made of tasks: it runs in goroutines, in the
// same virtual time. The scheduler and that code never run at the same time.
type Outside interface {
	// Wait lets the code go on until all of it waits. If it then wants something, Wait
	// returns that as functions for the scheduler to call. If not, time passes until the
	// code wants something, but at most to until. now is the time at the end.
	Wait(until time.Duration) (now time.Duration, wants []func())
	// Died reports the end of a client: its code gets no answers any more.
	Died(client string)
	// Front returns the protocol of a Redis server or a Sentinel.
	Front(server string) Front
}

// Front is the protocol of one server: requests of code that is not ours, as words.
type Front interface {
	// Open returns the state of a new connection. It must be comparable.
	Open() any
	// Do serves one request on a connection, and returns its answer. apply executes a step
	// of it on the server's model. An error ends the run: the model lacks something.
	Do(conn any, apply func(redis.Command) redis.Reply, words []string) ([]byte, error)
	// Pushes calls send for each message to a connection that did not ask for it, since
	// the last call.
	Pushes(send func(conn any, data []byte))
	// Switched returns what a Sentinel tells a connection of a new master; nil: nothing.
	Switched(conn any, old, master string) []byte
	// Changed reports that an entry has ended without a request.
	Changed(key string)
	// Drop reports the end of a connection, Restart that of the server's process.
	Drop(conn any)
	Restart()
}

// Join makes the code of o a part of the run. It must be called before Run.
func (w *World) Join(o Outside) { w.outside = o }

// letOutsideRun lets the code outside run until the next event is due. What it wants
// are events, too: each may wake a task.
func (k *scheduler) letOutsideRun() {
	until := never
	if len(k.queue.events) > 0 {
		until = k.queue.events[0].at
	}
	now, wants := k.outside.Wait(until)
	k.now = max(k.now, now)
	for _, want := range wants {
		k.push(event{at: k.now, what: action(want)})
	}
}

// Waker resumes a task that waits in Beside.
type Waker struct {
	task   *task
	serial int
	ended  bool
}

// Wake ends the wait. It is called in the scheduler's turn.
func (x *Waker) Wake() {
	x.ended = true
	if x.task.serial == x.serial && !x.task.ended {
		x.task.answer()
	}
}

// Beside begins something outside, and returns when Wake of the Waker has been called,
// or with false at the time until.
func (h *host) Beside(until time.Duration, begin func(*Waker)) bool {
	x := &Waker{task: h.sched.current, serial: h.sched.current.serial}
	begin(x)
	for !x.ended && h.sched.now < until {
		h.park(until)
	}
	return x.ended
}

// Op returns the index of the running operation, or of the last; 0: there was none.
func (h *host) opIndex() int {
	if h.operation == nil {
		return 0
	}
	return h.operation.Index
}

// Wire is a connection of code outside to a server. Its methods are called in the
// scheduler's turn.
type Wire struct {
	client *client
	conn   *conn
	end    WireEnd
	closed bool
	kept   []*message // arrived during a pause of the client
	unsent []*message // sent during a pause of the client
}

// WireEnd is what the code outside has of a Wire.
type WireEnd interface {
	Dialed(err error)  // the answer to Dial
	Answer(WireAnswer) // a server's message
	Reset()            // the connection is reset, or its client is dead
}

// WireRequest is one request.
type WireRequest struct {
	Name    fmt.Stringer // of the command, for points
	Library bool         // it belongs to the client library, not to a lock
	Words   []string     // to a Redis server or a Sentinel

	// To a member of an ensemble:
	Hello   *WireHello
	Ping    bool
	Close   bool // of the session
	Rewatch bool // sets Watches again, after a new connection, with Zxid
	Watches []zkmodel.Watch
	Zxid    int64
	Command zookeeper.Command
}

// WireHello asks a member for a session.
type WireHello struct {
	Session int64 // 0: a new one
	Length  time.Duration
	Zxid    int64
}

// WireAnswer is one message of a server.
type WireAnswer struct {
	Data []byte // of a Redis server or a Sentinel

	// Of a member of an ensemble:
	Event   zookeeper.Event // of a watch; its Type is 0 in an answer
	Reply   zookeeper.Reply
	Zxid    int64
	Session int64
	Length  time.Duration
	Ended   bool // the session has ended
}

// wired is the part of a message that only messages on a Wire have.
type wired struct {
	WireRequest
	data  []byte
	from  time.Duration // when it was sent
	noted int           // the acquire whose entry it has prolonged; 0: none
	point numberedRequest
}

// Dial connects a client to a server.
func (w *World) Dial(client, server string, end WireEnd) (*Wire, error) {
	c, s := w.find(client), w.server(server)
	if c == nil || s == nil || s == w.resource || s == w.tokens || c.dead {
		return nil, fmt.Errorf("sim: %s cannot connect to %q", client, server)
	}
	x := &Wire{client: c, end: end}
	x.conn = w.connect(&c.endpoint, s)
	x.conn.owner, x.conn.open, x.conn.busy = x, true, true
	if s.member == nil {
		x.conn.front = w.outside.Front(server).Open()
	}
	c.spare = append(c.spare, x.conn)
	c.wires = append(c.wires, x)
	x.send(w.newMessage(x.conn, dial, true))
	return x, nil
}

// send sends m, or keeps it while the client is paused.
func (x *Wire) send(m *message) {
	switch {
	case x.client.paused:
		x.unsent = append(x.unsent, m)
	default:
		x.client.net.send(m)
	}
}

// Ask sends a request.
func (x *Wire) Ask(r WireRequest) {
	c := x.client
	if x.closed || c.dead {
		return
	}
	n := c.net
	m := n.newMessage(x.conn, call, true)
	m.op = c.opIndex()
	m.wired = &wired{WireRequest: r, from: n.now}
	if x.conn.server.member != nil {
		m.zk = packetOf(&r)
		m.zk.life = c.lives[m.zk.session]
	}
	if o := c.operation; o != nil && !r.Library {
		o.requests++
		n.requests++
		m.wired.point = numberedRequest{&c.host, o, o.requests, o.requests == c.lastRequest(o), r.Name}
		c.tell(&m.wired.point, false)
		if c.dead {
			return
		}
	}
	x.send(m)
}

// packetOf returns a request as members get it.
func packetOf(r *WireRequest) *packet {
	p := &packet{ask: request, command: r.Command, zxid: r.Zxid, watches: r.Watches}
	switch {
	case r.Hello != nil:
		p.ask, p.session, p.length, p.zxid = hello, r.Hello.Session, r.Hello.Length, r.Hello.Zxid
	case r.Ping:
		p.ask = ping
	case r.Close:
		p.ask = farewell
	case r.Rewatch:
		p.ask = rewatch
	}
	return p
}

// Close closes the connection.
func (x *Wire) Close() {
	c := x.client
	if x.closed {
		return
	}
	x.closed = true
	c.wires = slices.DeleteFunc(c.wires, func(o *Wire) bool { return o == x })
	c.spare = slices.DeleteFunc(c.spare, func(o *conn) bool { return o == x.conn })
	if x.conn.open && !c.dead {
		x.conn.open = false
		x.send(c.net.newMessage(x.conn, rst, true))
	}
}

// receive handles a message that arrives at the client.
func (x *Wire) receive(m *message) {
	switch {
	case x.closed || x.client.dead:
		x.client.net.release(m)
	case x.client.paused:
		x.kept = append(x.kept, m)
	default:
		x.take(m)
	}
}

func (x *Wire) take(m *message) {
	c := x.client
	switch {
	case m.kind == rst:
		x.conn.open = false
		x.end.Reset()
	case m.kind == dial:
		x.conn.open = m.err == nil
		x.end.Dialed(m.err)
	default:
		if w := m.wired; w != nil && w.point.operation != nil {
			p := w.point
			w.point = numberedRequest{}
			p.operation.answered, p.operation.sent = p.n, p.sends
			c.tell(&p, true)
			if c.paused || c.dead {
				x.receive(m)
				return
			}
		}
		if m.zk != nil && m.zk.ask == hello && !m.zk.ended {
			if c.lives == nil {
				c.lives = map[int64]int{}
			}
			c.lives[m.zk.session] = m.zk.life
		}
		x.end.Answer(m.wireAnswer())
		if w := m.wired; w != nil && w.noted != 0 {
			c.reportProlonged(w.noted)
		}
	}
	c.net.release(m)
}

// wireAnswer returns m as the code outside gets it.
func (m *message) wireAnswer() (a WireAnswer) {
	if k := m.zk; k != nil {
		a = WireAnswer{Event: k.event, Reply: k.reply, Zxid: k.zxid, Session: k.session, Length: k.length, Ended: k.ended}
	}
	if m.wired != nil {
		a.Data = m.wired.data
	}
	return a
}

// resumeWires continues after a pause: what has arrived comes before what was written.
func (c *client) resumeWires() {
	for _, x := range slices.Clone(c.wires) {
		kept, unsent := x.kept, x.unsent
		x.kept, x.unsent = nil, nil
		for _, m := range kept {
			x.receive(m)
		}
		for _, m := range unsent {
			x.send(m)
		}
	}
}

// tell announces a point outside of tasks. A fault that pauses the client there stops
// its messages.
func (c *client) tell(r *numberedRequest, after bool) {
	if c.armed && !r.operation.over {
		c.net.observer.Point(c.name, r.operation.Op, c.pointOf(r, after))
	}
}

// serveWire serves a request of code outside.
func (s *server) serveWire(m *message) {
	w := m.wired
	apply := func(cmd redis.Command) redis.Reply {
		if s.redis == nil {
			return redis.Reply{Kind: redis.Error, Str: "ERR unknown command"}
		}
		return s.redis.Apply(s.wall(), m.op, cmd)
	}
	front := s.net.outside.Front(s.name)
	var err error
	if w.data, err = front.Do(m.conn.front, apply, w.Words); err != nil {
		s.net.Abort(err)
	}
	if s.redis != nil {
		s.serving = m
		s.reportEffects()
		s.serving = nil
	}
	s.push(front)
}

// push sends what connections get without asking.
func (s *server) push(front Front) {
	front.Pushes(func(to any, data []byte) {
		s.eachWire(func(c *conn) {
			if c.front == to {
				s.pushTo(c, data)
			}
		})
	})
}

func (s *server) pushTo(c *conn, data []byte) {
	m := s.net.newMessage(c, notice, false)
	m.wired = &wired{data: data}
	s.net.send(m)
}

// eachWire calls f for every connection of code outside to s.
func (s *server) eachWire(f func(*conn)) {
	for _, e := range s.net.endpoints {
		for _, c := range e.spare {
			if c.server == s && c.front != nil && c.incarnation == s.incarnation {
				f(c)
			}
		}
	}
}

// switched lets a Sentinel tell code outside of a new master.
func (n *node) switched(sentinel *server) {
	if n.net.outside == nil || n.before == nil {
		return
	}
	front := n.net.outside.Front(sentinel.name)
	sentinel.eachWire(func(c *conn) {
		if data := front.Switched(c.front, n.before.name, n.master.name); data != nil {
			sentinel.pushTo(c, data)
		}
	})
}

// MasterOf returns the master of the first node, as a Sentinel or a replica knows it.
func (w *World) MasterOf(server string) string {
	n := w.nodes[0]
	for i, s := range w.monitors {
		if s.name == server && !n.knows[i] && n.before != nil {
			return n.before.name
		}
	}
	return n.master.name
}

// noteEnd notes until when a client may believe in an entry that a request of code
// outside has just made or prolonged: it knows when it has sent that request.
func (s *server) noteEnd(f *model.Effect) {
	m := s.serving
	if m == nil || f.By != m.op || f.Kind == model.Removed {
		return
	}
	maker := f.Maker
	if f.Kind == model.Overwritten {
		maker = f.By
	}
	until := never
	if due, ok := s.redis.Due(f.Key); ok {
		until = m.wired.from + due - s.wall()
	}
	m.conn.client.noteEnd(maker, s, until)
	if maker != m.op {
		m.wired.noted = maker
	}
}

// entryEnd is when an entry of a grant ends.
type entryEnd struct {
	acquire int
	server  *server
	until   time.Duration
}

func (h *host) noteEnd(acquire int, s *server, until time.Duration) {
	for i := range h.ends {
		if e := &h.ends[i]; e.acquire == acquire && e.server == s {
			e.until = until
			return
		}
	}
	h.ends = append(h.ends, entryEnd{acquire, s, until})
}

// EntriesEnd returns when the first of the entries ends that requests of this acquire
// made; 0: they do not end, or there are none.
func (h *host) EntriesEnd(acquire int) time.Duration {
	until := never
	for _, e := range h.ends {
		if e.acquire == acquire {
			until = min(until, e.until)
		}
	}
	if until == never {
		return 0
	}
	return until
}

// reportProlonged reports that the client has learnt of a later end of its grant.
func (c *client) reportProlonged(acquire int) {
	for _, l := range c.leases {
		if d, ok := l.lease.(locks.Deadliner); ok && l.acquire == acquire {
			c.net.observer.Report(history.Entry{
				Client: c.name, F: history.Valid, Lock: l.lock, Op: history.Some(int64(acquire)), ValidUntil: c.trueTime(d.Until()),
			})
		}
	}
}

// Locker returns the lock of a client.
func (w *World) Locker(client string) locks.Locker { return w.find(client).locker }
