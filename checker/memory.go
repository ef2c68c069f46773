package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// finders find the operations and holds under way at some time. Each is made when it
// is first needed.
type finders struct {
	holdsOn, heldOf, waitsOn, strikes *overlaps
	struck                            []strike

	exist          [numKinds][2]furthest
	opsOf, holdsOf order // by client: operations, holds
}

// spanKind is a kind of span that a fault can meet.
type spanKind uint8

const (
	holdSpan    spanKind = iota
	heldSpan             // a hold that did not end before it began
	opSpan               // an operation
	acquireSpan          // an acquire
	numKinds
)

// strike is a fault on a client that may keep its holds.
type strike struct{ client, sure, end int32 }

// basis is the value that a grant knows: the one that it last read, or wrote itself.
type basis struct {
	value history.Opt
	pos   int32
	wrote bool
}

// stay is the time that one entry was in one store.
type stay struct {
	from, to int32 // positions
	at       int32 // position of the line that shows its server: from, or that server's promotion
	before   int32 // another entry of the same acquire, or none
	how      deed  // the deed that ended it; 0: it is there at the end
}

// excuse selects the faults that excuse.
type excuse uint8

const (
	byAny   excuse = iota // faults that stop, end, cut off or slow down a client or server
	byStall               // stalls of the machine
)

// excusedTime is a time in which some fault excuses.
type excusedTime struct {
	from, to time.Duration
	sum      time.Duration // its length plus the lengths of those before it
}
