package models

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// never is a position after all others.
const never int32 = math.MaxInt32

// none stands for an absent id or position.
const none int32 = -1

// hold is one acquire and the release that goes with it. Each takes effect at
// an instant in a range of positions.
type hold struct {
	lock, proc int32
	call, ret  int32 // of the acquire; ret is never: it may not have happened
	end, gone  int32 // of the release, from its invoke on; end is never: there is none; gone is never: it may not have happened
	queued     int32 // where it was known to stand in the queue, or none
	outer      int32 // the open hold of its process that began before it, or none
	shared     bool
	token      uint64
	until      time.Duration // of a lease: when it ends, if that is known
}

// presupposed tells whether the acquire of h is certain to have happened.
func (h *hold) presupposed() bool { return h.ret != never }

// stray is a release or an extend that was ok and belongs to no hold, or to one
// that was over.
type stray struct {
	proc, call, ret int32
	release         bool
	hold            int32 // that an extend names, or none
}

// refusal is a try that was refused.
type refusal struct {
	proc, call, ret int32
	shared          bool
}

// deadline is what the holder knew from a position on.
type deadline struct {
	hold, pos int32
	until     time.Duration
}

// proc is a client's process, and its open operation.
type proc struct {
	number int
	client int32
	inner  int32 // its open hold that began last

	f      string // of its open operation; "": none
	lock   int32
	call   int32
	queued int32
	hold   int32 // that it acts on
	before int32 // where that hold ended before
	shared bool
	value  history.Opt
	was    history.Opt
	token  uint64
}

// client is what stays when process numbers change.
type client struct {
	name  string
	live  []int32 // holds that are not certain to be over
	heard int32   // its last sign of life: neither an invoke, which the recorder writes, nor an info
	died  int32   // where it died, if it has invoked nothing since; else none
}

// pausing is a pause that lasts.
type pausing struct {
	id  int
	pos int32
	on  []string
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
		j.clients = append(j.clients, client{name: name, heard: none, died: none})
		j.nameOf[name] = c
	}
	p := int32(len(j.procs))
	j.procs = append(j.procs, proc{number: e.Process.N, client: c, inner: none})
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

// client takes in a line of a client's process.
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
		j.clients[j.procs[id].client].heard = pos
	}
}

func (j *Judge) invoke(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	p.f, p.call, p.queued, p.hold, p.shared = e.F, pos, none, none, e.Shared
	p.value, p.was, p.token = e.Value, e.Was, e.Token
	j.clients[p.client].died = none
	switch e.F {
	case history.Acquire, history.Try:
		j.saw.acquires, j.saw.shared = true, j.saw.shared || e.Shared
		p.lock = j.lock(e.Lock)
		return
	case history.Read, history.Write, history.CAS:
		j.saw.accesses, j.saw.cas = true, j.saw.cas || e.F == history.CAS
		p.lock = j.lock(e.Lock)
		if h := j.grants.get(e.Grant); h != none && p.token == 0 {
			p.token = j.holds[h].token
		}
		return
	}
	p.hold = j.held(e, id)
	p.lock = j.lock(e.Lock)
	if p.hold == none {
		return
	}
	h := &j.holds[p.hold]
	p.lock = h.lock
	if p.before = h.end; e.F == history.Release {
		j.over(p.hold, pos)
	}
}

// held is the hold that e acts on: that of its grant; else the innermost open
// one of its process; else one of its client that may not be over.
func (j *Judge) held(e *history.Entry, id int32) int32 {
	if e.Grant != 0 {
		if h := j.grants.get(e.Grant); h != none {
			return h
		}
	}
	l, ok := j.lockOf[e.Lock]
	if !ok {
		return none
	}
	for h := j.procs[id].inner; h != none; h = j.holds[h].outer {
		if j.holds[h].lock == l {
			return h
		}
	}
	live := j.clients[j.procs[id].client].live
	for i := len(live) - 1; i >= 0; i-- {
		if j.holds[live[i]].lock == l {
			return live[i]
		}
	}
	return none
}

// over notes that a hold is no longer certain from pos on.
func (j *Judge) over(id, pos int32) {
	h := &j.holds[id]
	h.end = min(h.end, pos)
	for link := &j.procs[h.proc].inner; *link != none; link = &j.holds[*link].outer {
		if *link == id {
			*link = h.outer
			return
		}
	}
}

