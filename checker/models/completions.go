package models

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

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
	hand := j.hand(p.client, p.lock)
	n := j.asked(id, hand)
	if j.model.kind == anonymous {
		j.event(event{proc: id, call: p.call, ret: pos, hold: n}, p.lock, e.Type)
	}
	h := &j.holds[n]
	if h.queued = none; e.Type == history.OK { // else it may have left the queue and come back
		h.queued = p.queued
	}
	j.name(n, e.Grant)
	if p.cloud != never {
		j.mayEnd(n, p.cloud)
	}
	if n := len(hand.sure); n > 0 && !j.holds[hand.sure[n-1]].certain() {
		hand.sure = hand.sure[:n-1] // so that the list stays short
	}
	if e.Type != history.OK {
		j.early(n, p)
		hand.unsure = append(hand.unsure, n)
		j.valid(n, none, pos, e.ValidUntil, false)
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
	j.valid(n, none, pos, e.ValidUntil, true)
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
		j.holds[p.hold].release(p, -1)
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
		if h.shown > p.call { // it was not released before that
			h.floor = max(h.floor, h.shown)
		}
		h.gone, h.ret, h.by = pos, min(h.ret, pos), id
		hand := j.hand(j.procs[h.proc].client, h.lock)
		if !h.named {
			hand.ended = append(hand.ended, p.hold)
		}
		if p.means.open {
			hand.freed = append(hand.freed, p.hold)
		}
	case e.Type == history.Fail && effect:
		j.failRelease(p, pos)
	case effect && e.Type != history.Fail:
		h.unanswered = h.unanswered || !p.means.open
		j.over(p.hold, p.call)
	}
}

func (j *Judge) extended(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	if h := j.grants.get(e.Grant); e.Type == history.OK && h != none && !p.means.named && j.procs[j.holds[h].proc].client == p.client {
		j.settle(p, false, false) // only its answer says which grant it was about
		p.hold, p.means = h, meaning{hold: h, named: true}
	}
	j.settle(p, e.Type == history.OK, e.Type == history.OK && j.model.rule.leases)
	if e.Type == history.OK {
		j.loose(id, pos, false)
	}
	switch {
	case e.Type == history.OK && (p.hold == none || j.voided(p.hold)):
		j.stray(stray{proc: id, call: p.call, ret: pos, doubt: j.stands(p), hold: none, over: none}, p.lock)
	case e.Type == history.OK:
		j.confirmed(p.hold, id, p.call, pos)
		j.valid(p.hold, p.call, pos, e.ValidUntil, false)
	case e.Type == history.Fail && (e.Error == history.ErrLost || e.Error == history.ErrNotHeld):
		j.lose(p.means, id, p.lock, pos, true)
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
		j.doubt(p, h.lock, call, history.Extend)
		j.waver(id)
	}
	j.told(id, pos, p.means.open)
	h.extended, h.by = pos, by
	if j.model.rule.leases { // its end is what counts, unless a release under way turns out to be ok
		if h.releasing > 0 {
			h.shown = max(h.shown, call)
		}
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

// valid notes the end of a hold's validity as known at pos, from an extend that was
// invoked at call, or, if granted is set, from the ok of the acquire.
func (j *Judge) valid(id, call, pos int32, until time.Duration, granted bool) {
	if j.model.rule.leases && until != 0 {
		j.deadlines = append(j.deadlines, deadline{id, pos, call, until, granted})
	}
}

// event notes an acquire or release that completed with typ.
func (j *Judge) event(e event, l int32, typ history.Type) {
	if typ != history.OK {
		e.ret = never
	}
	j.locks[l].events = append(j.locks[l].events, e)
}

// accessed processes the completion of a client's access.
func (j *Judge) accessed(pos int32, e *history.Entry, id int32, f string) {
	if j.model.kind != register {
		return
	}
	p := &j.procs[id]
	a := access{proc: id, call: p.call, ret: pos, token: p.token, from: p.was.V}
	if e.Token != 0 {
		a.token = e.Token
	}
	a.what, a.based = whats[f], p.was.Set
	if e.Was.Set && !a.based {
		a.from, a.based = e.Was.V, true
	}
	value := p.value
	if f == history.Read || e.Value.Set {
		value = e.Value
	}
	a.value, a.known = value.V, value.Set
	switch {
	case e.Type == history.Fail && e.Error == history.ErrStaleToken:
		a.what = refuse
	case e.Type == history.Fail:
		return
	case e.Type == history.Info:
		a.ret, a.known = never, a.known && f != history.Read
	default:
		j.locks[p.lock].granted++
	}
	if a.what == read && a.ret == never && !j.model.rule.fenced {
		return // only a register that checks tokens can tell anything from it
	}
	j.saw.tokens = j.saw.tokens || a.token != 0
	j.locks[p.lock].accesses = append(j.locks[p.lock].accesses, a)
}
