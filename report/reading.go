package report

import (
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// newDigest reads h; of selects the lock that the digest is about.
func newDigest(h *history.History) *digest {
	n := len(h.Entries)
	d := &digest{
		h: h, units: newUnits(h.Header.Lease()),
		index: make(map[int64]int, n), ops: make([]*op, n), byID: map[int]*grant{},
		begins: make([]*grant, n), knows: make([]*grant, n), struck: map[int]*fault{},
		clients: map[string]bool{}, latest: map[place]*stay{}, downs: map[string][]*fault{},
	}
	t := checker.ReadTimeline(h)
	d.takeFaults(t)
	d.take(t)
	for pos := range h.Entries {
		e := &h.Entries[pos]
		d.index[int64(e.Index)] = pos
		switch {
		case e.Process.Name == history.Nemesis:
			d.nemesis(pos, e)
		case e.Process.Client():
			d.fromClient(pos, e)
		case e.Process.Name == history.Resource:
			d.fromResource(pos, e)
		default:
			d.fromServer(pos, e)
		}
	}
	d.cutShort()
	d.join()
	d.wearOut()
	d.moveAnswers()
	return d
}

// take copies the judge's reading of operations, deaths and holds.
func (d *digest) take(t *checker.Timeline) {
	for _, x := range t.Operations {
		o := &op{client: x.Client, f: d.h.Entries[x.Invoke].F, lock: x.Lock, invoke: x.Invoke, done: x.Done, gone: x.Died, effect: none, served: none}
		d.all, d.ops[o.invoke] = append(d.all, o), o
		if o.done != none {
			e := &d.h.Entries[o.done]
			d.ops[o.done], o.outcome, o.err = o, e.Type, e.Error
		}
		if o.asks() && len(d.locks) < 2 && !slices.Contains(d.locks, o.lock) {
			d.locks = append(d.locks, o.lock)
		}
	}
	for _, x := range t.Holds {
		o := d.all[x.Acquire]
		g := &grant{client: o.client, op: o, got: x.Begin, confirmed: x.Confirmed, end: x.End, lost: x.Lost, token: x.Token}
		d.grants, d.begins[g.got] = append(d.grants, g), g
		g.nest = d.grants[x.Nest]
		if x.Release != none {
			g.release = d.all[x.Release]
		}
		if x.Death != none {
			g.fell = d.struck[t.Deaths[x.Death].Line]
		}
		for _, line := range x.Deadlines {
			d.knows[line] = g
		}
	}
	for i, o := range d.all {
		if o.lock = d.named(o.lock); t.Operations[i].Hold != none {
			o.grant = d.grants[t.Operations[i].Hold]
		}
	}
}

// moveAnswers gives the answer of a lock that enters critical sections by itself to the
// release that it is about. Such a lock answers once, after the last section, and the line of
// that answer completes the release that the client asked for. If that one had removed its
// entry before the client released once more, the answer is about the later release.
func (d *digest) moveAnswers() {
	for _, g := range slices.Backward(d.grants) {
		o, first := g.release, g.entrance(d).release
		if o == nil || o.done != none || first == nil || first == o || !before(first.effect, o.invoke) || !before(o.invoke, first.done) || first.done == none {
			continue
		}
		o.done, o.outcome, o.err = first.done, first.outcome, first.err
		first.done, first.outcome, first.err = first.effect, history.OK, ""
		d.ops[o.done] = o
	}
}

// entrance returns the grant that the client had asked for, if the lock granted g by the
// same entry without being asked; else g itself.
func (g *grant) entrance(d *digest) *grant {
	if o := d.opAt(d.h.Entries[g.got].Op); o != nil && o.client == g.client && o.grant != nil {
		return o.grant
	}
	return g
}

// of leaves out other locks.
func (d *digest) of(lock string) *digest {
	d.lock = lock
	d.all = slices.DeleteFunc(d.all, func(o *op) bool { return o.lock != lock })
	d.grants = slices.DeleteFunc(d.grants, func(g *grant) bool { return g.op.lock != lock })
	d.stays = slices.DeleteFunc(d.stays, func(s *stay) bool { return s.lock != lock })
	d.visits = slices.DeleteFunc(d.visits, func(v *visit) bool { return v.lock != lock })
	if len(d.visits) == 0 {
		d.visitsOfClients()
	}
	d.queue = d.queues()
	d.servers = map[string]bool{}
	for _, s := range d.stays {
		for _, x := range s.on {
			d.servers[x.server] = true
		}
	}
	for _, p := range d.promotions {
		d.servers[p.server], d.servers[p.old] = true, true
	}
	return d
}

func (d *digest) fromClient(pos int, e *history.Entry) {
	d.clients[client(e)] = true
	if g := d.begins.at(pos); g != nil && e.Grant != 0 {
		d.byID[e.Grant] = g
	}
	if g := d.knows.at(pos); g != nil {
		if e.F == history.Valid {
			d.renewed(g, pos, e)
		}
		g.deadlines = append(g.deadlines, deadline{pos, e.ValidUntil})
	}
	if e.F == history.Started {
		d.startsAgain(pos, client(e))
	}
	if f := d.struck[pos]; f != nil { // its completion shows its client's death
		d.faults = append(d.faults, f)
	}
}

// startsAgain ends the fault that killed a client.
func (d *digest) startsAgain(pos int, name string) {
	for _, f := range slices.Backward(d.faults) {
		if f.Restarts && f.strikes(name) && f.end == none {
			f.end, f.heals = pos, pos
			return
		}
	}
}

// renewed processes a report that g is valid until another time. If the rate of its
// client's clocks changes, the same lease ends at another instant: that is not a
// renewal.
func (d *digest) renewed(g *grant, pos int, e *history.Entry) {
	was := g.until(pos)
	if e.ValidUntil > was && g.holds(pos) && !slices.ContainsFunc(d.faults, func(f *fault) bool {
		return f.Rate && f.strikes(g.client) && (d.at(f.begins) <= e.Time && e.Time <= d.at(f.start) || f.end != none && d.at(f.heals) <= e.Time && e.Time <= d.at(f.end))
	}) {
		g.renewals = append(g.renewals, pos)
	}
}

func (d *digest) fromResource(pos int, e *history.Entry) {
	v := &visit{pos: pos, f: e.F, lock: d.named(e.Lock), op: d.opAt(e.By), token: e.Token, value: e.Value, was: e.Was}
	if v.op != nil {
		v.op.effect = pos
		v.grant, v.client, v.lock = v.op.grant, v.op.client, v.op.lock
	} else if g := d.byID[e.Grant]; g != nil {
		v.grant, v.client, v.lock = g, g.client, g.op.lock
	}
	d.visits = append(d.visits, v)
}

// visitsOfClients replaces the visits where the resource was not observed, by the
// reads and writes that clients report.
func (d *digest) visitsOfClients() {
	d.told = true
	for _, o := range d.all {
		if o.outcome != history.OK || (o.f != history.Read && o.f != history.Write) {
			continue
		}
		d.visits = append(d.visits, &visit{
			pos: o.done, f: o.f, lock: o.lock, client: o.client, op: o, grant: o.grant,
			value: d.value(o), was: d.h.Entries[o.done].Was,
		})
	}
	slices.SortStableFunc(d.visits, func(a, b *visit) int { return a.pos - b.pos })
}