// forget takes a hold from those of its client that may not be over.
func (j *Judge) forget(id int32) {
	c := &j.clients[j.procs[j.holds[id].proc].client]
	for i := len(c.live) - 1; i >= 0; i-- {
		if c.live[i] == id {
			c.live = slices.Delete(c.live, i, i+1)
			return
		}
	}
}

func (j *Judge) complete(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	if p.f == "" {
		return
	}
	f := p.f
	p.f = ""
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
	if e.Error == history.ErrCrashed {
		j.die([]string{j.clients[p.client].name}, pos, true)
	}
}

func (j *Judge) acquired(pos int32, e *history.Entry, id int32, f string) {
	p := &j.procs[id]
	l := &j.locks[p.lock]
	if e.Type == history.Fail {
		if f == history.Try && refuses(e.Error) && j.opts.StrictTry && j.model.kind != register {
			l.refused = append(l.refused, refusal{id, p.call, pos, p.shared})
		}
		return
	}
	if j.model.kind == anonymous {
		j.event(p.lock, id, p.call, pos, e.Type, false)
	}
	h := hold{lock: p.lock, proc: id, call: p.call, ret: pos, end: never, gone: never, queued: p.queued, outer: none, shared: p.shared, token: e.Token}
	n := int32(len(j.holds))
	if e.Type == history.OK {
		if j.model.kind != register {
			l.granted++
		}
		h.outer, p.inner = p.inner, n
	} else {
		h.ret = never
	}
	c := &j.clients[p.client]
	if k := len(c.live); k > 0 && e.Type == history.OK && j.holds[c.live[k-1]].lock == p.lock && j.holds[c.live[k-1]].end != never {
		c.live = c.live[:k-1] // what it had before and let go is over
	}
	c.live = append(c.live, n)
	j.grants.put(e.Grant, n)
	if n := len(j.holds); n == cap(j.holds) { // append alone would copy long lists five times
		j.holds = slices.Grow(j.holds, n+64)
	}
	j.holds = append(j.holds, h)
	if c.died != none && e.Type == history.OK { // it did not live to see the answer
		j.over(n, c.died)
	}
	j.valid(n, pos, e.ValidUntil)
}

// refuses tells whether a try that failed with this error was refused because
// somebody held.
func refuses(err string) bool {
	return err == "" || strings.Contains(err, "held") || strings.Contains(err, "locked")
}

func (j *Judge) released(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	failed := e.Type == history.Fail
	if j.model.kind == anonymous && (!failed || j.opts.Released) {
		j.event(p.lock, id, p.call, pos, e.Type, true)
	}
	if p.hold == none {
		if e.Type == history.OK {
			j.stray(stray{proc: id, call: p.call, ret: pos, release: true, hold: none}, p.lock)
		}
		return
	}
	h := &j.holds[p.hold]
	switch {
	case e.Type == history.OK && h.gone != never:
		j.stray(stray{proc: id, call: p.call, ret: pos, release: true, hold: none}, p.lock)
	case e.Type == history.OK:
		h.gone = pos
		if !h.presupposed() {
			h.ret = pos
		}
		j.forget(p.hold)
	case failed && !j.opts.Released && h.end == p.call:
		h.end = p.before
		if h.end == never && h.presupposed() {
			h.outer, j.procs[h.proc].inner = j.procs[h.proc].inner, p.hold
		}
	}
}

func (j *Judge) extended(pos int32, e *history.Entry, id int32) {
	p := &j.procs[id]
	switch {
	case e.Type == history.OK && p.hold == none:
		j.stray(stray{proc: id, call: p.call, ret: pos, hold: none}, p.lock)
	case e.Type == history.OK:
		j.confirmed(p.hold, id, p.call, pos)
		j.valid(p.hold, pos, e.ValidUntil)
	case e.Type == history.Fail && (e.Error == history.ErrLost || e.Error == history.ErrNotHeld):
		j.lost(p.hold, pos)
	}
}

// confirmed takes in that the owner of a hold was told, between call and pos,
// that it has it.
func (j *Judge) confirmed(id, by, call, pos int32) {
	switch h := &j.holds[id]; {
	case !h.presupposed():
		h.ret = pos
		if h.end != never {
			h.end = max(h.end, call)
		}
	case h.gone != never:
		if j.model.rule.leases { // its stretches are holds of their own
			id = none
		}
		j.stray(stray{proc: by, call: call, ret: pos, hold: id}, h.lock)
	case h.end != never && !j.model.rule.leases:
		h.end = max(h.end, call)
	}
}

