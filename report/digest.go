package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// none stands for a position that is absent.
const none = -1

// digest is what a history says of one lock, with its references resolved:
// operations with their completions, holds, what was in the stores, who
// touched the resource, and the faults. Positions are those of History.Entries.
//
// The whole history is read first, because a line may mean a lock that it does
// not name; then what is of other locks is left out.
type digest struct {
	h     *history.History
	locks []string // that clients asked for, in order
	lock  string   // that the digest is about
	units units

	index      map[int64]int // position by index
	ops        map[int]*op   // by the positions of invoke and completion
	all        []*op         // in the order of their invokes
	grants     []*grant      // in the order in which clients learned of them
	byID       map[int]*grant
	stays      []*stay
	queue      bool // an entry is a place in a queue: several are there at once
	promotions []promotion
	visits     []*visit
	told       bool // visits are what clients say: their order is not known
	faults     []*fault

	open     map[history.Process]*op      // the running operation
	inner    map[history.Process][]*grant // the open ones, the innermost last
	unsure   map[int]*op                  // by grant: acquires that named it and were not sure
	clients  map[string]*life
	heirs    map[history.Process]history.Process // the process that each goes on for, after an info; or itself
	retired  map[string]history.Process          // by client: its process that ended with info last, until another goes on
	latest   map[place]*stay
	halts    map[string][]*fault  // by whom they stop: pauses and what takes servers down; some have ended
	faultsOf map[faultID][]*fault // in the order of their lines
	servers  map[string]bool      // that have entries, or took part in a promotion
}

// op is an operation of a client.
type op struct {
	client       string
	process      history.Process
	f            string
	lock         string
	invoke, done int // positions; none: no completion
	gone         int // where its client died meanwhile; none
	outcome      history.Type
	err          string
	grant        *grant  // that it got, or acts on; nil: unknown
	stays        []*stay // of the entries that an acquire made
	effect       int     // the last thing that a server or the resource did for it; none
}

// asks tells whether o wants the lock.
func (o *op) asks() bool { return o.f == history.Acquire || o.f == history.Try }

// over is where o came to its end: completed, or with its client; none.
func (o *op) over() int {
	if before(o.gone, o.done) {
		return o.gone
	}
	return o.done
}

// answered tells whether o's client had an answer by then: what is uncertain is
// none, and may still be under way.
func (o *op) answered(pos int) bool {
	return o.outcome != history.Info && !before(pos, o.done)
}

// travels tells whether o, which has begun, is known to have been under way then: it had an
// effect later, or was not over.
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

// newDigest reads h; of says which lock the digest is about.
func newDigest(h *history.History) *digest {
	d := &digest{
		h: h, locks: locks(h), units: newUnits(h.Header.Lease()),
		index: map[int64]int{}, ops: map[int]*op{}, byID: map[int]*grant{},
		open: map[history.Process]*op{}, inner: map[history.Process][]*grant{},
		unsure: map[int]*op{}, clients: map[string]*life{}, latest: map[place]*stay{},
		heirs: map[history.Process]history.Process{}, retired: map[string]history.Process{},
		halts: map[string][]*fault{}, faultsOf: map[faultID][]*fault{},
	}
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
	d.join()
	return d
}

// of leaves out what is of other locks.
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
	l, who := d.life(client(e)), d.process(e)
	switch e.Type {
	case history.Invoke:
		l.dead = false
		d.invoked(pos, e)
	case history.Event:
		d.reported(pos, e)
	default:
		if o := d.open[who]; o != nil {
			delete(d.open, o.process)
			if e.Type == history.Info {
				d.retired[o.client] = o.process
			}
			d.ops[pos] = o
			o.done, o.outcome, o.err = pos, e.Type, e.Error
			if o.gone != none { // its client has ended since, and may have begun anew
				l.ops = append(l.ops, o)
			}
			d.completed(o, e)
		}
	}
	if e.Type != history.Invoke && e.Type != history.Info {
		l.last = pos
	}
}

// process is the one of e, or the one that it goes on for.
func (d *digest) process(e *history.Entry) history.Process {
	p, known := d.heirs[e.Process]
	if !known {
		who := client(e)
		var goesOn bool
		if p, goesOn = d.retired[who]; goesOn {
			delete(d.retired, who)
		} else {
			p = e.Process
		}
		d.heirs[e.Process] = p
	}
	return p
}

func (d *digest) invoked(pos int, e *history.Entry) {
	o := &op{client: client(e), process: d.process(e), f: e.F, lock: d.named(e.Lock), invoke: pos, done: none, gone: none, effect: none}
	if !o.asks() {
		o.grant = d.grantOf(e)
	}
	if o.grant != nil {
		o.lock = o.grant.op.lock
	}
	if o.f == history.Release && o.grant != nil {
		if o.grant.release == nil {
			o.grant.release = o
		}
		o.grant.finish(pos)
	} else if o.f == history.Release {
		delete(d.unsure, e.Grant)
	}
	d.open[o.process], d.ops[pos] = o, o
	d.all = append(d.all, o)
	l := d.life(o.client)
	l.ops = append(l.ops, o)
}

func (d *digest) reported(pos int, e *history.Entry) {
	g := d.grantOf(e)
	switch e.F {
	case history.Lost:
		delete(d.unsure, e.Grant)
		d.lose(g, pos)
	case history.Valid:
		if g == nil {
			g = d.confirm(pos, e)
		}
		d.renewed(g, pos, e)
	}
}

func (d *digest) completed(o *op, e *history.Entry) {
	switch {
	case o.asks() && e.Type == history.OK:
		g := d.begin(o, o.done, e.Grant)
		g.token = e.Token
		g.extend(o.done, e.ValidUntil)
	case o.asks() && e.Type == history.Info && e.Grant != 0:
		d.unsure[e.Grant] = o
	case o.f == history.Extend && e.Type == history.OK:
		if o.grant == nil {
			o.grant = d.confirm(o.done, e)
		}
		o.grant.extend(o.done, e.ValidUntil)
	case o.f == history.Extend && e.Type == history.Fail && (e.Error == history.ErrLost || e.Error == history.ErrNotHeld):
		delete(d.unsure, e.Grant)
		d.lose(o.grant, o.done)
	}
	if e.Error == history.ErrCrashed {
		d.exit(o.done, []string{o.client})
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

// lockAt is the lock that a line of a client, a server or the resource is about.
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

// named is the lock of that name. Where the history knows but one lock, what
// names none is of that one.
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

// visitsOfClients stand in where the resource was not observed: what clients
// say that they read and wrote.
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

// value is what the client of o says that it read or wrote.
func (d *digest) value(o *op) history.Opt {
	if o.done != none && d.h.Entries[o.done].Value.Set {
		return d.h.Entries[o.done].Value
	}
	return d.h.Entries[o.invoke].Value
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
		if e.Process.Client() && e.Type == history.Invoke && (e.F == history.Acquire || e.F == history.Try) && !slices.Contains(names, e.Lock) {
			names = append(names, e.Lock)
		}
	}
	return names
}
