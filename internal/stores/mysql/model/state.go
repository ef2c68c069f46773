package model

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// AppendState appends the part of s's state that determines its future answers.
// Two servers with the same options and the same state answer alike. Times are
// relative to now. Tags, the log, pending Outputs and the numbers of future
// sessions are left out.
func (s *Server) AppendState(b []byte, now Clock) []byte {
	b = appendBool(b, s.follower)
	b = binary.AppendVarint(b, s.table.nextID)
	b = binary.AppendUvarint(b, uint64(len(s.table.order[byID])))
	for _, r := range s.table.order[byID] {
		b = appendBool(appendRow(b, &r.row, now), r.deleted)
		b = appendBool(b, slices.Contains(s.table.order[byResource], r))
		if r.writer != nil {
			b = binary.AppendVarint(b, r.writer.id)
		}
		b = appendBool(b, r.writer != nil && r.existed)
		if r.writer != nil && r.existed {
			b = appendRow(b, &r.old, now)
		}
	}
	for _, x := range s.sessions {
		b = x.appendState(b, now)
		b = s.appendAge(b, x)
	}
	for i := range s.locks {
		l := &s.locks[i]
		b = binary.AppendVarint(b, l.owner.id)
		b = append(b, byte(l.index), byte(l.span))
		b = appendBool(appendBool(appendBool(b, l.exclusive), l.waiting), l.implicit)
		var id int64 // 0: end of the index
		if l.record != nil {
			id = l.record.row.ID
		}
		b = binary.AppendVarint(b, id)
	}
	b = append(b, ';')
	for i := range s.names {
		n := &s.names[i]
		b = appendString(b, n.name)
		b = binary.AppendVarint(b, n.holder.id)
		b = binary.AppendVarint(b, int64(n.times))
		b = binary.AppendUvarint(b, uint64(len(n.queue)))
		for _, x := range n.queue {
			b = binary.AppendVarint(b, x.id)
		}
	}
	return b
}

func (x *session) appendState(b []byte, now Clock) []byte {
	b = binary.AppendVarint(b, x.id)
	b = append(b, byte(x.waiting), byte(x.isolation), byte(x.trx.isolation))
	for _, is := range [...]bool{x.busy, x.gone, x.placed, x.trx.open, x.trx.reads} {
		b = appendBool(b, is)
	}
	left := x.deadline()
	if left != never {
		left -= now.Mono
	}
	b = binary.AppendVarint(b, int64(left))
	b = binary.AppendVarint(b, int64(x.waitTime))
	b = binary.AppendVarint(b, int64(x.deadlocks))
	if x.busy {
		b = x.appendStatement(b, now)
	}
	b = binary.AppendUvarint(b, uint64(len(x.trx.snapshot)))
	for i := range x.trx.snapshot {
		b = appendRow(b, &x.trx.snapshot[i], now)
	}
	b = binary.AppendUvarint(b, uint64(len(x.trx.changes)))
	for i := range x.trx.changes {
		c := &x.trx.changes[i]
		b = appendBool(appendRow(append(b, byte(c.kind)), &c.before, now), c.first)
	}
	return b
}

// appendAge appends the age rank of x's transaction. Only the order of
// transaction numbers matters.
func (s *Server) appendAge(b []byte, x *session) []byte {
	older := 0
	for _, y := range s.sessions {
		if y.trx.number != 0 && y.trx.number < x.trx.number {
			older++
		}
	}
	b = appendBool(b, x.trx.number != 0)
	b = appendBool(b, x.trx.number <= s.indexed)
	return binary.AppendUvarint(b, uint64(older))
}

// appendStatement appends the waiting statement of x.
func (x *session) appendStatement(b []byte, now Clock) []byte {
	c := &x.command
	b = append(b, byte(c.Verb), byte(c.Set), byte(c.Where))
	b = appendRow(appendRow(b, &c.Row, now), &c.Match, now)
	b = binary.AppendVarint(b, int64(c.Lease))
	b = appendString(b, c.Name)
	b = binary.AppendVarint(b, int64(time.Duration(x.ms)*time.Millisecond-now.Wall))
	b = binary.AppendVarint(b, int64(x.written))
	if x.waiting == forName {
		b = binary.AppendVarint(b, int64((now.Mono-x.since)%glance))
	}
	if x.record != nil {
		b = binary.AppendVarint(b, x.record.row.ID)
	}
	return b
}

func appendRow(b []byte, r *mysql.Row, now Clock) []byte {
	b = binary.AppendVarint(b, r.ID)
	b = appendString(b, r.Resource)
	b = binary.AppendVarint(b, r.Version)
	if r.Expires != 0 {
		b = binary.AppendVarint(b, int64(time.Duration(r.Expires)*time.Millisecond-now.Wall))
	}
	return appendText(appendText(append(b, ';'), r.Queue), r.Owner)
}

func appendText(b []byte, t mysql.Text) []byte {
	return appendString(appendBool(b, t.Valid), t.S)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