// stray notes one, where it matters who holds.
func (j *Judge) stray(s stray, l int32) {
	if j.model.kind == holding {
		j.locks[l].strays = append(j.locks[l].strays, s)
	}
}

// lost ends what a process learns that it has lost: all that rests on one entry
// of the store.
func (j *Judge) lost(id, pos int32) {
	if id == none || j.holds[id].end != never {
		return
	}
	p, l := j.holds[id].proc, j.holds[id].lock
	for h := j.procs[p].inner; h != none; h = j.holds[h].outer {
		if j.holds[h].lock == l {
			j.holds[h].end = pos
		}
	}
	for link := &j.procs[p].inner; *link != none; {
		if j.holds[*link].end != never {
			*link = j.holds[*link].outer
		} else {
			link = &j.holds[*link].outer
		}
	}
	j.holds[id].end = min(j.holds[id].end, pos)
	if j.model.kind == anonymous {
		j.event(l, p, pos, pos, history.Info, true)
	}
}

// report takes in what a client says between its operations.
func (j *Judge) report(pos int32, e *history.Entry, id int32) {
	switch p := &j.procs[id]; e.F {
	case history.Queued:
		if p.f != "" && p.queued == none {
			p.queued = pos
		}
	case history.Lost:
		j.lost(j.held(e, id), pos)
	case history.Valid:
		if h := j.held(e, id); h != none && j.holds[h].gone == never {
			// It may be told late: it says nothing of the end.
			j.holds[h].ret = min(j.holds[h].ret, pos)
			j.valid(h, pos, e.ValidUntil)
		}
	}
}

// valid notes how long a hold is said to be valid.
func (j *Judge) valid(id, pos int32, until time.Duration) {
	if j.model.rule.leases && until != 0 {
		j.deadlines = append(j.deadlines, deadline{id, pos, until})
	}
}

// nemesis takes in the death of clients: it ends what they hold.
func (j *Judge) nemesis(pos int32, e *history.Entry) {
	switch e.F {
	case "pause":
		j.pauses = append(j.pauses, pausing{e.ID, pos, e.On})
	case "pause" + history.EndSuffix:
		for i := len(j.pauses) - 1; i >= 0; i-- {
			if j.pauses[i].id == e.ID {
				j.pauses = slices.Delete(j.pauses, i, i+1)
				break
			}
		}
	case "kill", "poweroff":
		j.die(e.On, pos, false)
	case history.Exit:
		j.die(e.On, pos, true)
	}
}

// die ends what clients hold: at pos, or at the start of the pause in which
// they died; at their last sign of life if they died by themselves.
func (j *Judge) die(names []string, pos int32, itself bool) {
	for _, name := range names {
		id, ok := j.nameOf[name]
		if !ok {
			continue
		}
		c, at := &j.clients[id], pos
		if itself {
			at = c.heard
		}
		for _, p := range j.pauses {
			if slices.Contains(p.on, name) {
				at = min(at, p.pos)
			}
		}
		for _, h := range c.live {
			if j.model.kind == anonymous && j.holds[h].end == never {
				j.event(j.holds[h].lock, j.holds[h].proc, at, at, history.Info, true)
			}
			j.over(h, at)
		}
		c.live, c.died = c.live[:0], at
	}
}

// grants finds holds by their grants. Those of a recorder that counts are
// looked up in a slice.
type grants struct {
	dense  []int32 // hold+1; 0: none
	sparse map[int]int32
}

func (g *grants) get(n int) int32 {
	if n > 0 && n < len(g.dense) && g.dense[n] != 0 {
		return g.dense[n] - 1
	}
	if h, ok := g.sparse[n]; ok {
		return h
	}
	return none
}

func (g *grants) put(n int, hold int32) {
	switch {
	case n == 0:
	case n > 0 && n < 2*len(g.dense)+1024:
		for n >= len(g.dense) {
			g.dense = append(g.dense, 0)
		}
		g.dense[n] = hold + 1
	default:
		if g.sparse == nil {
			g.sparse = map[int]int32{}
		}
		g.sparse[n] = hold
	}
}
