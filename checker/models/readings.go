package models

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// A short history is judged reading by reading if one reading does not decide. Its
// entries are kept, and read again with another choice for the operations that name
// no grant.
const mostReadings = 256

// numbered is an entry that is kept, with its line.
type numbered struct {
	entry history.Entry
	line  int
}

// choices say which grants the operations on a lock mean that may be about several.
type choices struct {
	lock int32
	next []int // the choice for each of them; the first grant for later ones
	made []int
	of   []int // the number of grants to choose from
}

// pick chooses one of several grants.
func (c *choices) pick(grants []int32) int32 {
	n := 0
	if k := len(c.made); k < len(c.next) {
		n = c.next[k]
	}
	c.made, c.of = append(c.made, n), append(c.of, len(grants))
	return grants[n]
}

// advance goes on to the next reading. It returns false after the last one.
func (c *choices) advance() bool {
	for k := len(c.made) - 1; k >= 0; k-- {
		if c.made[k]+1 < c.of[k] {
			c.next = append(c.made[:k:k], c.made[k]+1)
			c.made, c.of = nil, nil
			return true
		}
	}
	return false
}

// keep stores an entry while the history is short.
func (j *Judge) keep(e *history.Entry, line int) {
	if len(j.kept) < j.room {
		j.kept = append(j.kept, numbered{*e, line})
	} else {
		j.kept, j.room = nil, 0
	}
}

// each judges a lock in each reading of its history, until one is valid. If all are
// violated, it returns the first one.
func (j *Judge) each(lock int, b *budget) (object *object, f finding) {
	f.outcome = checker.Unknown
	if j.kept == nil {
		return nil, f
	}
	b = b.within(othersTime)
	c := choices{lock: int32(lock)}
	for range mostReadings {
		k := New(j.model, j.opts)
		k.choices, k.room = &c, 0
		for i := range j.kept {
			k.Add(&j.kept[i].entry, j.kept[i].line)
		}
		k.finish()
		o := k.objects(k.holds, false)[lock]
		g := o.judge(b)
		if g.outcome == checker.Valid {
			return o, g
		}
		if object == nil {
			object, f = o, g
		}
		if g.outcome == checker.Unknown {
			f.outcome = checker.Unknown
		}
		if !c.advance() {
			f.sentence = fmt.Sprintf("%s; %s makes no difference.", strings.TrimSuffix(f.sentence, "."), j.locks[lock].doubt)
			return object, f
		}
	}
	f.outcome = checker.Unknown
	return nil, f
}
