package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// trx is the transaction of a session: an explicit one, or that of a single
// statement.
type trx struct {
	open      bool  // explicit
	number    int64 // in the order of the first locks or writes; 0: none yet
	isolation mysql.Isolation
	reads     bool        // the snapshot exists
	snapshot  []mysql.Row // the commits at that time
	changes   []change
	held      []heldRow
}

// change is one change of a row by a statement.
type change struct {
	kind          changeKind
	record        *record
	before, after mysql.Row
	first         bool // the first change of this record in the transaction
	by            int
	means         mysql.Meaning

	makerBefore, makerAfter int // tags of the statements that got the grant, valid after the commit
}

type changeKind uint8

const (
	inserted changeKind = iota
	updated
	deleted
	unchanged // by an update with the same values
)

// heldRow is a row locked by SelectForUpdate.
type heldRow struct {
	name  string
	maker int
}

// undo returns the number of changes to roll back.
func (t *trx) undo() int {
	n := 0
	for i := range t.changes {
		if t.changes[i].kind != unchanged {
			n++
		}
	}
	return n
}

func (t *trx) clear() {
	clear(t.changes)
	clear(t.held)
	clear(t.snapshot)
	*t = trx{snapshot: t.snapshot[:0], changes: t.changes[:0], held: t.held[:0]}
}

// assignNumber gives x's transaction a number if its statement is the first to lock or
// write.
func (s *Server) assignNumber(x *session) {
	switch x.command.Verb {
	case mysql.SelectForUpdate, mysql.Insert, mysql.Update, mysql.Delete:
		if x.trx.number == 0 {
			s.lastTrx++
			x.trx.number = s.lastTrx
		}
	}
}

// noteIndexChange notes that x's transaction changes the index byResource.
func (s *Server) noteIndexChange(x *session) { s.indexed = max(s.indexed, x.trx.number) }

// assumesLocked reports whether InnoDB assumes that x has locked r in the index
// byResource because x has written the row. It assumes this even if the write did
// not change that index, so that others can still lock r there. It checks the
// writer only if a transaction as new as an open one has changed the index.
func (s *Server) assumesLocked(x *session, r *record) bool {
	return r.writer == x && slices.ContainsFunc(s.sessions, func(y *session) bool {
		return y.trx.number != 0 && y.trx.number <= s.indexed
	})
}

// hold notes that x's transaction has locked r for update.
func (s *Server) hold(x *session, r *record) {
	if !x.trx.open {
		return
	}
	for _, h := range x.trx.held {
		if h.name == r.row.Resource {
			return
		}
	}
	x.trx.held = append(x.trx.held, heldRow{r.row.Resource, x.by})
	s.effect(x, Created, r.row.Resource, x.by, x.by)
}

// write gives r a version by x's transaction.
func (s *Server) write(x *session, r *record, row mysql.Row, k changeKind) {
	if k == updated && row == r.row {
		k = unchanged
	}
	c := change{kind: k, record: r, before: r.row, after: row, by: x.by, means: x.command.Means}
	if k != unchanged && r.writer == nil {
		c.first = true
		r.writer, r.old, r.existed = x, r.row, k != inserted
	}
	r.row, r.deleted = row, k == deleted
	x.trx.changes = append(x.trx.changes, c)
}

// visible returns the row of resource that x's transaction sees.
func (s *Server) visible(x *session, resource string) (mysql.Row, bool) {
	t := &x.trx
	snapshot := t.open && t.isolation == mysql.RepeatableRead
	if snapshot && !t.reads {
		t.reads = true
		for _, r := range s.table.order[byID] {
			if row, ok := r.committed(); ok {
				t.snapshot = append(t.snapshot, *row)
			}
		}
	}
	k := key(resource)
	if snapshot {
		for i := range t.snapshot {
			if row := &t.snapshot[i]; key(row.Resource) == k && !s.isWriter(x, row.ID) {
				return *row, true
			}
		}
	}
	for _, r := range s.table.order[byResource] {
		if key(r.row.Resource) != k {
			continue
		}
		if r.writer == x {
			if !r.deleted {
				return r.row, true
			}
		} else if row, ok := r.committed(); ok && !snapshot {
			return *row, true
		}
	}
	return mysql.Row{}, false
}

// isWriter reports whether x wrote the row's latest version.
func (s *Server) isWriter(x *session, id int64) bool {
	for i := range x.trx.changes {
		if c := &x.trx.changes[i]; c.before.ID == id && c.record.writer == x {
			return true
		}
	}
	return false
}

// commit commits x's transaction. It returns false if a server that has become a
// replica has refused it and rolled it back.
func (s *Server) commit(x *session) bool {
	t := &x.trx
	if s.follower && t.undo() > 0 {
		s.rollback(x, x.by)
		s.answer(x, mysql.Reply{Code: mysql.ReadOnlyServer})
		return false
	}
	s.reportEffects(x)
	s.record(t.changes)
	for _, h := range t.held {
		s.effect(x, Removed, h.name, h.maker, x.by)
	}
	for i := range t.changes {
		c := &t.changes[i]
		c.record.writer = nil
		if c.kind == deleted {
			s.table.ghosts = append(s.table.ghosts, c.record)
		}
	}
	t.clear()
	s.release(x)
	return true
}

// reportEffects reports the effects of x's changes on the grants of rows.
func (s *Server) reportEffects(x *session) {
	for i := range x.trx.changes {
		c := &x.trx.changes[i]
		before, after := &c.before, &c.after
		switch c.kind {
		case inserted:
			before = nil
		case deleted:
			after = nil
		}
		if c.means == mysql.Undeclared && c.by != 0 {
			s.undeclared = true
		}
		k, maker := c.means.Entries(before, after, c.record.maker, c.by)
		c.makerBefore, c.makerAfter, c.record.maker = c.record.maker, maker, maker
		if k == Created {
			s.effect(x, k, c.before.Resource, maker, c.by)
		} else if k != 0 {
			s.effect(x, k, c.before.Resource, c.makerBefore, c.by)
		}
	}
}

// rollback undoes x's transaction. by is the tag of the statement that requested
// it, or 0.
func (s *Server) rollback(x *session, by int) {
	s.undo(x, 0)
	for _, h := range x.trx.held {
		k := Removed
		if by == 0 {
			k = SessionOver
		}
		s.effect(x, k, h.name, h.maker, by)
	}
	x.trx.clear()
	s.release(x)
}

// undo undoes all but the first n changes of x's transaction.
func (s *Server) undo(x *session, n int) {
	t := &x.trx
	for i := len(t.changes) - 1; i >= n; i-- {
		c := &t.changes[i]
		r := c.record
		switch c.kind {
		case inserted:
			s.drop(r)
		case updated, deleted:
			r.row, r.deleted = c.before, false
			if c.first {
				r.writer = nil
			}
		}
		*c = change{}
	}
	t.changes = t.changes[:min(n, len(t.changes))]
}

// drop removes r from both indexes.
func (s *Server) drop(r *record) {
	for _, i := range [...]index{byResource, byID} {
		if after, was := s.table.take(i, r); was {
			s.vanish(i, r, after)
		}
	}
	s.table.spare = append(s.table.spare, r)
}

// purge removes deleted records.
func (s *Server) purge() {
	for i, r := range s.table.ghosts {
		s.drop(r)
		s.table.ghosts[i] = nil
	}
	s.table.ghosts = s.table.ghosts[:0]
}
