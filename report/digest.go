package report

import (
	"cmp"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// digest is the content of a history about one lock, with its references resolved:
// operations with their completions, holds, the entries in the stores, accesses to
// the resource, and the faults. Positions are those of History.Entries.
//
// The whole history is read first, because a line may mean a lock that it does not
// name. Then the parts about other locks are left out.
type digest struct {
	h     *history.History
	locks []string // the first two that clients ask for
	lock  string   // the subject of the digest
	units units

	index      map[int64]int // position by index
	ops        byLine[op]    // by the positions of invoke and completion
	all        []*op         // in the order of their invokes
	grants     []*grant      // in the order in which clients learned of them
	byID       map[int]*grant
	stays      []*stay
	queue      bool // an entry is a place in a queue: there may be several at once
	promotions []promotion
	visits     []*visit
	told       bool // visits come from the clients' lines: their order is unknown
	faults     []*fault

	begins  byLine[grant]
	knows   byLine[grant]   // the grant whose validity the line gives
	struck  map[int]*fault  // by the lines of faults and deaths
	clients map[string]bool // by name: clients that acted, or died
	latest  map[place]*stay
	downs   map[string][]*fault // by server: the faults so far that took it down
	servers map[string]bool     // servers that have entries, or took part in a promotion
}

// byLine has at most one value for each line of a history.
type byLine[T any] []*T

// at returns the value of a position, or nil.
func (b byLine[T]) at(pos int) *T {
	if pos < 0 {
		return nil
	}
	return b[pos]
}

func (d *digest) opAt(index history.Opt) *op {
	if pos, ok := d.index[index.V]; ok && index.Set {
		return d.ops.at(pos)
	}
	return nil
}

// lockAt returns the lock that a line of a client, a server or the resource is about.
func (d *digest) lockAt(pos int) string {
	e := &d.h.Entries[pos]
	if o := d.ops.at(pos); o != nil {
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

// noise returns the largest error of a time that a story gives as exact.
func (d *digest) noise() time.Duration { return d.slack() / 20 }

func (d *digest) last() int { return len(d.h.Entries) - 1 }

func client(e *history.Entry) string {
	if e.Client == "" {
		return e.Process.String()
	}
	return e.Client
}
