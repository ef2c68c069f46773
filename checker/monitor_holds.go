package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

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

func (s *section) protected(now time.Duration) bool {
	return s.giving == keeps && (s.until == 0 || now < s.until)
}

// covers reports whether b began in the process of s while s was open.
func (s *section) covers(b *call) bool {
	return b.proc == s.proc && s.begin < b.pos && (s.end == 0 || b.pos < s.end)
}

// judgesOwner reports whether removing the entry of s now is a violation, if the
// entry is there.
func (m *Monitor) judgesOwner(s *section, now time.Duration) bool {
	return m.undecided&inOwnership != 0 && s.protected(now)
}

// judgesRelease reports whether it matters when the entry of s ends.
func (m *Monitor) judgesRelease(s *section) bool {
	return m.undecided&inAnswers != 0 && m.lease > 0 && s.giving != gaveUp
}

// asks reports whether s is being released, and the answer has to tell what there was to
// release.
func (m *Monitor) asks(s *section) bool {
	id := m.clients[s.client].open
	return m.undecided&inAnswers != 0 && s.giving == gives && id != none && m.calls[id].told && &m.sections[m.calls[id].section] == s
}

// single reports whether no other grant is nested with s.
func (m *Monitor) single(s *section) bool {
	n := 0
	for i := range m.sections {
		if m.sections[i].nest == s.nest {
			n++
		}
	}
	return n == 1
}

// matters reports whether a later verdict can depend on s.
func (m *Monitor) matters(s *section, now time.Duration) bool {
	present := m.entry(s).present
	return s.end == 0 || s.writes > 0 && m.undecided&inResource != 0 || m.asks(s) ||
		present && (m.judgesOwner(s, now) || m.judgesRelease(s) && (s.giving == gave || !m.clients[s.client].dead))
}

// prune forgets the sections that do not matter any more.
func (m *Monitor) prune(now time.Duration) {
	kept := m.live[:0]
	for _, i := range m.live {
		if m.matters(&m.sections[i], now) {
			kept = append(kept, i)
		}
	}
	m.live = kept
}
