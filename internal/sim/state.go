package sim

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
)

// AppendState appends the state of a world in which order decides. Two worlds
// with the same configuration and state behave the same from here on, whatever
// their past. The state of the servers, the harness and the judge is not
// included, see AppendServers.
//
// Times are relative to now, and run-wide numbers are replaced: an operation's by
// the number of its client's later operations, a connection's by the number of
// later connections of the two.
func (w *World) AppendState(b []byte) []byte {
	if w.alive == 0 {
		w.search.calls = w.search.calls[:0]
		return b // messages under way affect no client
	}
	for i, c := range w.clients {
		b = w.appendClient(b, c, w.tasks[i])
	}
	b = append(b, byte(len(w.impairments)))
	o := &w.search
	b = append(b, boolBits(o.dated, o.wall), byte(o.passed))
	if o.wall { // a date in a text counts from the beginning, not from now
		b = binary.AppendVarint(b, int64(w.now))
	}
	o.calls = o.calls[:0]
	for _, im := range w.impairments {
		b = im.appendState(b)
		for _, m := range im.held {
			if m.kind == call {
				o.calls = append(o.calls, m.op)
			}
		}
	}
	return w.appendMessages(b)
}

// AppendServers appends the state of the servers.
func (w *World) AppendServers(b []byte) []byte {
	for _, s := range w.servers {
		b = s.appendState(b)
	}
	return b
}

func (s *server) appendState(b []byte) []byte {
	b = append(b, boolBits(s.up, s.paused))
	for _, m := range s.inbox {
		b = m.append(append(b, 1))
	}
	switch {
	case s.redis != nil:
		b = s.redis.AppendState(b, s.wall())
	case s.database != nil:
		b = s.database.appendState(b)
	}
	return b
}

// appendState appends the model's state and the clients of its sessions, in the
// model's order.
func (d *database) appendState(b []byte) []byte {
	for _, n := range d.clients {
		b = append(b, 1, byte(n.client.n), n.age())
	}
	return d.model.AppendState(append(b, 0), d.clock())
}

func (w *World) appendClient(b []byte, c *client, t *task) []byte {
	b = append(b, boolBits(t.ended, c.paused, c.dead, t.parked, t.answered, c.round != w.order.changes, c.hung))
	b = binary.AppendVarint(b, int64(c.clock.offset))
	if t.ended {
		return b
	}
	b = append(b, byte(t.openWait), byte(len(c.runnable)), byte(len(c.waiting)))
	switch {
	case t.answered && t.parked || t.openWait == asking: // its deadline does not matter
		b = append(b, 2)
	case t.openWait == lingering:
		b = append(b, 5+boolBits(w.order.passed > t.outlasts.passed))
	case t.openWait == sleeping:
		b = append(b, 3+boolBits(t.deadline == never))
	default:
		b = appendWhen(b, max(t.deadline, w.now), w.now)
	}
	if t.client != nil {
		b = appendText(b, c.operation.kind)
		b = appendBool(b, c.deadline.end <= w.now)
	}
	for _, n := range c.conns {
		b = n.appendState(b)
	}
	if c.pool != nil && &c.endpoint == c.first {
		b = c.pool.appendState(b)
	}
	if len(c.runnable) > 0 { // it finds these when its pause ends
		b = appendError(b, t.err)
		b = appendAnswer(appendReply(b, &t.reply), &t.result)
		b = appendRows(b, &t.rows, w.now)
	}
	return c.journal.append(b, w.now)
}

func (n *conn) appendState(b []byte) []byte {
	now := n.client.net.now
	b = append(b, boolBits(n.open, n.silent, n.waiter != nil, n.incarnation == n.server.incarnation))
	b = appendWhen(b, max(n.up, now), now)
	return appendWhen(b, max(n.down, now), now)
}

// age returns how many connections between the two are younger than n.
func (n *conn) age() byte {
	if n.server.database != nil {
		return byte(n.client.pool.made - n.number)
	}
	return byte(n.client.conns[n.server.n].number - n.number)
}

