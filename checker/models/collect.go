package models

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// never is a position after all others.
const never int32 = math.MaxInt32

// none is an absent id or position.
const none int32 = -1

// hold is one acquire and the release that goes with it. Each takes effect at
// an instant in a range of positions.
type hold struct {
	lock, proc int32
	owner      int32 // the first of the processes that replaced each other, up to proc
	call, ret  int32 // of the acquire; ret is never: it may not have happened
	end, gone  int32 // of the release: invoke; latest effect. end is never: no release; gone is never: it may not have happened
	floor      int32 // until when an extend shows that it lasted, or none
	queued     int32 // position at which it was known to be in the queue, or none
	shared     bool
	known      bool  // its acquire was ok, or a later line confirmed it
	void       bool  // its acquire failed, after a line had confirmed its release
	releasing  int8  // number of its releases under way
	alone      int32 // position from which it may have ended without a release, or never
	joint      int32 // the loss that may end it with its process's other holds: number plus one, or 0
	token      uint64
	until      time.Duration // of a lease: its end, if that is known
}

// presupposed reports whether the acquire of h is certain to have happened.
func (h *hold) presupposed() bool { return h.ret != never }

// stray is a release or an extend that was ok although it belongs to no hold, or to
// one that was over.
type stray struct {
	proc, call, ret int32
	release         bool
	doubt           doubt
	hold            int32 // the hold that an extend names, or none
	over            int32 // position at which the named hold had ended, or none
}

// refusal is a try that was refused.
type refusal struct {
	proc, call, ret int32
	shared          bool
}

// deadline is the end of a hold as the holder knew it from a position on.
type deadline struct {
	hold, pos int32
	call      int32 // invoke of the extend that gave it, or none
	until     time.Duration
	granted   bool // it comes from the ok of the acquire
}

// proc is a client's process, and its open operation.
type proc struct {
	number int
	client int32
	first  int32 // the process that it replaced after an info, or itself

	f      string // its open operation; "": none
	lock   int32
	call   int32
	queued int32
	hold   int32 // the hold that it acts on, or none
	means  meaning
	struck int32 // of an acquire: position at which its client died, or lost its hold, or none
	joint  int32 // of an acquire: the loss of an entry that may be about it: number plus one, or 0
	cloud  int32 // of an acquire: from where an operation that may mean it may have ended it, or never
	shared bool
	value  history.Opt
	was    history.Opt
	token  uint64
}

// client is the state of a client that stays when process numbers change.
type client struct {
	name   string
	asking []int32 // processes with an open acquire
	hands  []int32 // its hand for each lock
	// retired is the process that ended with info, until another replaces it, plus
	// one; or 0.
	retired int32
	// alive is the position after its last sign of life, which is neither an invoke
	// nor an info (the recorder writes those), or the position where it was killed.
	alive int32
}

func (j *Judge) process(e *history.Entry) int32 {
	if p, ok := j.procOf[e.Process.N]; ok {
		return p
	}
	name := e.Client
	if name == "" {
		name = e.Process.String()
	}
	c, ok := j.nameOf[name]
	if !ok {
		c = int32(len(j.clients))
		j.clients = append(j.clients, client{name: name})
		j.nameOf[name] = c
	}
	p := int32(len(j.procs))
	j.procs = append(j.procs, proc{number: e.Process.N, client: c, first: p})
	if before := &j.clients[c].retired; *before != 0 {
		j.procs[p].first, *before = *before-1, 0
	}
	j.procOf[e.Process.N] = p
	return p
}

func (j *Judge) lock(name string) int32 {
	l, ok := j.lockOf[name]
	if !ok {
		l = int32(len(j.locks))
		j.locks = append(j.locks, lock{name: name})
		j.lockOf[name] = l
	}
	return l
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

// stray notes a stray operation, if the model cares who holds.
func (j *Judge) stray(s stray, l int32) {
	if j.model.kind == holding {
		j.locks[l].strays = append(j.locks[l].strays, s)
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
