package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// Txn is a committed transaction in the log: its changes of rows, and the grants
// of these rows. It never changes.
type Txn struct {
	changes []change
	nextID  int64 // AUTO_INCREMENT after the transaction
}

// Committed returns the number of transactions in s's log, including replicated
// ones.
func (s *Server) Committed() int64 { return int64(len(s.log)) }

// Transactions returns the transactions in the log after the first from. The
// slice is valid until s crashes, is reset or copied into.
func (s *Server) Transactions(from int64) []Txn { return s.log[from:] }

// record appends a transaction with these changes to the log, unless there are
// none.
func (s *Server) record(changes []change) {
	if !slices.ContainsFunc(changes, func(c change) bool { return c.kind != unchanged || c.makerBefore != c.makerAfter }) {
		return
	}
	from := len(s.recorded)
	s.recorded = append(s.recorded, changes...)
	t := Txn{slices.Clip(s.recorded[from:]), s.table.nextID}
	for i := range t.changes {
		t.changes[i].record = nil
	}
	s.log = append(s.log, t)
}

// Replicate applies the primary's next transaction to a replica. It has no
// Effects: the primary has reported them.
func (s *Server) Replicate(now Clock, t Txn) {
	s.now = now
	s.log = append(s.log, t)
	for i := range t.changes {
		s.table.redo(&t.changes[i])
	}
	s.table.nextID = max(s.table.nextID, t.nextID)
	s.settle()
}

// Follow makes s a replica: it refuses writes from now on, and the Commit of
// earlier ones. Call it on a server without open transactions on rows that its
// primary may write.
func (s *Server) Follow() { s.follower = true }

// Lead makes s a primary with its present data.
func (s *Server) Lead(now Clock) {
	s.now = now
	s.follower = false
}

// Crash ends the process of s and restarts it. Sessions, transactions and named
// locks end. The log keeps its first keep transactions; later ones are undone. An
// entry that exists again for that reason is Created by no statement.
// AUTO_INCREMENT continues from the rest of the log.
func (s *Server) Crash(now Clock, keep int64) {
	s.now = now
	s.endAll()
	before := s.entries()
	for i := len(s.log) - 1; i >= int(keep); i-- {
		for j := len(s.log[i].changes) - 1; j >= 0; j-- {
			s.table.unredo(&s.log[i].changes[j])
		}
	}
	if int(keep) < len(s.log) {
		s.log = s.log[:keep:keep]
	}
	s.table.nextID = 1
	if keep > 0 {
		s.table.nextID = s.log[keep-1].nextID
	}
	s.reportLost(before)
	for _, e := range s.entries() {
		if !slices.Contains(before, e) {
			s.effect(nil, Created, e.name, e.maker, 0)
		}
	}
}

// CopyFrom restarts s, a replica, with the committed data of o. The sessions of s
// end. An entry of s is Lost if o lacks it or has it from another statement. New
// entries in s have no Effects.
func (s *Server) CopyFrom(now Clock, o *Server) {
	s.now = now
	s.endAll()
	before := s.entries()
	s.table.reset()
	for _, r := range o.table.order[byID] {
		if row, ok := r.committed(); ok {
			s.table.add(*row, r.maker)
		}
	}
	s.table.nextID = o.table.nextID
	s.log = slices.Clone(o.log)
	s.reportLost(before)
}

// endAll ends all sessions at once, so that none gets another's lock.
func (s *Server) endAll() {
	for _, x := range s.sessions {
		s.stopWaiting(x)
	}
	for len(s.sessions) > 0 {
		s.end(s.sessions[0])
	}
	s.ready = s.ready[:0]
	s.purge()
}

// entry is a row and the statement that got the grant.
type entry struct {
	name  string
	maker int
}

// Entries yields the resource of each committed row with a grant, in order, and
// the tag of the statement that got the grant.
func (s *Server) Entries(yield func(name string, maker int) bool) {
	for _, r := range s.table.order[byResource] {
		if _, ok := r.committed(); ok && r.maker != 0 && !yield(r.row.Resource, r.maker) {
			return
		}
	}
}

// Entry is an entry of a lock: a row with a grant, or what a session keeps.
type Entry struct {
	Name    string
	Maker   int
	Row     mysql.Row // with a grant
	Session int64     // of a named lock, or a row that a transaction has locked; else 0
}

// Granted yields all entries that are there: rows, named locks, locked rows.
func (s *Server) Granted(yield func(Entry) bool) {
	for _, r := range s.table.order[byResource] {
		if row, ok := r.committed(); ok && r.maker != 0 && !yield(Entry{Name: row.Resource, Maker: r.maker, Row: *row}) {
			return
		}
	}
	for i := range s.names {
		if l := &s.names[i]; !yield(Entry{Name: l.name, Maker: l.maker, Session: l.holder.id}) {
			return
		}
	}
	for _, x := range s.sessions {
		for _, h := range x.trx.held {
			if !yield(Entry{Name: h.name, Maker: h.maker, Session: x.id}) {
				return
			}
		}
	}
}

func (s *Server) entries() []entry {
	var all []entry
	for name, maker := range s.Entries {
		all = append(all, entry{name, maker})
	}
	return all
}

// reportLost reports entries of before that no longer exist.
func (s *Server) reportLost(before []entry) {
	now := s.entries()
	for _, e := range before {
		if !slices.Contains(now, e) {
			s.effect(nil, Lost, e.name, e.maker, 0)
		}
	}
}

// redo applies c again.
func (t *table) redo(c *change) {
	switch c.kind {
	case inserted:
		t.add(c.after, c.makerAfter)
	case deleted:
		t.discard(c.before.ID)
	default:
		t.set(c.after, c.makerAfter)
	}
}

// unredo undoes c.
func (t *table) unredo(c *change) {
	switch c.kind {
	case inserted:
		t.discard(c.after.ID)
	case deleted:
		t.add(c.before, c.makerBefore)
	default:
		t.set(c.before, c.makerBefore)
	}
}

func (t *table) add(row mysql.Row, maker int) {
	r := t.newRecord()
	r.row, r.maker = row, maker
	t.place(byID, r)
	t.place(byResource, r)
}

func (t *table) discard(id int64) {
	if r := t.withID(id); r != nil {
		t.take(byResource, r)
		t.take(byID, r)
		t.spare = append(t.spare, r)
	}
}

func (t *table) set(row mysql.Row, maker int) {
	if r := t.withID(row.ID); r != nil {
		r.row, r.maker = row, maker
	}
}

// withID returns the row with that number, or nil.
func (t *table) withID(id int64) *record {
	for _, r := range t.order[byID] {
		if r.row.ID == id {
			return r
		}
	}
	return nil
}
