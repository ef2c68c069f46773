package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// index is one of the table's two indexes.
type index uint8

const (
	byID index = iota
	byResource
)

// table has the rows in the order of both indexes, with their latest versions,
// committed or not.
type table struct {
	order  [2][]*record // by index
	ghosts []*record    // deleted and committed, but not purged yet
	nextID int64        // AUTO_INCREMENT
	spare  []*record
}

// record is one row.
type record struct {
	row     mysql.Row
	deleted bool
	writer  *session // the session whose open transaction has written row; nil: it is committed
	old     mysql.Row
	existed bool // old is committed; else the row did not exist before writer
	maker   int  // tag of the statement that got the grant; 0: none
}

func (t *table) reset() {
	t.spare = append(t.spare, t.order[byID]...)
	for i := range t.order {
		clear(t.order[i])
		t.order[i] = t.order[i][:0]
	}
	t.ghosts, t.nextID = t.ghosts[:0], 1
}

// key returns a resource as the index compares it: the collation pads with
// blanks.
func key(resource string) string { return strings.TrimRight(resource, " ") }

func (t *table) compare(i index, a, b *record) int {
	if i == byResource {
		if c := cmp.Compare(key(a.row.Resource), key(b.row.Resource)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.row.ID, b.row.ID)
}

// at returns the position of r in index i, or where it would be.
func (t *table) at(i index, r *record) int {
	for n, other := range t.order[i] {
		if t.compare(i, r, other) <= 0 {
			return n
		}
	}
	return len(t.order[i])
}

// from returns the n'th record of index i. nil is the end, InnoDB's supremum.
func (t *table) from(i index, n int) *record {
	if n < len(t.order[i]) {
		return t.order[i][n]
	}
	return nil
}

// seek returns the position of the first record in index i that matches row, or
// of the next one if none does.
func (t *table) seek(i index, row *mysql.Row) int {
	for n, r := range t.order[i] {
		if i == byID && r.row.ID >= row.ID || i == byResource && key(r.row.Resource) >= key(row.Resource) {
			return n
		}
	}
	return len(t.order[i])
}

// matches reports whether r has row's key in index i.
func (r *record) matches(i index, row *mysql.Row) bool {
	if r == nil {
		return false
	}
	if i == byID {
		return r.row.ID == row.ID
	}
	return key(r.row.Resource) == key(row.Resource)
}

// place inserts r into index i.
func (t *table) place(i index, r *record) {
	t.order[i] = slices.Insert(t.order[i], t.at(i, r), r)
}

// take removes r from index i and returns the next record. It returns false if r
// was not there.
func (t *table) take(i index, r *record) (after *record, was bool) {
	n := slices.Index(t.order[i], r)
	if n < 0 {
		return nil, false
	}
	t.order[i] = slices.Delete(t.order[i], n, n+1)
	return t.from(i, n), true
}

// newRecord returns an empty record.
func (t *table) newRecord() *record {
	n := len(t.spare) - 1
	if n < 0 {
		return new(record)
	}
	r := t.spare[n]
	t.spare = t.spare[:n]
	*r = record{}
	return r
}

// committed returns the version of r that others see; false means none.
func (r *record) committed() (*mysql.Row, bool) {
	switch {
	case r.writer != nil:
		return &r.old, r.existed
	case r.deleted:
		return nil, false
	}
	return &r.row, true
}
