package sim

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// member is one server of an ensemble: its copy of the nodes, the transactions
// that it has on disk but does not show yet, and its clients.
type member struct {
	ensemble *ensemble
	server   *server
	n        int // index among the members
	copy     model.Member
	log      []logEntry
	epoch    int32  // of the last leader that it knew
	serves   bool   // it leads or follows the leader
	joining  bool   // it will follow the leader soon
	up, down wire   // to the leader, and from it
	links    []link // to each member
	acked    int64
	unheard  time.Duration // since when it and the leader have no contact; never: they have
	clients  []*conn       // connections that have sent a hello
	hangsUp  bool          // it must close all clients' connections when it resumes
}

// logEntry is a transaction in a log and its origin.
type logEntry struct {
	txn     model.Txn
	origin  *member // the member that a client asked; nil without one
	message *message
}

func (x *member) reset(e *ensemble, s *server) {
	x.copy.Reset()
	*x = member{
		ensemble: e, server: s, n: len(e.members), copy: x.copy, log: x.log[:0], clients: x.clients[:0], unheard: never,
		up: x.up.empty(), down: x.down.empty(), links: x.links[:0],
	}
	s.member = x
}

// mono returns the member's monotonic clock.
func (x *member) mono() time.Duration { return x.server.clock.mono(x.server.net.now) }

// lastZxid returns the last transaction that x has on disk.
func (x *member) lastZxid() int64 {
	if n := len(x.log); n > 0 {
		return x.log[n-1].txn.Zxid
	}
	return x.copy.Zxid()
}

// retire makes x stop serving clients.
func (x *member) retire() {
	x.serves = false
	x.up.cut()
	x.down.cut()
	if x.server.paused {
		x.hangsUp = true
	} else {
		x.hangUpAll()
	}
}

func (x *member) hangUpAll() {
	x.hangsUp = false
	for len(x.clients) > 0 {
		x.hangUp(x.clients[len(x.clients)-1])
	}
}

// hangUp closes a client's connection.
func (x *member) hangUp(n *conn) {
	if n.gone {
		return
	}
	x.leave(n)
	if x.server.up && n.incarnation == x.server.incarnation {
		w := x.server.net
		m := w.newMessage(n, rst, false)
		m.err = errHungUp
		w.send(m)
	}
}

// leave forgets a connection. Its open requests get no answer.
func (x *member) leave(n *conn) {
	n.gone = true
	x.clients = slices.DeleteFunc(x.clients, func(o *conn) bool { return o == n })
	if n.session != 0 && x.client(n.session) == nil {
		x.copy.Detach(n.session)
	}
}

// client returns the connection that carries a session, or nil.
func (x *member) client(session int64) *conn { return carrier(x.clients, session) }

// stop ends x's process. With lose it also erases its disk.
func (x *member) stop(lose bool) {
	e := x.ensemble
	for _, n := range x.clients {
		n.gone = true
	}
	x.clients, x.hangsUp = x.clients[:0], false
	switch {
	case x == e.leader:
		e.depose()
	case x.serves:
		e.separate(x)
	}
	x.copy.Restart()
	if lose {
		x.copy.Reset()
		x.log, x.epoch = x.log[:0], 0
	}
}

// resume continues after a pause. First it catches up on leader changes: a member
// that was given up meanwhile serves no client.
func (x *member) resume() {
	if x.hangsUp {
		x.hangUpAll()
	}
	if x == x.ensemble.leader {
		x.ensemble.expire()
	}
}

// receive handles a client's message.
func (x *member) receive(m *message) {
	s, n, w := x.server, m.conn, x.server.net
	switch {
	case m.kind == rst: // the client has closed its connection
		if !n.gone && n.incarnation == s.incarnation {
			x.leave(n)
		}
		w.release(m)
		return
	case m.kind == dial && s.up:
		n.incarnation = s.incarnation
	case m.kind == dial:
		m.err = errUnreachable
	case n.incarnation != s.incarnation || n.gone:
		m.kind = rst
	case s.paused:
		s.inbox = append(s.inbox, m)
		return
	case !x.serves:
		n.gone = true
		m.kind = rst
	default:
		x.serve(m)
		return
	}
	m.toUp = false
	w.send(m)
}

// serve handles a request. The requests of one client are answered in order.
func (x *member) serve(m *message) {
	n, k := m.conn, m.zk
	if k.ask == hello {
		if k.zxid > x.copy.Zxid() {
			// Its client has seen later transactions than x, and must not see
			// older data.
			n.gone = true
			m.kind, m.toUp = rst, false
			x.server.net.send(m)
			return
		}
		x.clients = append(x.clients, n)
	} else {
		k.session = n.session
		x.touch(k.session)
	}
	n.asked = append(n.asked, m)
	x.advance(n)
}

