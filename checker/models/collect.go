package models

import (
	"slices"
	"strings"
	"time"

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
			j.grants.put(e.Grant, j.asked(id, j.hand(p.client, p.lock)))
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
			j.holds[p.hold].releasing++
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

func (j *Judge) acquired(pos int32, e *history.Entry, id int32, f string) {
	p := &j.procs[id]
	l := &j.locks[p.lock]
	c := &j.clients[p.client]
	if i := slices.Index(c.asking, id); i >= 0 {
		c.asking = slices.Delete(c.asking, i, i+1)
	}
	if e.Type == history.Fail {
		if f == history.Try && refuses(e.Error) && j.opts.StrictTry && j.model.kind != register {
			l.refused = append(l.refused, refusal{id, p.call, pos, p.shared})
		}
		if p.hold != none {
			j.refute(p.hold)
		}
		return
	}
	n := p.hold
	if n == none {
		n = j.add(hold{lock: p.lock, proc: id, call: p.call, ret: never, shared: p.shared})
	}
	if j.model.kind == anonymous {
		j.event(event{proc: id, call: p.call, ret: pos, hold: n}, p.lock, e.Type)
	}
	h := &j.holds[n]
	if h.queued = none; e.Type == history.OK { // else it may have left the queue and come back
		h.queued = p.queued
	}
	j.grants.put(e.Grant, n)
	hand := j.hand(p.client, p.lock)
	if p.hold == none {
		hand.mine = append(hand.mine, n)
	}
	if p.cloud != never {
		j.mayEnd(n, p.cloud)
	}
	if n := len(hand.sure); n > 0 && !j.holds[hand.sure[n-1]].certain() {
		hand.sure = hand.sure[:n-1] // so that the list stays short
	}
	if e.Type != history.OK {
		j.early(n, p)
		hand.unsure = append(hand.unsure, n)
		j.valid(n, none, pos, e.ValidUntil)
		return
	}
	if j.model.kind != register {
		l.granted++
	}
	h.ret, h.known, h.token = min(h.ret, pos), true, e.Token
	if r := j.reading(n); r != nil {
		r.ret = min(r.ret, pos)
	}
	if h.certain() {
		hand.sure = append(hand.sure, n)
	} else { // another process of its client may have released it meanwhile
		hand.unsure = append(hand.unsure, n)
	}
	j.early(n, p)
	before := len(j.deadlines)
	j.valid(n, none, pos, e.ValidUntil)
	for i := range j.deadlines[before:] {
		j.deadlines[before+i].granted = true
	}
}

// refuses reports whether this error means that a try was refused because another
// client held.
func refuses(err string) bool {
	return err == "" || strings.Contains(err, "held") || strings.Contains(err, "locked")
}

func (j *Judge) released(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	ok, effect := e.Type == history.OK, e.Type != history.Fail || j.opts.Released
	if j.model.kind == anonymous && effect && e.Type != history.Fail { // it found its own hold gone
		j.event(event{proc: id, call: p.call, ret: pos, hold: none, release: true, about: p.hold, open: p.means.open}, p.lock, e.Type)
	}
	j.settle(p, effect, effect)
	if p.hold != none {
		j.holds[p.hold].releasing--
	}
	if ok {
		j.loose(id, pos, true)
	}
	if p.hold == none || ok && (j.holds[p.hold].gone != never || j.voided(p.hold)) {
		if ok && p.hold != none && !p.means.open && !j.voided(p.hold) {
			j.holds[p.hold].close(p.call) // the earlier release may have been about another hold
		}
		if ok {
			j.stray(stray{proc: id, call: p.call, ret: pos, release: true, doubt: j.stands(p), hold: none, over: j.ended(p.hold)}, p.lock)
		}
		return
	}
	switch h := &j.holds[p.hold]; {
	case ok:
		if r := j.reading(p.hold); r != nil && !p.means.open {
			r.ret = min(r.ret, pos)
		}
		h.close(p.call)
		h.gone, h.ret = pos, min(h.ret, pos)
	case e.Type == history.Fail && effect && j.model.rule.reentrant && h.certain() && !p.means.open: // the entry was gone
		j.drop(j.hand(j.procs[h.proc].client, h.lock), h.owner, none, p.call, pos)
	case e.Type == history.Fail && effect && h.joint != 0: // its entry was already gone then
		l := &j.losses[h.joint-1]
		l.pos, l.least, h.end = min(l.pos, p.call), min(l.least, p.call), min(h.end, p.call)
	case e.Type == history.Fail && effect:
		j.cease(p.hold, p.call)
	case effect && e.Type != history.Fail:
		j.over(p.hold, p.call)
	}
}

func (j *Judge) extended(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	j.settle(p, e.Type == history.OK, e.Type == history.OK && j.model.rule.leases)
	if e.Type == history.OK {
		j.loose(id, pos, false)
	}
	switch {
	case e.Type == history.OK && (p.hold == none || j.voided(p.hold)):
		j.stray(stray{proc: id, call: p.call, ret: pos, doubt: j.stands(p), hold: none, over: none}, p.lock)
	case e.Type == history.OK:
		j.confirmed(p.hold, id, p.call, pos)
		j.valid(p.hold, p.call, pos, e.ValidUntil)
	case e.Type == history.Fail && (e.Error == history.ErrLost || e.Error == history.ErrNotHeld):
		j.lose(p.means, id, p.lock, pos)
	}
}

// confirmed notes that the owner of a hold learned, between call and pos, that it
// holds.
func (j *Judge) confirmed(id, by, call, pos int32) {
	h, p := &j.holds[id], &j.procs[by]
	if h.gone != never && call > h.gone {
		s := stray{proc: by, call: call, ret: pos, doubt: j.stands(p), hold: id, over: h.gone}
		if j.model.rule.leases { // its stretches are holds of their own
			s.hold = none
		}
		j.stray(s, h.lock)
		return
	}
	if p.means.open {
		j.doubt(p, call, history.Extend)
		j.waver(id)
	}
	j.told(id, pos, p.means.open)
	if j.model.rule.leases { // its end is what counts
		return
	}
	h.floor = max(h.floor, call)
	if r := j.reading(id); r != nil && !p.means.open && (p.means.named || !r.mayEnd()) {
		r.floor = max(r.floor, call)
	}
}

// ended returns where a hold is known to have ended, or none.
func (j *Judge) ended(id int32) int32 {
	if id == none || j.voided(id) || j.holds[id].gone == never {
		return none
	}
	return j.holds[id].gone
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
		j.lose(m, id, j.lock(e.Lock), pos)
	case history.Valid:
		m := j.held(e, id)
		if m.hold == none || j.voided(m.hold) {
			return
		}
		if m.open {
			j.doubt(p, pos, e.F)
			j.waver(m.hold)
		}
		if m.open && j.model.rule.leases { // the hold may end sooner by it
			j.mark(j.hand(p.client, j.holds[m.hold].lock), pos-1)
		}
		if h := m.hold; j.holds[h].gone == never {
			j.told(h, pos, m.open) // perhaps late: it does not show the end
			j.valid(h, none, pos, e.ValidUntil)
		}
	}
}

// valid notes the end of a hold's validity as known at pos, from an extend that was
// invoked at call.
func (j *Judge) valid(id, call, pos int32, until time.Duration) {
	if j.model.rule.leases && until != 0 {
		j.deadlines = append(j.deadlines, deadline{id, pos, call, until, false})
	}
}

// nemesis processes the deaths of clients: they end the clients' holds.
func (j *Judge) nemesis(pos int32, e *history.Entry) {
	if killed, from := j.pauses.Add(int(pos), e); len(killed) > 0 {
		j.die(killed, int32(from), false)
	}
	if on, from := j.kills.Add(int(pos), e); len(on) > 0 { // all their lines since then are of the life that ended
		j.die(on, int32(from), false)
	}
	if f := faults.InHistory(e.F); f.Ends {
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
			if p.hold == none {
				p.hold = j.add(hold{lock: p.lock, proc: id, call: p.call, ret: never, shared: p.shared})
			}
			j.holds[p.hold].queued = none
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
			j.access(p.lock, access{
				what: whats[f], proc: id, call: p.call, ret: never, token: p.token,
				value: p.value.V, known: p.value.Set && f != history.Read, from: p.was.V, based: p.was.Set,
			})
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
