package models

import "github.com/lockcheck/lockcheck/history"

// An operation that names no grant may be about one of several. The judge chooses one
// of them, which is one reading of the history. If that reading is valid, the history
// is valid. If it is violated, the judge reads the history again, with as few holds
// as any reading has: each of those grants may have ended there, but need not have,
// and no grant is confirmed. A violation of that is a violation in every reading.
//
// A short history is judged reading by reading if that does not decide. Its entries are
// kept, and read again with another choice for the operations that name no grant.

// reading is a hold in its shortest form, whatever the operations of its client mean.
type reading struct {
	ret   int32 // of its acquire, counting only lines that are certainly about it
	end   int32 // position from which it may be over; never: no sooner than it seems
	gone  int32 // of its release, at the end
	floor int32 // until when an extend shows that it lasted, or none
}

// mayEnd reports whether an operation that is not certainly about the hold may
// have ended it.
func (r *reading) mayEnd() bool { return r.end != never }

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
