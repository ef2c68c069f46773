package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// newTimeline reads h. It expects a history that history.Check accepts; the timeline
// of another history may lack things.
func newTimeline(h *history.History) *timeline {
	t := new(timeline)
	t.read(h)
	return t
}

// newLogTimeline reads l.
func newLogTimeline(l *history.Log) *timeline {
	t := new(timeline)
	// A Log is long: allocate all lists in their full sizes.
	t.ops, t.holds, t.waits = make([]op, 0, l.Invokes), make([]hold, 0, l.Grants), make([]wait, 0, l.Grants)
	t.take(&l.Header, journal{log: l})
	return t
}

// read makes t the timeline of h. It resets all other fields: see take's first
// statement.
func (t *timeline) read(h *history.History) {
	n := len(h.Entries)
	// A critical section takes seven or more lines; two of them are an acquire's.
	t.ops, t.holds, t.waits = room(t.ops, n/3+1), room(t.holds, n/8+1), room(t.waits, n/8+1)
	t.deadlines = room(t.deadlines, n/8+1)
	t.take(&h.Header, journal{list: h.Entries})
}

// take does the work of read for entries from any source.
func (t *timeline) take(head *history.Header, entries journal) {
	n := entries.len()
	*t = timeline{
		head:      head,
		entries:   entries,
		length:    int32(n),
		lease:     head.Lease(),
		opAt:      room(t.opAt, n)[:n],
		ops:       t.ops[:0],
		holds:     t.holds[:0],
		waits:     t.waits[:0],
		deadlines: t.deadlines[:0],
		acts:      t.acts[:0],
		accesses:  t.accesses[:0],
		confirmed: t.confirmed[:0],
		faults:    t.faults[:0],
		deaths:    t.deaths[:0],
		stalls:    t.stalls[:0],
		places:    t.places[:0],

		promotions: t.promotions[:0],

		procs:    room(t.procs, 16),
		clients:  room(t.clients, 8),
		names:    t.names.empty(),
		locks:    t.locks.empty(),
		procOf:   t.procOf.empty(n + 64),
		holdOf:   t.holdOf.empty(n + 64),
		faultOf:  t.faultOf.empty(n + 64),
		scratch:  scratch{room: t.scratch.room},
		bases:    t.bases[:0],
		stays:    t.stays[:0],
		verdicts: t.verdicts[:0],
	}
	if n > 0 {
		t.end = entries.time(n - 1)
	}
	if t.grace = t.lease / 2; t.lease == 0 {
		t.grace = time.Duration(head.HandoverMS) * time.Millisecond
	}
	for i := range t.opAt {
		t.opAt[i] = none
	}
	for i, e := range t.entries.each {
		switch {
		case e.Process.Client():
			t.client(int32(i), e)
		case e.Process.Name == history.Nemesis:
			t.nemesis(int32(i), e)
		case e.Process.Name == history.Resource:
			t.access(int32(i), e)
		default:
			t.act(int32(i), e)
		}
	}
	t.settleStalls()
	t.settleWaits()
}

// client processes a line of a client's process.
func (t *timeline) client(pos int32, e *history.Entry) {
	p := t.process(e)
	switch e.Type {
	case history.Invoke:
		t.invoke(pos, e, p)
	case history.Event:
		t.report(pos, e, p)
	default:
		t.complete(pos, e, p)
	}
	if e.Type != history.Invoke && e.Type != history.Info {
		t.clients[t.procs[p].client].last = pos
	}
}

func (t *timeline) process(e *history.Entry) int32 {
	if p := t.procOf.get(e.Process.N); p != none {
		return p
	}
	name := e.Client
	if name == "" {
		name = e.Process.String()
	}
	c := t.clientNamed(name)
	p := t.clients[c].retired
	if p != none {
		t.clients[c].retired = none
		t.procOf.put(e.Process.N, p)
		return p
	}
	p = int32(len(t.procs))
	t.procs = append(t.procs, proc{client: c, open: none, place: none, inner: none, holder: none})
	t.procOf.put(e.Process.N, p)
	return p
}

func (t *timeline) invoke(pos int32, e *history.Entry, p int32) {
	v := verbOf(e.F)
	if v == 0 {
		return
	}
	o := op{invoke: pos, done: none, proc: p, hold: none, guest: none, verb: v, shared: e.Shared}
	c := &t.clients[t.procs[p].client]
	c.dead = c.dead && pos < c.gone
	if v == acquire {
		o.lock = t.locks.id(e.Lock)
		if !c.dead {
			t.ask(t.procs[p].client, o.lock, pos)
		}
	} else {
		o.hold = t.held(e, p)
		if o.hold != none {
			o.lock = t.holds[o.hold].lock
		} else {
			o.lock = t.locks.id(e.Lock)
		}
		if v == release && o.hold != none {
			t.released(o.hold, pos)
		} else if v == release {
			t.over(e)
		}
	}
	t.procs[p].open = int32(len(t.ops))
	t.opAt[pos] = int32(len(t.ops))
	t.ops = append(t.ops, o)
}

func (t *timeline) complete(pos int32, e *history.Entry, p int32) {
	id := t.procs[p].open
	if id == none {
		return
	}
	t.procs[p].open = none
	t.opAt[pos] = id
	o := &t.ops[id]
	o.done, o.outcome = pos, e.Type
	who := t.procs[p].client
	if e.Type == history.Info {
		t.clients[who].retired = p
	}
	switch {
	case o.verb == acquire:
		t.leave(p, pos)
		t.answered(who, o.lock, pos, e.Type == history.OK)
		if e.Type == history.OK {
			t.grants++
			t.begin(id, pos, e)
		} else if e.Grant != 0 && e.Type == history.Info {
			if t.unsure == nil {
				t.unsure = map[int]int32{}
			}
			t.unsure[e.Grant] = id
		}
	case o.verb == release && e.Type == history.OK && o.hold != none:
		t.gaveBack(o.hold, pos)
	case o.verb == extend && e.Type == history.OK:
		t.extended++
		if e.Grant != 0 { // it may be confirmed since the invoke, or now, or named now
			o.hold = t.holdOf.get(e.Grant)
		}
		if o.hold == none {
			o.hold = t.presuppose(pos, e)
		}
		t.deadline(o.hold, pos, e.ValidUntil)
	case o.verb == extend && e.Type == history.Fail && (e.Error == history.ErrLost || e.Error == history.ErrNotHeld):
		t.over(e)
		t.lose(t.lostBy(o.hold, o.proc, o.lock), pos)
	}
	if e.Error == history.ErrCrashed {
		t.exit(pos, t.names.list[who:who+1]) // unless a fault killed it
	}
}

// report processes a line of a client between its operations.
func (t *timeline) report(pos int32, e *history.Entry, p int32) {
	switch e.F {
	case history.Queued:
		t.queue(pos, e, p)
	case history.Lost:
		t.losses++
		t.over(e)
		t.lose(t.lostBy(t.held(e, p), p, t.locks.find(e.Lock)), pos)
	case history.Valid:
		t.renewals++
		id := t.held(e, p)
		if id == none {
			id = t.presuppose(pos, e)
		}
		t.deadline(id, pos, e.ValidUntil)
	}
}