// appendState appends the pool's connections: idle ones, and the clients of the
// others.
func (p *connPool) appendState(b []byte) []byte {
	for _, n := range p.conns {
		b = n.appendState(append(b, 1, n.age()))
		if n.waiter != nil {
			b = append(b, byte(n.waiter.client.n))
		}
	}
	b = append(b, 0)
	for _, n := range p.idle {
		b = append(b, 1, n.age())
	}
	return append(b, 0)
}

func (im *impairment) appendState(b []byte) []byte {
	b = binary.AppendVarint(b, int64(im.id))
	b = appendBool(b, im.hits > 0)
	for _, m := range im.held {
		b = m.append(append(b, 1))
	}
	return append(b, 0)
}

// appendMessages appends the messages under way, connection by connection. The
// order of messages on different connections does not matter.
func (w *World) appendMessages(b []byte) []byte {
	o := &w.search
	o.sorted = o.sorted[:0]
	for i := range o.pending {
		o.sorted = append(o.sorted, i)
	}
	slices.SortStableFunc(o.sorted, func(i, j int) int {
		m, _ := o.pending[i].what.(*message)
		n, _ := o.pending[j].what.(*message)
		if m == nil || n == nil {
			return cmp.Compare(boolBits(m == nil), boolBits(n == nil))
		}
		return cmp.Or(
			cmp.Compare(m.conn.client.n, n.conn.client.n), cmp.Compare(m.conn.server.n, n.conn.server.n),
			cmp.Compare(m.conn.number, n.conn.number), cmp.Compare(boolBits(m.toUp), boolBits(n.toUp)))
	})
	for _, i := range o.sorted {
		e := &o.pending[i]
		if m, ok := e.what.(*message); ok && m.kind == call {
			o.calls = append(o.calls, m.op)
		}
		b = appendWhen(b, max(e.at, w.now), w.now)
		if m, ok := e.what.(*message); ok {
			b = m.append(b)
		}
	}
	return b
}

// Underway returns the indices of the invokes that were under way at the last
// AppendState, in the order of its output.
func (w *World) Underway() []int { return w.search.calls }

func (m *message) append(b []byte) []byte {
	n := m.conn
	c := n.client
	b = append(b, byte(c.n), byte(n.server.n), byte(m.kind), n.age())
	b = append(b, boolBits(m.toUp, n.silent, n.incarnation == n.server.incarnation, n.waiter != nil))
	b = appendError(b, m.err)
	if m.kind == rst {
		return b
	}
	b = append(b, byte(len(c.ops)-slices.Index(c.ops, m.op)))
	switch {
	case m.kind == dial:
	case n.server.database != nil:
		b = m.sql.append(b, m.toUp, c.net.now)
	case !m.toUp && n.server.redis == nil:
		b = appendAnswer(b, &m.answer)
	case !m.toUp:
		b = appendReply(b, &m.reply)
	case n.server.redis == nil:
		b = appendBool(b, m.access.Write)
		b = binary.AppendVarint(b, m.access.Value)
		b = binary.AppendUvarint(b, m.access.Token)
	default:
		b = appendText(appendText(appendText(append(b, byte(m.command.Verb)), m.command.Key), m.command.Value), m.command.Counter)
		b = binary.AppendVarint(appendText(b, m.command.Old), m.command.N)
		b = appendBool(binary.AppendVarint(b, int64(m.command.TTL)), m.command.NX)
	}
	return b
}

func (q *statement) append(b []byte, toUp bool, now time.Duration) []byte {
	if !toUp {
		return appendRows(b, &q.reply, now)
	}
	c := &q.command
	b = append(b, byte(c.Verb), byte(c.Set), byte(c.Where), byte(c.Isolation))
	b = appendRow(appendRow(b, &c.Row, now), &c.Match, now)
	for _, v := range [...]int64{int64(c.Lease), int64(c.Wait), c.Int} {
		b = binary.AppendVarint(b, v)
	}
	return appendText(b, c.Name)
}
