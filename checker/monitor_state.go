package checker

import (
	"encoding/binary"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// AppendState appends the state that later verdicts depend on, at now, which is not
// before the last line. Two monitors that append the same state give the same
// verdicts after the same future. Futures are the same if they differ only in
//   - indices, grants and processes, if they refer to operations with the same name,
//     by AppendCall, in both;
//   - the time that both count from, and Base.
//
// A search for states that it has seen before has to append its own part: the states
// of clients, servers and network, with the name of each operation that a request
// under way belongs to, and with tokens and values counted from Base.
//
// A client writes only values into the resource that were never there before, such as
// the values of a counter. So a client that has read an old value will always have an
// old one.
func (m *Monitor) AppendState(b []byte, now time.Duration) []byte {
	b = append(b, byte(m.violated))
	if m.over {
		return b
	}
	if m.tells && m.undecided&inAnswers != 0 {
		b = binary.AppendUvarint(b, uint64(m.disturbed))
	}
	for _, id := range m.order {
		b = m.appendClient(b, id, now)
	}
	return m.appendTokens(append(b, 0))
}

// Base returns the bases from which the state counts tokens and values: the largest
// token of a completed grant, and the value in place.
func (m *Monitor) Base() (tok uint64, value int64) { return m.tokens.top.n, m.value }

// appendClient appends a client's name and its open state, if it has any.
func (m *Monitor) appendClient(b []byte, id int32, now time.Duration) []byte {
	c := &m.clients[id]
	start := len(b)
	b = appendWord(b, c.name)
	empty := len(b) + 2
	b = append(b, flag(c.dead, 0))
	for _, p := range m.pauses {
		if p.client == id && !c.dead {
			b = binary.AppendUvarint(append(b, 1), uint64(p.id))
		}
	}
	b = append(b, 0)
	b = m.appendOverlaps(b, c)
	if c.open != none && m.calls[c.open].verb == acquire && !c.dead {
		b = m.appendAcquire(append(b, 'a'), &m.calls[c.open], now)
	}
	last := none
	for _, i := range m.live {
		if s := &m.sections[i]; s.client == id && m.matters(s, now) {
			b = append(b, 's', flag(last != none && m.sections[last].nest == s.nest, 0))
			b = m.appendSection(b, s, now, false)
			last = i
		}
	}
	if len(b) == empty && !c.dead {
		return b[:start]
	}
	return append(b, 0)
}

// appendOverlaps appends the events that can still remove the undecided overlaps with
// holds of c.
func (m *Monitor) appendOverlaps(b []byte, c *party) []byte {
	for with, pos := range c.since {
		if pos != 0 && m.undecided&(inExclusion<<with) != 0 {
			b = append(b, 'x'+byte(with), flag(!m.NoExit && c.last <= pos, 0))
			b = binary.AppendUvarint(b, uint64(m.pausedBefore(c, pos)))
		}
	}
	return b
}

// appendAcquire appends the state with which an acquire's answer will be compared.
func (m *Monitor) appendAcquire(b []byte, o *call, now time.Duration) []byte {
	robbed := o.robbed && m.undecided&inOwnership != 0
	b = append(b, flag(o.served && m.undecided&inAnswers != 0, 0)|
		flag(o.present && m.undecided&(inAnswers|inOwnership) != 0, 1)|flag(robbed, 2)|flag(o.shared, 3))
	if robbed {
		b = binary.AppendVarint(b, int64(o.robbedAt-now))
	}
	if m.undecided&inFencing != 0 && o.floor.n != 0 {
		b = binary.AppendUvarint(append(b, 1), m.tokens.top.n-o.floor.n)
		return append(b, flag(m.joins(o.client) == o.floor.nest, 0))
	}
	return append(b, 0)
}

// joins returns the nest that a grant of that client would join, or none.
func (m *Monitor) joins(client int32) int32 {
	for _, i := range m.live {
		if s := &m.sections[i]; s.client == client && s.end == 0 && s.proc == m.clients[client].proc {
			return s.nest
		}
	}
	return none
}

// outstays reports whether the release of s was ok while its entry stayed.
func (m *Monitor) outstays(s *section) bool {
	o := m.entry(s)
	return m.undecided&inAnswers != 0 && o.outstays != none && &m.sections[o.outstays] == s
}

// appendSection appends s. The state of an entry is left out when it is gone, unless
// it may return. Grants on one entry are identified by the index of the acquire that
// made the entry: two states with such grants are rarely found to be the same.
func (m *Monitor) appendSection(b []byte, s *section, now time.Duration, returns bool) []byte {
	open, present, outstays := s.end == 0, m.entry(s).present, m.outstays(s)
	if a := m.entry(s); a.shared {
		b = binary.AppendUvarint(append(b, 'e'), uint64(a.index))
	}
	c := &m.clients[s.client]
	own := open && s.proc == c.proc
	b = append(b, flag(open, 0)|flag(own, 1)|flag(present, 2)|flag(outstays, 3)|flag(own && c.retired, 4)|
		flag(m.tells && m.undecided&inAnswers != 0 && s.giving == keeps && m.entry(s).came != 0, 5))
	present = present || returns
	// stays: its release may still be ok although no request removes the entry. The
	// entry's time is checked when another acquire takes it over.
	stays := present && m.undecided&inAnswers != 0 && (s.giving == keeps || s.giving == gives || outstays)
	if id := m.clients[s.client].open; stays && s.giving == gives && id != none {
		b = append(b, flag(m.entry(s).came < m.calls[id].pos, 0))
	}
	held := stays || present && m.judgesOwner(s, now)
	switch {
	case held && s.until == 0:
		b = append(b, 2)
	case s.until > now && (held || open && m.undecided&inLeaseExclusion != 0):
		b = binary.AppendVarint(append(b, 1), int64(s.until-now))
	default:
		b = append(b, 0)
	}
	if present {
		b = append(b, byte(s.giving))
		if since, all := m.stayed(s); all && m.judgesRelease(s) {
			b = binary.AppendVarint(b, int64(min(now-since, m.lease)))
		}
	}
	if m.asks(s) {
		o := &m.calls[c.open]
		b = append(b, 'r', flag(o.found || m.entry(s).came > o.pos, 0)|flag(o.took, 1))
	}
	return m.appendBasis(b, s)
}

// appendBasis appends whether s knows the value in place.
func (m *Monitor) appendBasis(b []byte, s *section) []byte {
	if m.undecided&inResource == 0 || s.end != 0 && s.writes == 0 {
		return append(b, 0)
	}
	basis := m.sections[s.nest].basis
	b = append(b, 1+flag(basis.Set, 0)+flag(basis.Set && basis.V != m.value, 0))
	return binary.AppendUvarint(b, uint64(s.writes))
}

// appendTokens appends the tokens that must not come again, unless a larger one
// excludes them, each with the client that may get it again.
func (m *Monitor) appendTokens(b []byte) []byte {
	ts := &m.tokens
	if m.undecided&inFencing == 0 || ts.top.n == 0 {
		return append(b, 0)
	}
	b = m.appendNest(append(b, 1), ts.top.nest)
	floor := ts.top.n
	for i := range m.clients {
		if c := &m.clients[i]; !c.dead && c.open != none && m.calls[c.open].verb == acquire {
			floor = min(floor, m.calls[c.open].floor.n)
		}
	}
	for i := len(ts.seen) - 1; i >= 0 && ts.seen[i].n > floor; i-- {
		b = binary.AppendUvarint(append(b, 1), ts.top.n-ts.seen[i].n)
		b = m.appendNest(b, ts.seen[i].nest)
	}
	return append(b, 0)
}

// appendNest appends the client whose next grant would join that nest.
func (m *Monitor) appendNest(b []byte, nest int32) []byte {
	if id := m.sections[nest].client; m.joins(id) == nest {
		return appendWord(b, m.clients[id].name)
	}
	return append(b, 0)
}

// AppendCall appends the name of the operation whose invoke has that index. It also
// appends the state that AppendState leaves out because it matters only while a
// request of the operation is under way.
func (m *Monitor) AppendCall(b []byte, index int, now time.Duration) []byte {
	id := m.find(history.Some(int64(index)))
	if id == none {
		return append(b, 0)
	}
	o := &m.calls[id]
	c := &m.clients[o.client]
	b = appendWord(b, c.name)
	b = append(b, byte(o.verb), flag(c.open == id, 0)|flag(o.unsettled && m.undecided&inResource != 0, 1))
	if o.unsettled && m.undecided&inResource != 0 {
		nest, older := m.sections[o.section].nest, byte(0)
		for i := range m.calls {
			if c := &m.calls[i]; c.unsettled && c.pos < o.pos && m.sections[c.section].nest == nest {
				older++
			}
		}
		newer := m.sections[nest].learnt > o.pos
		b = append(b, flag(o.basis.Set, 0)|flag(o.basis.Set && o.basis.V != m.value, 1)|flag(newer, 2), older)
	}
	var own, around uint64 // bits of the client's sections: its own, from 1, and those that it began in
	n := 0
	for _, i := range m.live {
		s := &m.sections[i]
		if s.client != o.client || !m.matters(s, now) {
			continue
		}
		if s.covers(o) && m.judgesOwner(s, now) {
			around |= 1 << n
		}
		if n++; i == o.section {
			own = uint64(n)
		}
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, own), around)
	if o.verb == acquire && o.section != none {
		return m.appendSection(append(b, 1), &m.sections[o.section], now, true)
	}
	return append(b, 0)
}

// flag returns bit n if set.
func flag(set bool, n int) byte {
	if set {
		return 1 << n
	}
	return 0
}

func appendWord(b []byte, word string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(word))), word...)
}