// touch reports a sign of life of a session to the leader.
func (x *member) touch(session int64) {
	e := x.ensemble
	if x == e.leader {
		e.decides.Touch(x.mono(), session)
		return
	}
	p := x.up.parcel(touch)
	p.session = session
	x.up.send(p)
}

// advance answers requests that x can answer alone, then forwards the next one to
// the leader.
func (x *member) advance(n *conn) {
	for !n.gone && !n.serving && len(n.asked) > 0 {
		m := n.asked[0]
		switch k := m.zk; {
		case k.ask == ping:
			x.reply(m)
		case k.ask == rewatch:
			if !x.copy.Attach(n.session, k.watches, k.zxid) {
				x.hangUp(n)
				return
			}
			x.reply(m)
			x.fire()
		case k.ask == request && reads(k.command.Verb):
			k.reply = x.copy.Read(n.session, k.command)
			x.reply(m)
		default:
			n.serving = true
			x.forward(m)
		}
	}
}

func reads(v zookeeper.Verb) bool {
	return v == zookeeper.Exists || v == zookeeper.GetData || v == zookeeper.GetChildren
}

func (x *member) forward(m *message) {
	if x == x.ensemble.leader {
		x.ensemble.request(x, m)
		return
	}
	p := x.up.parcel(forwarded)
	p.message = m
	x.up.send(p)
}

// reply answers the first request of a client.
func (x *member) reply(m *message) {
	n := m.conn
	n.asked = slices.Delete(n.asked, 0, 1)
	m.toUp = false
	m.zk.zxid = x.copy.Zxid()
	x.server.net.send(m)
}

// finish answers a request that the leader has decided, if its client is still
// connected.
func (x *member) finish(m *message) {
	n, k := m.conn, m.zk
	if n.gone || len(n.asked) == 0 || n.asked[0] != m {
		return
	}
	n.serving = false
	switch {
	case k.moved:
		x.hangUp(n)
		return
	case k.ask == hello && !k.ended:
		if old := x.client(k.session); old != nil && old != n {
			x.hangUp(old)
		}
		n.session, k.life = k.session, x.ensemble.life
		if !x.copy.Attach(n.session, k.watches, k.zxid) {
			x.hangUp(n)
			return
		}
	}
	x.reply(m)
	switch {
	case k.ended, k.ask == farewell:
		x.hangUp(n)
	default:
		x.fire()
		x.advance(n)
	}
}

// fire sends clients the events of their watches.
func (x *member) fire() {
	w := x.server.net
	fired := x.copy.Fired()
	for i := range fired {
		n := x.client(fired[i].Session)
		if n == nil {
			continue
		}
		m := w.zkMessage(n, notice, false)
		m.zk.event = fired[i].Event
		w.send(m)
	}
}

// commit applies a transaction, and answers the request if it came to x.
func (x *member) commit(l logEntry) {
	r := x.copy.Commit(l.txn)
	x.ensemble.reportEffects(x, l.txn.Zxid)
	x.fire()
	if l.origin == x && l.message != nil {
		k := l.message.zk
		k.reply = r
		if l.txn.Kind == model.Opening {
			k.session, k.length = l.txn.Session, l.txn.Timeout
		}
		x.finish(l.message)
	}
	if l.txn.Kind == model.Closing {
		if n := x.client(l.txn.Session); n != nil {
			x.hangUp(n)
		}
	}
}

// commitTo commits the log of x up to zxid.
func (x *member) commitTo(zxid int64) {
	n := 0
	for ; n < len(x.log) && x.log[n].txn.Zxid <= zxid; n++ {
		x.commit(x.log[n])
	}
	x.log = append(x.log[:0], x.log[n:]...)
}

// acknowledge reports to the leader which transactions x has on disk.
func (x *member) acknowledge() {
	p := x.up.parcel(ack)
	p.zxid = x.lastZxid()
	x.up.send(p)
}

// take handles a parcel from the leader.
func (x *member) take(p *parcel) {
	switch p.kind {
	case proposal:
		x.log = append(x.log, p.entry)
		x.acknowledge()
	case commit:
		x.commitTo(p.zxid)
	case answered:
		x.finish(p.message)
	}
}

// take handles a parcel from x at the leader.
func (e *ensemble) take(x *member, p *parcel) {
	switch p.kind {
	case forwarded:
		e.request(x, p.message)
	case ack:
		x.acked = max(x.acked, p.zxid)
		e.count()
	case touch:
		e.decides.Touch(e.leader.mono(), p.session)
	}
}
