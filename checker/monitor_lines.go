package checker

import "github.com/lockcheck/lockcheck/history"

// Add processes the run's next line. It keeps nothing of e but its strings.
func (m *Monitor) Add(e *history.Entry) {
	m.pos++
	switch {
	case e.Process.Client():
		m.client(e)
	case e.Process.Name == history.Nemesis:
		m.nemesis(e)
	case e.Process.Name == history.Resource:
		m.access(e)
	default:
		m.act(e)
	}
}

func (m *Monitor) client(e *history.Entry) {
	id := m.party(e.Client)
	c := &m.clients[id]
	switch e.Type {
	case history.Invoke:
		m.invoke(id, e)
		return
	case history.Info:
		m.complete(id, e)
		c.retired = true
		return
	case history.OK, history.Fail:
		m.complete(id, e)
	}
	c.last = m.pos
	m.settle(c)
}

func (m *Monitor) invoke(id int32, e *history.Entry) {
	v := verbOf(e.F)
	if v == 0 {
		return
	}
	c := &m.clients[id]
	if e.Process.N != c.number && !c.retired {
		c.proc = e.Process.N
	}
	c.number, c.retired, c.dead = e.Process.N, false, false
	o := call{index: e.Index, pos: m.pos, client: id, proc: c.proc, section: none, outstays: none, verb: v}
	if v == acquire {
		o.floor = m.tokens.top
	} else {
		o.section = m.held(c.proc, e.Grant)
	}
	if o.section != none {
		s := &m.sections[o.section]
		switch {
		case v == release:
			a := m.entry(s)
			o.told = m.tells && s.giving == keeps && s.end == 0 && m.disturbed == 0 && m.single(s)
			o.found = a.present || a.came == 0
			s.close(m.pos)
			if s.giving == keeps {
				s.giving = gives
			}
		case v == write:
			n := &m.sections[s.nest]
			o.unsettled, o.basis, o.learnt = true, n.basis, n.learnt
			s.writes++
		}
	}
	c.open = int32(len(m.calls))
	m.calls = append(m.calls, o)
}

// lies reports whether the answer to a release says what is not so.
func (m *Monitor) lies(o *call, answer history.Type) bool {
	a := m.entry(&m.sections[o.section])
	switch {
	case !o.told || a.shared:
	case answer == history.OK:
		return !o.found && !o.took && a.came < o.pos
	case answer == history.Fail:
		return o.took
	}
	return false
}

func (m *Monitor) complete(id int32, e *history.Entry) {
	c := &m.clients[id]
	if c.open == none {
		return
	}
	o := &m.calls[c.open]
	ok := e.Type == history.OK
	switch {
	case o.verb == acquire && ok:
		m.begin(c.open, e)
	case o.verb == acquire && e.Type == history.Fail && o.present && !o.shared:
		m.convict(inAnswers)
	case o.verb == release && o.section != none:
		s := &m.sections[o.section]
		if m.lies(o, e.Type) {
			m.convict(inAnswers)
		}
		if ok && s.giving != gave {
			s.giving, s.gaveAt = gave, e.Time
			m.overlook(s, o)
		} else if s.giving == gives {
			s.giving = gaveUp
		}
	case e.Type != history.Info:
		m.reached(o)
	}
	o.done = true
	c.open = none
	if e.Error == history.ErrCrashed && !c.dead {
		m.end(c, c.last)
	}
}
