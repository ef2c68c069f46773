package models

import (
	"slices"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// Add processes the next entry. line is its line in the file, from 1. The entries
// have to be consistent (history.Check).
func (j *Judge) Add(e *history.Entry, line int) {
	pos := j.size
	j.keep(e, line)
	j.size++
	j.lines.add(pos, line)
	if j.model.rule.leases {
		j.times = append(j.times, e.Time)
	}
	switch {
	case e.Process.Client():
		j.client(pos, e)
	case e.Process.Name == history.Nemesis:
		j.nemesis(pos, e)
	case e.Process.Name == history.Resource && j.model.kind == register:
		j.effect(pos, e)
	}
}

// keep stores an entry while the history is short.
func (j *Judge) keep(e *history.Entry, line int) {
	if len(j.kept) < j.room {
		j.kept = append(j.kept, numbered{*e, line})
	} else {
		j.kept, j.room = nil, 0
	}
}

// client processes a line of a client's process.
func (j *Judge) client(pos int32, e *history.Entry) {
	id := j.process(e)
	switch e.Type {
	case history.Invoke:
		j.invoke(pos, e, id)
	case history.Event:
		j.report(pos, e, id)
	default:
		j.complete(pos, e, id)
	}
	if e.Type != history.Invoke && e.Type != history.Info {
		j.clients[j.procs[id].client].alive = pos + 1
	}
}

func (j *Judge) invoke(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	p.f, p.call, p.queued, p.hold, p.struck, p.joint, p.shared = e.F, pos, none, none, none, 0, e.Shared
	p.means, p.cloud = meaning{hold: none}, never
	p.value, p.was, p.token = e.Value, e.Was, e.Token
	p.lock = j.lock(e.Lock)
	switch e.F {
	case history.Acquire, history.Try:
		j.saw.acquires, j.saw.shared = true, j.saw.shared || e.Shared
		c := &j.clients[p.client]
		c.asking = append(c.asking, id)
		if e.Grant != 0 {
			j.name(j.asked(id, j.hand(p.client, p.lock)), e.Grant)
		}
	case history.Read, history.Write, history.CAS:
		j.saw.accesses, j.saw.cas = true, j.saw.cas || e.F == history.CAS
		if h := j.grants.get(e.Grant); h != none && p.token == 0 {
			p.token = j.holds[h].token
		}
	default:
		p.means = j.held(e, id)
		if p.hold = p.means.hold; p.hold != none {
			p.lock = j.holds[p.hold].lock
		}
		j.cloud(p)
		if p.hold != none && e.F == history.Release {
			p.means.left = j.holds[p.hold].mayBeLeft()
			j.holds[p.hold].release(p, 1)
		}
	}
}

func (j *Judge) complete(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	if p.f == "" {
		return
	}
	f := p.f
	defer func() { j.procs[id].f = "" }()
	switch f {
	case history.Acquire, history.Try:
		j.acquired(pos, e, id, f)
	case history.Release:
		j.released(pos, e, id)
	case history.Extend:
		j.extended(pos, e, id)
	default:
		j.accessed(pos, e, id, f)
	}
	if e.Type == history.Info {
		j.clients[p.client].retired = p.first + 1
	}
	if e.Error == history.ErrCrashed {
		j.die([]string{j.clients[p.client].name}, pos, true)
	}
}

// report processes a line of a client between its operations.
func (j *Judge) report(pos int32, e *history.Entry, id int32) {
	switch p := &j.procs[id]; e.F {
	case history.Queued:
		if p.f != "" { // a client that queues up anew has lost its former place
			p.queued = pos
		}
	case history.Lost:
		m := meaning{hold: none}
		if e.Grant != 0 {
			if m = j.held(e, id); j.voided(m.hold) {
				return
			}
		}
		j.lose(m, id, j.lock(e.Lock), pos, false)
	case history.Valid:
		if j.model.kind == anonymous { // it says nothing there
			return
		}
		m := j.held(e, id)
		if m.hold == none || j.voided(m.hold) {
			return
		}
		if m.open {
			j.doubt(p, j.holds[m.hold].lock, pos, e.F)
			j.waver(m.hold)
		}
		if m.open && j.model.rule.leases { // the hold may end sooner by it
			j.mark(j.hand(p.client, j.holds[m.hold].lock), pos-1)
		}
		if h := m.hold; j.holds[h].gone == never {
			j.told(h, pos, m.open) // perhaps late: it does not show the end
			j.valid(h, none, pos, e.ValidUntil, false)
		}
	}
}

// effect processes a line of the resource, which stands where the access took effect.
func (j *Judge) effect(pos int32, e *history.Entry) {
	n := j.lock(e.Lock)
	a := access{proc: none, call: pos, ret: pos, token: e.Token, value: e.Value.V, known: e.Value.Set}
	var ok bool
	if a.what, ok = whats[e.F]; !ok || a.what == cas {
		return
	}
	j.resources = true
	if h := j.grants.get(e.Grant); h != none && a.token == 0 {
		a.token = j.holds[h].token
	}
	j.saw.accesses, j.saw.tokens = true, j.saw.tokens || a.token != 0
	l := &j.locks[n]
	if a.what != refuse {
		l.granted++
	}
	l.effects = append(l.effects, a)
}

// nemesis processes the deaths of clients: they end the clients' holds.
func (j *Judge) nemesis(pos int32, e *history.Entry) {
	if killed, from := j.pauses.Add(int(pos), e); len(killed) > 0 {
		for _, name := range killed { // the acquires since its death belong to its next life
			c := &j.clients[j.nameOf[name]]
			j.perish(c, int32(from), c.died)
		}
	}
	if on, from := j.kills.Add(int(pos), e); len(on) > 0 { // all their lines since then are of the life that ended
		j.die(on, int32(from), false)
		j.killed(on, int32(from))
	}
	if f := faults.InHistory(e.F); f.Ends {
		j.began[pos] = int32(len(j.holds))
		j.die(e.On, pos, e.F == history.Exit)
	}
}

// finish processes operations without a completion.
func (j *Judge) finish() {
	for i := range j.procs {
		p, id := &j.procs[i], int32(i)
		f := p.f
		if f == "" {
			continue
		}
		l := &j.locks[p.lock]
		switch f {
		case history.Acquire, history.Try:
			j.holds[j.asked(id, j.hand(p.client, p.lock))].queued = none
			if p.cloud != never {
				j.mayEnd(p.hold, p.cloud)
			}
			j.early(p.hold, p)
			if j.model.kind == anonymous {
				l.events = append(l.events, event{proc: id, call: p.call, ret: never, hold: p.hold})
			}
		case history.Release:
			if j.model.kind == anonymous {
				l.events = append(l.events, event{proc: id, call: p.call, ret: never, hold: none, release: true, about: p.hold, open: p.means.open})
			}
			if p.hold != none {
				j.settle(p, true, true)
				j.holds[p.hold].close(p.call)
			}
		case history.Read, history.Write, history.CAS:
			j.accessed(never, &history.Entry{Type: history.Info}, id, f)
		}
		p.f = ""
	}
	for i := range j.locks {
		j.locks[i].events = j.ends(j.locks[i].events)
	}
	for id, r := range j.readings {
		h := &j.holds[id]
		if !r.mayEnd() {
			r.gone = h.gone
		}
		if r.end = min(r.end, h.end); r.end != never {
			r.end = min(max(r.end, r.floor, h.call), r.gone)
		}
	}
	for i := range j.holds { // a client with one of the holds on an entry has the entry
		if h := &j.holds[i]; h.joint != 0 {
			floor := h.floor
			if r := j.reading(int32(i)); r != nil {
				floor = r.floor
			}
			l := &j.losses[h.joint-1]
			l.pos, l.least = max(l.pos, h.floor), max(l.least, floor)
		}
	}
	for i := range j.holds {
		h := &j.holds[i]
		if h.end != never {
			if h.end = h.alone; h.joint != 0 {
				h.end = min(h.end, j.losses[h.joint-1].pos)
			}
			h.end = min(max(h.end, h.floor, h.call), h.gone)
		}
		if h.alone != never {
			h.alone = min(max(h.alone, h.floor, h.call), h.gone)
		}
	}
}

// ends adds to the events of a lock the losses and deaths that may have ended holds,
// and sorts them. Each is an optional release. One that may come before its acquire
// is certain can only end that acquire's hold; these are last.
func (j *Judge) ends(events []event) []event {
	if len(j.ceased) > 0 {
		for i := range events {
			e := &events[i]
			at, ok := j.ceased[e.hold]
			for k := range at {
				if !ok || e.release || at[k] == never {
					continue
				}
				end := event{proc: e.proc, call: max(at[k], e.call), ret: never, hold: none, release: true, about: e.hold, once: at[1-k] != never}
				if k == 0 {
					end.hold, e.tied = e.hold, true
				}
				events = append(events, end)
			}
		}
	}
	if order := eventOrder; !slices.IsSortedFunc(events, order) {
		slices.SortStableFunc(events, order)
	}
	j.confirmable(events)
	return events
}
