package mysql

import "bytes"

// EffectKind is what became of an entry: of a row that stands for somebody's
// grant, of a row that a transaction has locked, or of a named lock.
type EffectKind uint8

// The kinds.
const (
	Created     EffectKind = iota + 1 // somebody got what nobody had
	Removed                           // a statement took it away
	TakenOver                         // a statement put another grant in its place: the maker is the old one's
	Shortened                         // it expires earlier than it did
	Prolonged                         // it expires later than it did, or was granted once more
	Lost                              // a crash took it, or a copy of what another server has
	SessionOver                       // it went with its session
)

var effectNames = [...]string{"none", "created", "removed", "taken over", "shortened", "prolonged", "lost", "session over"}

func (k EffectKind) String() string {
	if int(k) < len(effectNames) {
		return effectNames[k]
	}
	return effectNames[0]
}

// Meaning is what a statement means to the grant that its row stands for. Only the
// author of a lock knows it: the same change of the same columns grants in one lock
// and hands a place on in another. So a lock declares it beside the statement.
type Meaning uint8

// The meanings.
const (
	Undeclared Meaning = iota // nobody says: what becomes of grants is unknown from then on
	Grants                    // the row stands for a grant of the operation that sends the statement
	Frees                     // the row stands for nobody's grant, or is gone
	Keeps                     // the row stands for whose grant it stood for, or is nobody's; its lease may change
)

var meanings = [...]string{"undeclared", "grants", "frees", "keeps"}

// String returns the name of the meaning.
func (m Meaning) String() string { return meanings[m] }

const commentStart, commentEnd = " /* lockcheck: ", " */"

// Comment returns an SQL comment that says m to whoever sees the statement on its
// way; "" for Undeclared.
func (m Meaning) Comment() string {
	if m == Undeclared {
		return ""
	}
	return commentStart + m.String() + commentEnd
}

// MeaningIn returns what a comment at the end of a statement says.
func MeaningIn(statement []byte) Meaning {
	for m := Grants; m <= Keeps; m++ {
		if bytes.HasSuffix(statement, []byte(m.Comment())) {
			return m
		}
	}
	return Undeclared
}

// Entries says what a change of a row means to the grant that the row stands for: the
// row before the change and after it (nil: there was none, there is none), whose the
// grant was, and whose the change is, as whatever numbers the caller gives to
// operations; 0 is nobody. It returns what became of the grant, 0 if nothing did, and
// whose the grant is now. Of an Undeclared change nothing follows.
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
