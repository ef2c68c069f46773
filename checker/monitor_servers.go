package checker

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// act processes a line of a server.
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
	if d == removed && made != none && by != none && m.calls[by].verb == release && m.calls[by].section != none {
		m.calls[by].took = m.calls[by].took || m.sections[m.calls[by].section].stands == made
	}
	switch d {
	case granted:
		m.serve(made)
		m.put(made, e.Time)
	case removed, expired, lost, takenOver:
		m.leave(made, d, e)
	}
	switch d {
	case takenOver:
		m.serve(by)
		if by != made {
			m.put(by, e.Time)
		}
	case prolonged:
		m.serve(by)
	}
}

func (m *Monitor) serve(id int32) {
	if id != none {
		m.calls[id].served = true
		m.calls[id].robbed = false // of the acquire whose entry its grant uses
	}
}

func (m *Monitor) put(id int32, now time.Duration) {
	if id != none && m.calls[id].verb == acquire && !m.calls[id].present {
		m.calls[id].present, m.calls[id].since, m.calls[id].came = true, now, m.pos
	}
}

// leave notes that the entry of the acquire id is gone, by the line e.
func (m *Monitor) leave(id int32, d deed, e *history.Entry) {
	if id == none {
		return
	}
	o := &m.calls[id]
	if o.present && o.outstays != none {
		until := m.sections[o.outstays].until
		if d == expired || d == lost && e.Text == history.SessionOver || d == takenOver && until != 0 && until <= e.Time {
			m.convict(inAnswers)
		}
	}
	o.present, o.outstays = false, none
}

// overlook notes that the release of s was ok, and whether the entry was there all
// the time and no other grant uses it.
func (m *Monitor) overlook(s *section, release *call) {
	o := m.entry(s)
	if _, all := m.stayed(s); all && o.present && o.came < release.pos {
		o.outstays = release.section
	}
}

// trespass judges that the call by removed the entry of the acquire made.
func (m *Monitor) trespass(made, by int32, now time.Duration) {
	if made == none || by == none || made == by {
		return
	}
	a, b := &m.calls[made], &m.calls[by]
	if m.share(made, b) {
		return
	}
	if a.shared {
		m.trespassOnGuests(made, b, now)
	}
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

// share reports whether b acts for a grant that uses the entry of the acquire made,
// or shares another acquire's entry with it.
func (m *Monitor) share(made int32, b *call) bool {
	if b.section == none {
		return false
	}
	if id := m.calls[made].section; id != none {
		made = m.sections[id].stands
	}
	return m.sections[b.section].stands == made
}

// trespassOnGuests judges that b removed the entry of the acquire made, which the
// grants of other acquires use.
func (m *Monitor) trespassOnGuests(made int32, b *call, now time.Duration) {
	for i := range m.sections {
		if s := &m.sections[i]; s.stands == made && s.call != made && s.client != b.client && s.protected(now) {
			m.convict(inOwnership)
		}
	}
}

// access processes a line of the resource.
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
		s := &m.sections[m.sections[id].nest]
		basis, since := s.basis, m.pos
		if o := m.find(e.By); o != none && e.F == history.Write {
			basis, since = m.calls[o].basis, m.calls[o].pos
		}
		if e.F == history.Write && basis.Set && e.Was.Set && basis.V != e.Was.V {
			m.convict(inResource)
		}
		if o := m.find(e.By); o != none {
			m.calls[o].basis = e.Value // a request may be applied twice
		}
		if since >= s.learnt {
			s.basis, s.learnt = e.Value, since
		}
		m.precedes(m.sections[id].nest, e.Value, since)
	}
	m.value = e.Value.V
}

// precedes corrects the basis of the writes that a nest sent after since, and that may still
// reach the resource: it knew value by then.
func (m *Monitor) precedes(nest int32, value history.Opt, since int32) {
	for i := len(m.calls) - 1; i >= 0 && m.calls[i].pos > since; i-- {
		if o := &m.calls[i]; o.unsettled && m.sections[o.section].nest == nest && o.learnt < since {
			o.basis, o.learnt = value, since
		}
	}
}

// reached notes that a write will not reach the resource any more.
func (m *Monitor) reached(o *call) {
	if o.unsettled {
		o.unsettled = false
		m.sections[o.section].writes--
	}
}

// nemesis processes a line of the nemesis.
func (m *Monitor) nemesis(e *history.Entry) {
	name, ends := strings.CutSuffix(e.F, history.EndSuffix)
	m.disturb(e.F, ends)
	switch {
	case e.F == history.Ended:
		m.finish(e.Time)
	case e.F == history.Exit:
		for _, name := range e.On {
			if c := &m.clients[m.party(name)]; !c.dead {
				m.end(c, c.last)
			}
		}
	case kindOf(e.F).ends():
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
	case name != "pause":
	case ends:
		m.goOn(e.ID)
	default:
		for _, name := range e.On {
			if m.kills {
				m.pauses = append(m.pauses, standstill{m.party(name), e.ID, m.pos})
			}
		}
	}
}

// disturb counts the faults in force, but for deaths. While there is one, a request may get no
// answer, so the answer to a release need not tell.
func (m *Monitor) disturb(f string, ends bool) {
	switch {
	case f == history.Ended, f == history.Budget, f == history.Exit, kindOf(f).ends():
	case ends:
		m.disturbed = max(0, m.disturbed-1)
	default:
		m.disturbed++
		for i := range m.clients {
			if id := m.clients[i].open; id != none {
				m.calls[id].told = false
			}
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

// end notes that c has done nothing since pos, and never will again.
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

// finish notes that the run is over at now: undecided violations become final.
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
		if since, all := m.stayed(s); all && m.lease > 0 && now-since >= outlasts(m.lease) && m.entry(s).present {
			m.convict(inAnswers)
		}
	}
	m.over = true
}
