package report

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// Who held from when to when is told by the rules of package checker: see its
// hold.

// grant is one grant as its holder knows it.
type grant struct {
	client    string
	process   history.Process
	token     uint64
	op        *op
	got       int  // the acquire's ok, or what confirmed it
	confirmed bool // its acquire was not sure
	end       int  // what ended the hold; none: it was open to the end
	lost      bool // its client learned that it had lost the lock, which ended the hold
	fell      *fault
	release   *op
	nest      *grant // the outermost of those that its process nested; itself
	deadlines []deadline
	renewals  []int // positions of those that a renewal in the background brought
}

// deadline is how long a holder believes that it holds, from a position on.
type deadline struct {
	pos   int
	until time.Duration
}

// life is what is known of a client beside its operations.
type life struct {
	last int   // position of its last sign of life: neither an invoke, which its harness writes, nor an info
	dead bool  // it ended, and has invoked nothing since
	died int   // position from which on it did nothing
	ops  []*op // that it invoked, or completed, since it ended last
}

func (d *digest) life(client string) *life {
	if d.clients[client] == nil {
		d.clients[client] = &life{}
	}
	return d.clients[client]
}

// begin opens the hold that the line at pos brings to the acquire o.
func (d *digest) begin(o *op, pos, id int) *grant {
	g := &grant{client: o.client, process: o.process, op: o, got: pos, end: none}
	g.nest = g
	if outer := d.innermost(o.process, o.lock); outer != nil {
		g.nest = outer.nest
	}
	o.grant = g
	d.grants = append(d.grants, g)
	d.inner[o.process] = append(d.inner[o.process], g)
	if id != 0 {
		d.byID[id] = g
	}
	if l := d.life(o.client); l.dead {
		g.finish(l.died)
	}
	return g
}

// confirm opens the hold of an acquire that was not sure, and whose grant e
// names; nil: there is none.
func (d *digest) confirm(pos int, e *history.Entry) *grant {
	o := d.unsure[e.Grant]
	if o == nil {
		return nil
	}
	delete(d.unsure, e.Grant)
	g := d.begin(o, pos, e.Grant)
	g.confirmed = true
	return g
}

// innermost is the open hold of a lock that a process got last; nil: none.
func (d *digest) innermost(p history.Process, lock string) *grant {
	list := d.inner[p]
	for len(list) > 0 && list[len(list)-1].end != none {
		list = list[:len(list)-1]
	}
	d.inner[p] = list
	for i := len(list) - 1; i >= 0; i-- {
		if g := list[i]; g.end == none && g.op.lock == lock {
			return g
		}
	}
	return nil
}

// grantOf is the grant that a line names, or the one that its process has.
func (d *digest) grantOf(e *history.Entry) *grant {
	if e.Grant != 0 {
		return d.byID[e.Grant]
	}
	return d.innermost(d.process(e), e.Lock)
}

// lose ends what a client learns that it has lost: with g all that its process
// nested.
func (d *digest) lose(g *grant, pos int) {
	if g == nil || g.end != none {
		return
	}
	for in := d.innermost(g.process, g.op.lock); in != nil; in = d.innermost(g.process, g.op.lock) {
		in.finish(pos)
		in.lost = true
	}
}

func (g *grant) finish(pos int) {
	if g.end == none {
		g.end = pos
	}
}

func (g *grant) extend(pos int, until time.Duration) {
	if g != nil && until != 0 && (g.end == none || pos <= g.end) {
		g.deadlines = append(g.deadlines, deadline{pos, until})
	}
}

// until is the end of the lease as the holder knew it at a position; 0: it
// knew of none.
func (g *grant) until(pos int) time.Duration {
	var until time.Duration
	for _, l := range g.deadlines {
		if until == 0 || l.pos <= pos {
			until = l.until
		}
	}
	return until
}

// holds tells whether the holder believed at a position that it held.
func (g *grant) holds(pos int) bool { return g.got <= pos && (g.end == none || pos < g.end) }

// die ends what the clients of f held. One that dies in a pause has done
// nothing since the pause began.
func (d *digest) die(f *fault) {
	for _, name := range f.on {
		d.bury(name, f, min(f.start, d.stopped(name)))
	}
}

// stopped is the position from which on a client is paused, beyond the end where it
// is not.
func (d *digest) stopped(name string) int {
	d.halts[name] = slices.DeleteFunc(d.halts[name], func(f *fault) bool { return f.end != none })
	pos := len(d.h.Entries)
	for _, f := range d.halts[name] {
		if f.Name == pause {
			pos = min(pos, f.start)
		}
	}
	return pos
}

// exit ends what clients held that ended without a fault. Nobody knows when
// exactly: what they held is certain up to their last signs of life.
func (d *digest) exit(pos int, clients []string) {
	f := &fault{Fault: faults.InHistory(history.Exit), start: pos, end: none, heard: none}
	for _, name := range clients {
		l := d.clients[name]
		if l == nil || l.dead {
			continue
		}
		f.on = append(f.on, name)
		f.heard = max(f.heard, l.last)
		d.bury(name, f, l.last)
	}
	if len(f.on) > 0 {
		d.faults = append(d.faults, f)
	}
}

// bury ends what a client held at pos, also what seemed to end later by a
// release that its harness wrote, and what it asked for at f.
func (d *digest) bury(name string, f *fault, pos int) {
	l := d.life(name)
	certain := min(l.last, d.stopped(name)) // no death dates a hold back beyond it
	l.ops = slices.DeleteFunc(l.ops, func(o *op) bool {
		if g := o.grant; g != nil && g.op == o && (g.end == none || g.end > pos) {
			g.end, g.fell = pos, f
		}
		if o.done == none {
			o.gone = f.start
		} else if id := d.h.Entries[o.done].Grant; d.unsure[id] == o {
			delete(d.unsure, id)
		}
		return o.grant == nil || o.grant.end <= certain
	})
	l.dead, l.died = true, pos
}
