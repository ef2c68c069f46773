package sim

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
)

// database is a MySQL server: the model, its clients, and what is on its disk.
type database struct {
	group   *databases
	server  *server
	model   model.Server
	clients []*conn // whose sessions it has, in the order of their arrival
	before  entries // of a primary that is down or was replaced: replicas may have these entries and report on them
	relay   relay   // from the primary, where it is a replica

	// A power loss undoes the commits since the last flush of the log. With
	// everysec the flush is once a second (innodb_flush_log_at_trx_commit = 0).
	// With none there is no flush, and with always each commit waits for one (1).
	flushed int64 // part of the log that was on the disk when second began
	second  int64 // of the monotonic clock, at the last commit
	known   int64 // commits until then
}

func (d *database) reset(g *databases, s *server) {
	*d = database{
		group: g, server: s, model: d.model, clients: d.clients[:0],
		relay: relay{to: d, links: d.relay.links[:0]},
	}
	o := model.Options{}
	if s.net.order != nil {
		o.WaitTime = -1 // no timeout after hours where only order counts
	}
	d.model.Reset(o)
	s.database = d
}

// clock returns what the server's clocks show.
func (d *database) clock() model.Clock {
	return model.Clock{Wall: d.server.wall(), Mono: d.mono()}
}

func (d *database) mono() time.Duration { return d.server.clock.mono(d.server.net.now) }

// client returns the connection of a session, or nil after its end.
func (d *database) client(session int64) *conn { return carrier(d.clients, session) }

// accept begins a session.
func (d *database) accept(n *conn) {
	n.incarnation, n.session = d.server.incarnation, d.model.Connect(d.clock())
	d.clients = append(d.clients, n)
}

// leave ends the session of a connection whose end the server has noticed.
func (d *database) leave(n *conn) {
	d.forget(n)
	d.model.Disconnect(d.clock(), n.session)
	d.passOutputs()
}

func (d *database) forget(n *conn) {
	n.gone = true
	d.clients = slices.DeleteFunc(d.clients, func(o *conn) bool { return o == n })
}

// receive handles a client's message. For a paused server even a connection
// request stays in the kernel: no greeting comes back.
func (d *database) receive(m *message) {
	s, n, w := d.server, m.conn, d.server.net
	if m.kind == dial && s.up {
		n.incarnation = s.incarnation
	}
	unknown := n.incarnation != s.incarnation
	switch {
	case m.kind == dial && !s.up:
		m.err = errUnreachable
	case unknown && m.kind == rst:
		w.release(m)
		return
	case unknown:
		m.kind = rst
	case s.paused:
		s.inbox = append(s.inbox, m)
		return
	case m.kind == rst:
		if n.session != 0 && !n.gone {
			d.leave(n)
		}
		w.release(m)
		return
	case m.kind == dial:
		d.accept(n)
	case n.gone:
		m.kind = rst
	default:
		n.asked = append(n.asked[:0], m)
		if m.sql.command.Lease > 0 {
			w.noteDate(false)
		}
		d.model.Do(d.clock(), n.session, m.op, m.sql.command)
		d.passOutputs()
		return
	}
	m.toUp = false
	w.send(m)
}

// passOutputs passes on the model's outputs: replies to clients and effects on entries.
func (d *database) passOutputs() {
	w := d.server.net
	list := d.model.Outputs()
	for i := range list {
		o := &list[i]
		n := d.client(o.Session)
		switch {
		case o.Kind == model.Acted:
			d.effect(o.By, &o.Effect)
		case n == nil: // no client waits for it
		case o.Kind == model.Ended:
			d.forget(n)
			w.send(w.newMessage(n, rst, false))
		case o.Kind == model.Answer:
			m := n.asked[0]
			n.asked = n.asked[:0]
			m.sql.reply, m.toUp = o.Reply, false
			w.send(m)
		}
	}
	if len(list) > 0 {
		d.server.noteChange()
	}
	d.flush()
	d.group.flow()
	d.server.arm()
}

