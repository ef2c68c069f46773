package model

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// AppendState appends to b what s's answers from now on depend on. Two servers
// with the same options and the same state answer alike. Times are relative to
// now. Tags, the log, Outputs that nobody has called for, and the numbers that
// new sessions will get are left out.
func (s *Server) AppendState(b []byte, now Clock) []byte {
	b = appendBool(b, s.follower)
	b = binary.AppendVarint(b, s.table.nextID)
	b = binary.AppendUvarint(b, uint64(len(s.table.order[byID])))
	for _, r := range s.table.order[byID] {
		b = appendRow(b, &r.row)
		b = appendBool(b, r.deleted)
		b = binary.AppendVarint(b, r.writer.number())
		b = appendBool(b, slices.Contains(s.table.order[byResource], r))
		if r.writer != nil && r.was {
			b = appendRow(b, &r.old)
		}
	}
	for _, x := range s.sessions {
		b = x.appendState(b, now)
	}
	for i := range s.locks {
		l := &s.locks[i]
		b = binary.AppendVarint(b, l.of.id)
		b = append(b, byte(l.index), byte(l.span))
		b = appendBool(appendBool(appendBool(b, l.exclusive), l.waiting), l.implicit)
		if l.record != nil {
			b = binary.AppendVarint(b, l.record.row.ID)
		}
		b = append(b, ';')
	}
	for _, n := range s.names {
		b = appendString(b, n.name)
		b = binary.AppendVarint(b, n.holder.id)
		b = binary.AppendVarint(b, int64(n.times))
		for _, x := range n.queue {
			b = binary.AppendVarint(b, x.id)
		}
		b = append(b, ';')
	}
	return b
}

func (x *session) number() int64 {
	if x == nil {
		return 0
	}
	return x.id
}

func (x *session) appendState(b []byte, now Clock) []byte {
	b = binary.AppendVarint(b, x.id)
	b = appendBool(appendBool(b, x.busy), x.gone)
	if x.waiting == forName {
		b = binary.AppendVarint(b, int64((now.Mono-x.since)%glance))
	}
	b = append(b, byte(x.waiting), byte(x.isolation), byte(x.trx.isolation), byte(x.step))
	b = binary.AppendVarint(b, int64(x.waitTime))
	left := x.deadline()
	if left != never {
		left -= now.Mono
	}
	b = binary.AppendVarint(b, int64(left))
	if x.busy {
		b = appendCommand(b, &x.command, x.ms-floor(now.Wall))
		if x.record != nil {
			b = binary.AppendVarint(b, x.record.row.ID)
		}
	}
	b = appendBool(b, x.trx.open)
	b = appendBool(b, x.trx.reads)
	b = binary.AppendUvarint(b, uint64(len(x.trx.snapshot)))
	for i := range x.trx.snapshot {
		b = appendRow(b, &x.trx.snapshot[i])
	}
	b = binary.AppendUvarint(b, uint64(len(x.trx.changes)))
	for i := range x.trx.changes {
		c := &x.trx.changes[i]
		b = append(b, byte(c.kind))
		b = appendRow(b, &c.before)
	}
	return b
}

func appendCommand(b []byte, c *mysql.Command, now int64) []byte {
	b = append(b, byte(c.Verb), byte(c.Set), byte(c.Where))
	b = appendRow(b, &c.Row)
	b = appendRow(b, &c.Match)
	if c.Lease != 0 {
		b = binary.AppendVarint(b, now+int64(c.Lease/time.Millisecond))
	}
	return appendString(b, c.Name)
}

func appendRow(b []byte, r *mysql.Row) []byte {
	b = binary.AppendVarint(b, r.ID)
	b = appendString(b, r.Resource)
	b = binary.AppendVarint(b, r.Version)
	b = binary.AppendVarint(b, r.Expires)
	return appendText(appendText(b, r.Queue), r.Owner)
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
