package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// none is an absent position.
const none = -1

// digest is the content of a history about one lock, with its references resolved:
// operations with their completions, holds, the entries in the stores, accesses to
// the resource, and the faults. Positions are those of History.Entries.
//
// The whole history is read first, because a line may mean a lock that it does not
// name. Then the parts about other locks are left out.
type digest struct {
	h     *history.History
	locks []string // requested by clients, in order
	lock  string   // the subject of the digest
	units units

	index      map[int64]int // position by index
	ops        map[int]*op   // by the positions of invoke and completion
	all        []*op         // in the order of their invokes
	grants     []*grant      // in the order in which clients learned of them
	byID       map[int]*grant
	stays      []*stay
	queue      bool // an entry is a place in a queue: there may be several at once
	promotions []promotion
	visits     []*visit
	told       bool // visits come from the clients' lines: their order is unknown
	faults     []*fault

	begins  map[int]*grant  // by line
	knows   map[int]*grant  // by line: the grant whose validity the line gives
	struck  map[int]*fault  // by the lines of faults and deaths
	clients map[string]bool // by name: clients that acted, or died
	latest  map[place]*stay
	downs   map[string][]*fault // by server: the faults so far that took it down
	servers map[string]bool     // servers that have entries, or took part in a promotion
}

// op is an operation of a client.
type op struct {
	client       string
	f            string
	lock         string
	invoke, done int // positions; none: no completion
	gone         int // position of its client's death during the operation, or none
	outcome      history.Type
	err          string
	grant        *grant  // the grant that it got, or acts on; nil: unknown
	stays        []*stay // the entries that an acquire made
	effect       int     // position of the last act of a server or the resource for it, or none
	served       int     // position at which a server first granted it, or none
}

// asks reports whether o wants the lock.
func (o *op) asks() bool { return o.f == history.Acquire || o.f == history.Try }

// over returns where o ended: at its completion or the death of its client, or none.
func (o *op) over() int {
	if before(o.gone, o.done) {
		return o.gone
	}
	return o.done
}

// answered reports whether o's client had a definite answer by then. An uncertain
// operation has none, and may still be under way.
func (o *op) answered(pos int) bool {
	return o.outcome != history.Info && !before(pos, o.done)
}

// travels reports whether o, which has begun, is known to have been under way then:
// it had an effect later, or was not over.
func (o *op) travels(pos int) bool {
	if o.effect == none {
		return before(pos, o.done)
	}
	return pos < o.effect && !o.answered(pos)
}

// visit is an access that reached the guarded resource.
type visit struct {
	pos        int
	f          string
	lock       string
	client     string
	op         *op
	grant      *grant
	token      uint64
	value, was history.Opt
}

// newDigest reads h; of selects the lock that the digest is about.
func newDigest(h *history.History) *digest {
	d := &digest{
		h: h, units: newUnits(h.Header.Lease()),
		index: map[int64]int{}, ops: map[int]*op{}, byID: map[int]*grant{},
		begins: map[int]*grant{}, knows: map[int]*grant{}, struck: map[int]*fault{},
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
		if o.asks() && !slices.Contains(d.locks, o.lock) {
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
	if g := d.begins[pos]; g != nil && e.Grant != 0 {
		d.byID[e.Grant] = g
	}
	if g := d.knows[pos]; g != nil {
		if e.F == history.Valid {
			d.renewed(g, pos, e)
		}
		g.deadlines = append(g.deadlines, deadline{pos, e.ValidUntil})
	}
	if f := d.struck[pos]; f != nil { // its completion shows its client's death
		d.faults = append(d.faults, f)
	}
}

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

// lockAt returns the lock that a line of a client, a server or the resource is about.
func (d *digest) lockAt(pos int) string {
	e := &d.h.Entries[pos]
	if o := d.ops[pos]; o != nil {
		return o.lock
	}
	if o := d.opAt(e.Op); o != nil {
		return o.lock
	}
	if g := d.byID[e.Grant]; g != nil {
		return g.op.lock
	}
	if o := d.opAt(e.By); o != nil && e.Lock == "" {
		return o.lock
	}
	return d.named(e.Lock)
}

// named returns the lock of that name. If the history has only one lock, a line
// without a name is about that one.
func (d *digest) named(lock string) string {
	if len(d.locks) == 1 {
		return cmp.Or(lock, d.locks[0])
	}
	return lock
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

// value returns the value that the client of o reports as read or written.
func (d *digest) value(o *op) history.Opt {
	if o.done != none && d.h.Entries[o.done].Value.Set {
		return d.h.Entries[o.done].Value
	}
	return d.h.Entries[o.invoke].Value
}

// at returns the time of a position. For none it is the end of the history.
func (d *digest) at(pos int) time.Duration {
	if pos == none {
		pos = d.last()
	}
	return d.h.Entries[pos].Time
}

// slack returns the largest distance of two times that a story treats as one.
func (d *digest) slack() time.Duration {
	if lease := d.h.Header.Lease(); lease > 0 {
		return lease / 20
	}
	return 50 * time.Millisecond
}

func (d *digest) last() int { return len(d.h.Entries) - 1 }

// before reports whether position a comes before b. none comes after all others.
func before(a, b int) bool { return a != none && (b == none || a < b) }

func client(e *history.Entry) string {
	if e.Client == "" {
		return e.Process.String()
	}
	return e.Client
}
