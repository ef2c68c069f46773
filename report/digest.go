package report

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// none stands for a position that is absent.
const none = -1

// digest is what a history says of one lock, with its references resolved:
// operations with their completions, holds, what was in the stores, who
// touched the resource, and the faults. Positions are those of History.Entries.
type digest struct {
	h     *history.History
	lock  string
	units units

	index  map[int64]int // position by index
	ops    map[int]*op   // by the positions of invoke and completion
	all    []*op         // in the order of their invokes
	grants []*grant      // in the order in which clients learned of them
	byID   map[int]*grant
	stays  []*stay
	visits []*visit
	faults []*fault
	open   map[history.Process]*op
}

// op is an operation of a client.
type op struct {
	client       string
	process      history.Process
	f            string
	invoke, done int // positions; none: no completion
	outcome      history.Type
	err          string
	grant        *grant // that it got, or acts on; nil: unknown
	effect       int    // the last thing that a server or the resource did for it; none
}

// grant is one grant as its holder knows it.
type grant struct {
	client    string
	process   history.Process
	token     uint64
	op        *op
	got       int // the acquire's ok
	end       int // what ended the hold; none: it was open to the end
	release   *op
	deadlines []deadline
}

// deadline is how long a holder believes that it holds, from a position on.
type deadline struct {
	pos   int
	until time.Duration
}

// stay is the time that one entry was in a server's store.
type stay struct {
	server   string
	op       *op // the acquire that made it; nil: unknown
	from, to int // none: it was there to the end
	how      string
	by       *op // whose request ended it; nil: nobody's
}

// client is whose entry it was; "": unknown.
func (s *stay) client() string {
	if s.op == nil {
		return ""
	}
	return s.op.client
}

// owner is client as the possessor of something: "c1's".
func (s *stay) owner() string {
	if s.op == nil {
		return "somebody's"
	}
	return possessive(s.op.client)
}

// grant is what its owner learned of it; nil: nothing.
func (s *stay) grant() *grant {
	if s.op == nil {
		return nil
	}
	return s.op.grant
}

// visit is an access that reached the guarded resource.
type visit struct {
	pos        int
	f          string
	client     string
	op         *op
	grant      *grant
	token      uint64
	value, was history.Opt
}

func newDigest(h *history.History, lock string) *digest {
	d := &digest{
		h: h, lock: lock, units: newUnits(h.Header.Lease()),
		index: map[int64]int{}, ops: map[int]*op{}, byID: map[int]*grant{}, open: map[history.Process]*op{},
	}
	for pos := range h.Entries {
		e := &h.Entries[pos]
		d.index[int64(e.Index)] = pos
		switch {
		case e.Process.Name == history.Nemesis:
			d.nemesis(pos, e)
		case e.Lock != lock && e.Lock != "":
		case e.Process.Client():
			d.fromClient(pos, e)
		case e.Process.Name == history.Resource:
			d.fromResource(pos, e)
		default:
			d.fromServer(pos, e)
		}
	}
	if len(d.visits) == 0 {
		d.visitsOfClients()
	}
	return d
}

func (d *digest) fromClient(pos int, e *history.Entry) {
	switch e.Type {
	case history.Invoke:
		o := &op{client: client(e), process: e.Process, f: e.F, invoke: pos, done: none, effect: none}
		if o.f != history.Acquire && o.f != history.Try {
			o.grant = d.grantOf(e)
		}
		if o.f == history.Release && o.grant != nil {
			if o.grant.release == nil {
				o.grant.release = o
			}
			o.grant.finish(pos)
		}
		d.open[e.Process], d.ops[pos] = o, o
		d.all = append(d.all, o)
	case history.Event:
		if g := d.grantOf(e); g != nil && e.F == history.Lost {
			g.finish(pos)
		} else if g != nil && e.F == history.Valid {
			g.extend(pos, e.ValidUntil)
		}
	default:
		if o := d.open[e.Process]; o != nil {
			delete(d.open, e.Process)
			d.ops[pos] = o
			o.done, o.outcome, o.err = pos, e.Type, e.Error
			d.completed(o, e)
		}
	}
}

func (d *digest) completed(o *op, e *history.Entry) {
	switch {
	case (o.f == history.Acquire || o.f == history.Try) && e.Type == history.OK:
		g := &grant{client: o.client, process: o.process, token: e.Token, op: o, got: o.done, end: none}
		g.extend(o.done, e.ValidUntil)
		o.grant = g
		d.grants = append(d.grants, g)
		if e.Grant != 0 {
			d.byID[e.Grant] = g
		}
	case o.f == history.Extend && o.grant != nil && e.Type == history.OK:
		o.grant.extend(o.done, e.ValidUntil)
	case o.f == history.Extend && o.grant != nil && (e.Error == history.ErrLost || e.Error == history.ErrNotHeld):
		o.grant.finish(o.done)
	}
}

// grantOf is the grant that a line names, or the one that its process has.
func (d *digest) grantOf(e *history.Entry) *grant {
	if e.Grant != 0 {
		return d.byID[e.Grant]
	}
	for _, g := range slices.Backward(d.grants) {
		if g.process == e.Process && g.release == nil {
			return g
		}
	}
	return nil
}

