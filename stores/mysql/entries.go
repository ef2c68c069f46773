package mysql

import "strings"

// EffectKind is what became of an entry: of a row that stands for somebody's
// grant, of a row that a transaction has locked, or of a named lock.
type EffectKind uint8

// The kinds.
const (
	Created   EffectKind = iota + 1 // somebody got what nobody had
	Removed                         // a statement took it away
	TakenOver                       // a statement put another grant in its place: the maker is the old one's
	Shortened                       // it expires earlier than it did
	Prolonged                       // it expires later than it did, or was granted once more
	Lost                            // it went with its session, or in a crash
)

var effectNames = [...]string{"none", "created", "removed", "taken over", "shortened", "prolonged", "lost"}

func (k EffectKind) String() string {
	if int(k) < len(effectNames) {
		return effectNames[k]
	}
	return effectNames[0]
}

// Entries says what a change of a row means to the grant that the row stands
// for, by all that is known of them: the row before the change and after it (nil:
// there was none, there is none), whose the grant was, and whose the change is,
// as whatever numbers the caller gives to operations; 0 is nobody. It returns
// what became of the grant, 0 if nothing did, and whose the grant is now.
//
// A lock that keeps an owner says everything with it. Those that were published
// keep none: the row is the grant, its queue says whose, and who finds himself
// at the head makes it his with an update by id, which leaves the version alone.
// A row without owner and queue that has never expired, because it expires at
// 0, was made beforehand and is nobody's.
func Entries(before, after *Row, maker, by int) (kind EffectKind, now int) {
	switch {
	case before == nil && after == nil:
		return 0, maker
	case before == nil:
		if !after.Owner.Valid && head(after) == "" && after.Expires == 0 {
			return 0, 0
		}
		return granted(maker, by)
	case after == nil:
		return removed(maker)
	case before.Owner.Valid || after.Owner.Valid:
		return owned(before, after, maker, by)
	case before.Version == after.Version && maker == by:
		return lease(before, after), maker
	case before.Version == after.Version:
		return granted(maker, by)
	}
	was, is := head(before), head(after)
	switch {
	case before.Expires != after.Expires && (was == "" || is == ""):
		return granted(maker, by) // what had expired, and nobody was to have it next
	case was != "" && was != is:
		return removed(maker)
	}
	return 0, maker
}

// owned is what a change means that has an owner before it, after it, or both.
func owned(before, after *Row, maker, by int) (EffectKind, int) {
	switch {
	case !after.Owner.Valid:
		return removed(maker)
	case before.Owner != after.Owner:
		return granted(maker, by)
	}
	return lease(before, after), maker
}

func granted(maker, by int) (EffectKind, int) {
	if maker == 0 {
		return Created, by
	}
	return TakenOver, by
}

func removed(maker int) (EffectKind, int) {
	if maker == 0 {
		return 0, 0
	}
	return Removed, 0
}

func lease(before, after *Row) EffectKind {
	switch {
	case after.Expires > before.Expires:
		return Prolonged
	case after.Expires < before.Expires:
		return Shortened
	}
	return 0
}

// head is the first in the queue; "": nobody.
func head(r *Row) string {
	first, _, _ := strings.Cut(r.Queue.S, ",")
	return first
}
