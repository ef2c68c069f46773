package mysql

import "bytes"

// EffectKind is a kind of change of an entry: of a row with a grant, a row locked
// by a transaction, or a named lock.
type EffectKind uint8

// The kinds.
const (
	Created     EffectKind = iota + 1 // a free entry was taken
	Removed                           // a statement removed it
	TakenOver                         // a statement replaced its grant by another: the maker is the old one's
	Shortened                         // it expires earlier than before
	Prolonged                         // it expires later than before, or was granted again
	Lost                              // a crash or a copy from another server removed it
	SessionOver                       // it ended with its session
)

var effectNames = [...]string{"none", "created", "removed", "taken over", "shortened", "prolonged", "lost", "session over"}

func (k EffectKind) String() string {
	if int(k) < len(effectNames) {
		return effectNames[k]
	}
	return effectNames[0]
}

// Meaning is the meaning of a statement for the grant of its row. Only a lock's
// author knows it: the same change of the same columns is a grant in one lock and
// passes on a place in the queue in another. So a lock declares it with the
// statement.
type Meaning uint8

// The meanings.
const (
	Undeclared Meaning = iota // the effects on grants are unknown from then on
	Grants                    // the row now has a grant of the operation that sends the statement
	Frees                     // the row has no grant now, or is gone
	Keeps                     // the row keeps its grant or has none; its lease may change
)

var meanings = [...]string{"undeclared", "grants", "frees", "keeps"}

// String returns the name of the meaning.
func (m Meaning) String() string { return meanings[m] }

const commentStart, commentEnd = " /* lockcheck: ", " */"

// Comment returns m as an SQL comment for observers of the statement, or "" for
// Undeclared.
func (m Meaning) Comment() string {
	if m == Undeclared {
		return ""
	}
	return commentStart + m.String() + commentEnd
}

// MeaningIn returns the meaning in the comment at the end of a statement.
func MeaningIn(statement []byte) Meaning {
	for m := Grants; m <= Keeps; m++ {
		if bytes.HasSuffix(statement, []byte(m.Comment())) {
			return m
		}
	}
	return Undeclared
}

// Entries returns the effect of a change of a row on the row's grant. before and
// after are the row's versions; nil means that it does not exist. maker and by
// are the caller's numbers of the operations with the grant and with the change;
// 0 means none. Entries returns the kind of effect, 0 without one, and the
// operation that now has the grant. For an Undeclared change the result means
// nothing.
func (m Meaning) Entries(before, after *Row, maker, by int) (kind EffectKind, now int) {
	switch {
	case m == Undeclared:
		return 0, maker
	case after == nil || m == Frees:
		if maker == 0 {
			return 0, 0
		}
		return Removed, 0
	case m == Grants && maker == 0:
		return Created, by
	case m == Grants && maker != by:
		return TakenOver, by
	case before == nil || maker == 0:
		return 0, maker
	case after.Expires > before.Expires:
		return Prolonged, maker
	case after.Expires < before.Expires:
		return Shortened, maker
	}
	return 0, maker
}