func (g *grant) finish(pos int) {
	if g.end == none {
		g.end = pos
	}
}

func (g *grant) extend(pos int, until time.Duration) {
	if until != 0 {
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

func (d *digest) opAt(index history.Opt) *op {
	if !index.Set {
		return nil
	}
	pos, ok := d.index[index.V]
	if !ok {
		return nil
	}
	return d.ops[pos]
}

func (d *digest) fromServer(pos int, e *history.Entry) {
	by, made := d.opAt(e.By), d.opAt(e.Op)
	if by != nil {
		by.effect = pos
	}
	if made == nil && e.Grant != 0 && d.byID[e.Grant] != nil {
		made = d.byID[e.Grant].op
	}
	switch e.F {
	case history.Granted:
		if made == nil {
			made = by
		}
		d.stays = append(d.stays, &stay{server: e.Process.Name, op: made, from: pos, to: none})
	case history.Remove, history.Takeover, history.Expire, history.Lose:
		for _, s := range slices.Backward(d.stays) {
			if s.to == none && s.server == e.Process.Name && (made == nil || s.op == made) {
				s.to, s.how, s.by = pos, e.F, by
				return
			}
		}
	}
}

func (d *digest) fromResource(pos int, e *history.Entry) {
	o := d.opAt(e.By)
	v := &visit{pos: pos, f: e.F, op: o, token: e.Token, value: e.Value, was: e.Was, grant: d.byID[e.Grant]}
	if o != nil {
		o.effect = pos
		v.client = o.client
		if v.grant == nil {
			v.grant = o.grant
		}
	} else if v.grant != nil {
		v.client = v.grant.client
	}
	d.visits = append(d.visits, v)
}

// visitsOfClients stand in where the resource was not observed: what clients
// say that they read and wrote.
func (d *digest) visitsOfClients() {
	for _, o := range d.all {
		if o.outcome != history.OK || (o.f != history.Read && o.f != history.Write) {
			continue
		}
		v := &visit{pos: o.done, f: o.f, client: o.client, op: o, grant: o.grant, value: d.h.Entries[o.done].Value}
		if !v.value.Set {
			v.value = d.h.Entries[o.invoke].Value
		}
		d.visits = append(d.visits, v)
	}
	slices.SortStableFunc(d.visits, func(a, b *visit) int { return a.pos - b.pos })
	var was history.Opt
	for _, v := range d.visits {
		if v.f == history.Write {
			v.was = was
			was = v.value
		} else if !was.Set {
			was = v.value
		}
	}
}

// stayOf is the entry that the acquire of g made, the last one; nil: none was seen.
func (d *digest) stayOf(o *op) *stay {
	for _, s := range slices.Backward(d.stays) {
		if s.op == o {
			return s
		}
	}
	return nil
}

// at is the time of a position; none is the end of the history.
func (d *digest) at(pos int) time.Duration {
	if pos == none {
		pos = d.last()
	}
	return d.h.Entries[pos].Time
}

// slack is how far apart two times may be that are told as one.
func (d *digest) slack() time.Duration {
	if lease := d.h.Header.Lease(); lease > 0 {
		return lease / 20
	}
	return 50 * time.Millisecond
}

// serves tells whether name is a server.
func (d *digest) serves(name string) bool {
	return slices.ContainsFunc(d.stays, func(s *stay) bool { return s.server == name })
}

func (d *digest) last() int { return len(d.h.Entries) - 1 }

// before tells whether position a comes before b, where none is after all.
func before(a, b int) bool { return a != none && (b == none || a < b) }

func client(e *history.Entry) string {
	if e.Client == "" {
		return e.Process.String()
	}
	return e.Client
}

// locks are the names of the locks that clients asked for, in order.
func locks(h *history.History) []string {
	var names []string
	for i := range h.Entries {
		e := &h.Entries[i]
		if e.Process.Client() && e.Type == history.Invoke && !slices.Contains(names, e.Lock) {
			names = append(names, e.Lock)
		}
	}
	return names
}

// nemesis takes in a line of the nemesis.
func (d *digest) nemesis(pos int, e *history.Entry) {
	if kind, ok := strings.CutSuffix(e.F, history.EndSuffix); ok {
		for _, f := range d.faults {
			if f.id == e.ID && f.kind == kind && f.end == none {
				f.end, f.hits = pos, e.Hits
			}
		}
		return
	}
	if len(e.On) == 0 {
		return
	}
	f := &fault{
		id: e.ID, kind: e.F, on: e.On, start: pos, end: none,
		point: e.Point, amount: e.Amount, text: e.Text,
	}
	if f.words().deadly {
		d.die(f)
	}
	d.faults = append(d.faults, f)
}

// die ends the holds of a client. One that dies in a pause has done nothing
// since the pause began.
func (d *digest) die(f *fault) {
	for _, g := range d.grants {
		if g.client != f.on[0] || g.end != none {
			continue
		}
		end := f.start
		for _, p := range d.faults {
			if p.kind == pause && p.end == none && p.on[0] == g.client && p.start > g.got {
				end = min(end, p.start)
			}
		}
		g.end = end
	}
}
