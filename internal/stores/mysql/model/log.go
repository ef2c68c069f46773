package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// Txn is a committed transaction, as the log has it: what it did to rows, and
// whose grants these stood for. It is not changed any more.
type Txn struct {
	changes []change
	nextID  int64 // AUTO_INCREMENT after it
}

// Committed is how many transactions are in s's log: its own, and those that it
// was told of.
func (s *Server) Committed() int64 { return int64(len(s.log)) }

// Transactions are those in the log after the first from. The slice is good
// until s crashes, is reset or starts anew.
func (s *Server) Transactions(from int64) []Txn { return s.log[from:] }

// record puts a transaction that did changes into the log, if there are any.
func (s *Server) record(changes []change) {
	if !slices.ContainsFunc(changes, func(c change) bool { return c.kind != unchanged || c.makerBefore != c.makerAfter }) {
		return
	}
	t := Txn{slices.Clone(changes), s.table.nextID}
	for i := range t.changes {
		t.changes[i].record = nil
	}
	s.log = append(s.log, t)
}

// Replicate has a replica take in the next transaction of its primary. It has
// no Effects: these were its primary's.
func (s *Server) Replicate(now Clock, t Txn) {
	s.now = now
	s.log = append(s.log, t)
	for i := range t.changes {
		s.table.redo(&t.changes[i])
	}
	s.table.nextID = max(s.table.nextID, t.nextID)
	s.settle()
}

// Follow makes s a replica: it refuses writes, and a Commit of those that it
// has not refused before. It is for a server that no session has a transaction
// on, as far as rows go that its primary may write, too.
func (s *Server) Follow() { s.follower = true }

// Lead makes s a primary, with what it holds.
func (s *Server) Lead(now Clock) {
	s.now = now
	s.follower = false
}

// Crash is the process of s ending, and beginning anew: sessions, transactions
// and named locks are over; of the log, so are all but the first keep
// transactions, and what they did is undone: an entry that is there again for
// that is Created by nobody. AUTO_INCREMENT goes on after what is left in the log.
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
	s.lost(before)
	for _, e := range s.entries() {
		if !slices.Contains(before, e) {
			s.effect(nil, Created, e.name, e.maker, 0)
		}
	}
}

// CopyFrom has s, a replica, start anew with what o has committed. Its own
// sessions end. An entry of s that o does not have, or that another statement
// has made there, is Lost; what s gains has no Effects.
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
	s.lost(before)
}

// endAll ends all sessions at once, so that none gets what another had.
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

// entry is a row, and the statement whose grant it stands for.
type entry struct {
	name  string
	maker int
}

// Entries yields the resource of each row that is committed and stands for a
// grant, in order, and the tag of the statement that the grant is of.
func (s *Server) Entries(yield func(name string, maker int) bool) {
	for _, r := range s.table.order[byResource] {
		if _, ok := r.committed(); ok && r.maker != 0 && !yield(r.row.Resource, r.maker) {
			return
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

// lost tells what there was before, and is not any more.
func (s *Server) lost(before []entry) {
	now := s.entries()
	for _, e := range before {
		if !slices.Contains(now, e) {
			s.effect(nil, Lost, e.name, e.maker, 0)
		}
	}
}

// redo does c again.
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

// withID is the row of that number; nil: none.
func (t *table) withID(id int64) *record {
	for _, r := range t.order[byID] {
		if r.row.ID == id {
			return r
		}
	}
	return nil
}
