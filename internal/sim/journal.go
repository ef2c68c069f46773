package sim

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// journal is everything that a client's code has learnt from its host and ports.
// A coroutine's own state cannot be read, but it follows from the journal. A nil
// journal records nothing: only a search needs one.
type journal struct {
	notes []byte
	times []note // clock readings, which count relative to now
	marks []mark // of the running operation
}

type note struct {
	at   int // index in notes
	read time.Duration
}

// mark is the beginning of a loop.
type mark struct {
	label        string
	notes, times int
}

func (j *journal) reset() { j.notes, j.times, j.marks = j.notes[:0], j.times[:0], j.marks[:0] }

// begin notes the start of an operation.
func (j *journal) begin(kind string) {
	if j == nil {
		return
	}
	j.marks = j.marks[:0]
	j.text(kind)
}

// mark forgets everything since the loop called label began. Only the values in
// live remain.
func (j *journal) mark(label string, live []int64) {
	if j == nil {
		return
	}
	i := slices.IndexFunc(j.marks, func(m mark) bool { return m.label == label })
	if i < 0 {
		j.marks = append(j.marks, mark{label, len(j.notes), len(j.times)})
	} else {
		m := j.marks[i]
		j.notes, j.times, j.marks = j.notes[:m.notes], j.times[:m.times], j.marks[:i+1]
	}
	for _, v := range live {
		j.number(v)
	}
}

func (j *journal) number(v int64) {
	if j != nil {
		j.notes = binary.AppendVarint(j.notes, v)
	}
}

func (j *journal) text(s string) {
	if j != nil {
		j.notes = appendText(j.notes, s)
	}
}

func (j *journal) clock(now time.Duration) {
	if j != nil {
		j.times = append(j.times, note{len(j.notes), now})
	}
}

// reply notes a Redis server's answer.
func (j *journal) reply(r *redis.Reply) {
	if j != nil {
		j.notes = appendReply(j.notes, r)
	}
}

// answer notes the guarded resource's answer.
func (j *journal) answer(a *env.Answer) {
	if j != nil {
		j.notes = appendAnswer(j.notes, a)
	}
}

// failure notes the end of a wait without another result; nil means success.
func (j *journal) failure(err error) {
	if j != nil {
		j.notes = appendError(j.notes, err)
	}
}

// rows notes a MySQL server's answer. Its times count as clock readings.
func (j *journal) rows(r *mysql.Reply) {
	if j == nil {
		return
	}
	j.notes = appendRows(j.notes, r, 0)
	for _, ms := range [...]int64{r.Now, r.Row.Expires} {
		if ms != 0 {
			j.clock(time.Duration(ms)*time.Millisecond - epoch)
		}
	}
}

func (j *journal) append(b []byte, now time.Duration) []byte {
	b = binary.AppendUvarint(b, uint64(len(j.notes)))
	b = append(b, j.notes...)
	b = binary.AppendUvarint(b, uint64(len(j.times)))
	for _, n := range j.times {
		b = binary.AppendUvarint(b, uint64(n.at))
		b = binary.AppendVarint(b, int64(now-n.read))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendError(b []byte, err error) []byte {
	if err == nil {
		return append(b, 0)
	}
	return appendText(append(b, 1), err.Error())
}

func appendReply(b []byte, r *redis.Reply) []byte {
	return appendText(binary.AppendVarint(append(b, byte(r.Kind)), r.Int), r.Str)
}

// appendRows appends a MySQL server's answer. It includes times only if now is
// not 0.
func appendRows(b []byte, r *mysql.Reply, now time.Duration) []byte {
	b = append(binary.AppendUvarint(b, uint64(r.Code)), boolBits(r.Found, r.Null))
	for _, v := range [...]int64{r.ID, r.Affected, r.Int} {
		b = binary.AppendVarint(b, v)
	}
	if !r.Found && r.Now == 0 {
		return b
	}
	return appendRow(appendDate(b, r.Now, now), &r.Row, now)
}

func appendRow(b []byte, r *mysql.Row, now time.Duration) []byte {
	b = binary.AppendVarint(binary.AppendVarint(b, r.ID), r.Version)
	b = appendText(b, r.Resource)
	for _, t := range [...]mysql.Text{r.Queue, r.Owner} {
		b = appendText(appendBool(b, t.Valid), t.S)
	}
	return appendDate(b, r.Expires, now)
}

// appendDate appends the distance of a date from now, in milliseconds. It appends
// nothing for the date 0, or if now is 0.
func appendDate(b []byte, ms int64, now time.Duration) []byte {
	b = appendBool(b, ms != 0)
	if ms == 0 || now == 0 {
		return b
	}
	return binary.AppendVarint(b, int64(time.Duration(ms)*time.Millisecond-epoch-now))
}

func appendAnswer(b []byte, a *env.Answer) []byte {
	return appendBool(binary.AppendVarint(b, a.Value), a.Stale)
}

// appendWhen appends the distance of a time from now.
func appendWhen(b []byte, at, now time.Duration) []byte {
	if at == never {
		return append(b, 0)
	}
	return binary.AppendVarint(append(b, 1), int64(at-now))
}

func boolBits(list ...bool) (bits byte) {
	for i, v := range list {
		if v {
			bits |= 1 << i
		}
	}
	return bits
}