// expire ends everything that is due.
func (d *database) expire() {
	d.model.Advance(d.clock())
	d.passOutputs()
}

var actNames = [...]string{
	model.Created:   history.Granted,
	model.Removed:   history.Remove,
	model.TakenOver: history.Takeover,
	model.Shortened: history.Shorten,
	model.Prolonged: history.Prolong,
	model.Lost:      history.Lose,

	model.SessionOver: history.Lose,
}

// effect reports an effect on the entry of a lock. With replicas,
// databases.settle reports what the primary has.
func (d *database) effect(by int, f *model.Effect) {
	g, s := d.group, d.server
	lock := s.net.lockOf(f.Name)
	switch maker, had := d.before[f.Name]; {
	case lock == "", d.relay.follows, had && maker == f.Maker:
		return
	case f.Kind == model.Created && !s.up && g.hasReplicas():
		return // a power loss has undone its end, which replicas may have seen
	case d == g.primary && g.hasReplicas():
		g.entries.note(by, f)
	}
	text := ""
	if f.Kind == model.SessionOver {
		text = history.SessionOver
	}
	s.reportWithReason(actNames[f.Kind], lock, f.Name, f.Maker, by, text)
	if f.Kind == model.TakenOver {
		s.report(history.Granted, lock, f.Name, by, by)
	}
}

// entries are entries of locks, by name: the index of the acquire that made each
// one.
type entries map[string]int

func (e entries) note(by int, f *model.Effect) {
	switch f.Kind {
	case model.Created, model.TakenOver:
		e[f.Name] = by
	case model.Removed, model.Lost, model.SessionOver:
		delete(e, f.Name)
	}
}

// stop ends d's process and its sessions. With lose it is a power loss.
func (d *database) stop(lose bool) {
	d.cutOff()
	keep := d.model.Committed()
	if lose {
		keep = d.onDisk()
	}
	if g := d.group; d == g.primary && g.hasReplicas() {
		d.before = d.rows()
		for _, o := range g.members {
			o.relay.apart = o.relay.apart || keep < d.model.Committed()
		}
	}
	d.model.Crash(d.clock(), keep)
	d.flushed, d.known = keep, keep
	d.relay.cut()
	d.passOutputs()
}

// rows returns the entries of locks that replicas may have, too.
func (d *database) rows() entries {
	return d.server.lockEntries(d.model.Entries)
}

// cutOff drops all clients of d.
func (d *database) cutOff() {
	for _, n := range d.clients {
		n.gone = true
	}
	d.clients = d.clients[:0]
}

// start makes d work again after its process has started.
func (d *database) start() {
	if d == d.group.primary && d.group.hasReplicas() {
		d.before = nil
		d.group.settle()
	}
	d.server.arm()
}

// onDisk returns how much of the log survives a power loss.
func (d *database) onDisk() int64 {
	switch d.server.net.cfg.Server.Fsync {
	case catalogue.FsyncNone:
		return 0
	case catalogue.FsyncAlways:
		return d.model.Committed()
	}
	d.flush()
	return min(d.flushed, d.model.Committed())
}

// flush notes what is committed, and what reached the disk since.
func (d *database) flush() {
	if now := int64(d.mono() / time.Second); now != d.second {
		d.second, d.flushed = now, d.known
	}
	d.known = d.model.Committed()
}

// kill ends the sessions of a client's process.
func (d *database) kill(process *endpoint) {
	if !d.server.runs() {
		return // the server does not notice
	}
	for _, n := range d.clients {
		if n.client == process {
			d.model.Kill(d.clock(), n.session)
		}
	}
	d.passOutputs()
}

// allDeclared reports whether all statements of locks declare their meaning.
func (g *databases) allDeclared() bool {
	return !slices.ContainsFunc(g.members, func(d *database) bool { return !d.model.Declared() })
}
