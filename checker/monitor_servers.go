package checker

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// find is the call whose invoke has that index, or none.
func (m *Monitor) find(index history.Opt) int32 {
	if !index.Set {
		return none
	}
	low, high := 0, len(m.calls)
	for low < high {
		if mid := (low + high) / 2; int64(m.calls[mid].index) < index.V {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(m.calls) && int64(m.calls[low].index) == index.V {
		return int32(low)
	}
	return none
}

// act takes in a line of a server.
func (m *Monitor) act(e *history.Entry) {
	d := deedOf(e.F)
	if d == 0 {
		return
	}
	made, by := m.find(e.Op), m.find(e.By)
	switch d {
	case removed, takenOver, shortened:
		m.trespass(made, by, e.Time)
	}
	switch d {
	case granted:
		m.serve(made)
		m.put(made)
	case removed, expired, lost:
		m.leave(made)
	case takenOver:
		m.leave(made)
		m.serve(by)
		if by != made {
			m.put(by)
		}
	case prolonged:
		m.serve(by)
	}
}

func (m *Monitor) serve(id int32) {
	if id != none {
		m.calls[id].served = true
	}
}

func (m *Monitor) put(id int32) {
	if id != none && m.calls[id].verb == acquire {
		m.calls[id].present = true
	}
}

func (m *Monitor) leave(id int32) {
	if id != none {
		m.calls[id].present = false
	}
}

// trespass judges that the call by took away the entry of the acquire made.
func (m *Monitor) trespass(made, by int32, now time.Duration) {
	if made == none || by == none || made == by {
		return
	}
	a, b := &m.calls[made], &m.calls[by]
	if a.section == none {
		if !a.done && !a.robbed {
			a.robbed, a.robbedAt = true, now
		}
		return
	}
	s := &m.sections[a.section]
	if s.protected(now) && b.section != a.section && !s.covers(b) {
		m.convict(inOwnership)
	}
}

func (s *section) protected(now time.Duration) bool {
	return s.giving == keeps && (s.until == 0 || now < s.until)
}

// covers tells whether b began in the process of s while s was open.
func (s *section) covers(b *call) bool {
	return b.proc == s.proc && s.begin < b.pos && (s.end == 0 || b.pos < s.end)
}

// access takes in a line of the resource.
func (m *Monitor) access(e *history.Entry) {
	id := none
	if o := m.find(e.By); o != none {
		id = m.calls[o].section
		if e.F != history.Read {
			m.reached(&m.calls[o])
		}
	} else if e.Grant != 0 {
		id = m.held(0, e.Grant)
	}
	if e.F == history.Refuse {
		return
	}
	if id != none {
		basis := &m.sections[m.sections[id].nest].basis
		if e.F == history.Write && basis.Set && e.Was.Set && basis.V != e.Was.V {
			m.convict(inResource)
		}
		*basis = e.Value
	}
	m.value = e.Value.V
}

// reached notes that a write will not reach the resource any more.
func (m *Monitor) reached(o *call) {
	if o.unsettled {
		o.unsettled = false
		m.sections[o.section].writes--
	}
}

// standstill is a pause that has not ended.
type standstill struct {
	client int32
	id     int
	pos    int32
}

// nemesis takes in a line of the nemesis.
func (m *Monitor) nemesis(e *history.Entry) {
	switch e.F {
	case history.Ended:
		m.finish(e.Time)
	case history.Exit:
		for _, name := range e.On {
			if c := &m.clients[m.party(name)]; !c.dead {
				m.end(c, c.last)
			}
		}
	case kinds[kill].name, kinds[poweroff].name:
		for _, name := range e.On {
			id := m.party(name)
			pos := m.pos
			for _, p := range m.pauses {
				if p.client == id {
					pos = min(pos, p.pos)
				}
			}
			m.end(&m.clients[id], pos)
		}
	case kinds[pause].name:
		for _, name := range e.On {
			if m.kills {
				m.pauses = append(m.pauses, standstill{m.party(name), e.ID, m.pos})
			}
		}
	default:
		if name, ends := strings.CutSuffix(e.F, history.EndSuffix); ends && name == kinds[pause].name {
			m.goOn(e.ID)
		}
	}
}

// goOn ends the pause with that id.
func (m *Monitor) goOn(id int) {
	m.pauses = slices.DeleteFunc(m.pauses, func(p standstill) bool { return p.id == id })
	for i := range m.clients {
		m.settle(&m.clients[i])
	}
}

// pausedBefore is how many pauses of c that have not ended began before pos.
func (m *Monitor) pausedBefore(c *party, pos int32) (n int) {
	for _, p := range m.pauses {
		if p.pos < pos && &m.clients[p.client] == c {
			n++
		}
	}
	return n
}

// end takes in that c has done nothing since pos, and never will again.
func (m *Monitor) end(c *party, pos int32) {
	for with, since := range c.since {
		if since != 0 && pos > since {
			m.convict(inExclusion << with)
		}
		c.since[with] = 0
	}
	for i := range m.sections {
		if s := &m.sections[i]; &m.clients[s.client] == c {
			s.close(pos)
		}
	}
	c.dead = true
}

// finish takes in that the run is over at now: what has not been undone stands.
func (m *Monitor) finish(now time.Duration) {
	for i := range m.clients {
		for with, since := range m.clients[i].since {
			if since != 0 {
				m.convict(inExclusion << with)
			}
		}
	}
	for i := range m.sections {
		s := &m.sections[i]
		if s.giving == gave && m.lease > 0 && now-s.gaveAt >= m.lease && m.calls[s.call].present {
			m.convict(inAnswers)
		}
	}
	m.over = true
}
