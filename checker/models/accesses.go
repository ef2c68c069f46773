package models

import "github.com/lockcheck/lockcheck/history"

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
	j.access(p.lock, a)
}

// access notes an access of a client. A read without an answer is ignored, except by
// a register that checks tokens.
func (j *Judge) access(l int32, a access) {
	if j.model.kind != register || a.what == read && a.ret == never && !j.model.rule.fenced {
		return
	}
	j.saw.tokens = j.saw.tokens || a.token != 0
	j.locks[l].accesses = append(j.locks[l].accesses, a)
}

// effect processes a line of the resource, which stands where the access took effect.
func (j *Judge) effect(pos int32, e *history.Entry) {
	n := j.lock(e.Lock)
	a := access{proc: none, call: pos, ret: pos, token: e.Token, value: e.Value.V, known: e.Value.Set}
	switch e.F {
	case history.Read:
	case history.Write:
		a.what = write
	case history.Refuse:
		a.what = refuse
	default:
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
