package checker

import "github.com/lockcheck/lockcheck/history"

// begin opens the section that the acquire id has got.
func (m *Monitor) begin(id int32, e *history.Entry) {
	o := &m.calls[id]
	n := int32(len(m.sections))
	o.section = n
	s := section{grant: e.Grant, call: id, stands: m.standsOn(id, e), client: o.client, proc: o.proc, begin: m.pos, until: e.ValidUntil, nest: n}
	if m.clients[o.client].dead {
		s.end = m.pos // it ended before it began
	}
	nested := false
	m.prune(e.Time)
	for _, i := range m.live {
		a := &m.sections[i]
		switch {
		case a.end != 0:
		case a.proc == s.proc:
			s.nest, nested = a.nest, true
		case s.end == 0:
			m.overlap(a.client, 0)
			if a.until > e.Time && s.until > e.Time {
				m.overlap(a.client, 1)
			}
		}
	}
	if !o.served && !m.calls[s.stands].served && !nested && s.end == 0 {
		m.convict(inAnswers)
	}
	if o.robbed && (s.until == 0 || o.robbedAt < s.until) {
		m.convict(inOwnership)
	}
	if e.Token != 0 && m.tokens.stale(o.floor, token{e.Token, s.nest}) {
		m.convict(inFencing)
	}
	m.sections = append(m.sections, s)
	m.live = append(m.live, n)
}

// standsOn returns the acquire whose entry a grant uses; e is the ok of the acquire
// id.
func (m *Monitor) standsOn(id int32, e *history.Entry) int32 {
	a := m.find(e.Op)
	if a == none || a == id || m.calls[a].verb != acquire || m.calls[a].client != m.calls[id].client {
		return id
	}
	m.calls[a].shared, m.calls[a].outstays = true, none
	return a
}

// overlap notes that another client has been granted the lock within a hold of
// client.
func (m *Monitor) overlap(client int32, with int) {
	c := &m.clients[client]
	if c.since[with] == 0 {
		c.since[with] = m.pos
	}
	m.settle(c)
}

// settle decides the overlaps that no death of c can remove any more. If a later
// overlap is certain, so is an earlier one: the first one is enough.
func (m *Monitor) settle(c *party) {
	for with, pos := range c.since {
		if pos != 0 && (m.NoExit || c.last > pos) && m.pausedBefore(c, pos) == 0 {
			m.convict(inExclusion << with)
			c.since[with] = 0
		}
	}
}
