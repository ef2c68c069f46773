package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// finders find spans that are under way at some time. Each is made when it is first
// needed.
type finders struct {
	of      [numKinds]overlaps
	scans   [numKinds]uint8 // so far
	strikes overlaps
	struck  []strike
}

// fewScans is how many searches of a kind scan all spans: as many as cost less than a
// finder. Most histories have one fault, so more searches are rare.
const fewScans = 3

// spanKind is a kind of spans and of their groups.
type spanKind uint8

const (
	holdsOn    spanKind = iota // holds by their locks
	waitsOn                    // waits by their locks
	holdsOf                    // holds by their clients
	heldOf                     // holds by their clients, except those that ended before they began
	opsOf                      // operations by their clients
	acquiresOf                 // acquires by their clients
	anyHold                    // holds, in one group; and so on
	anyHeld
	anyOp
	numKinds
)

// strike is a fault on a client that may keep its holds.
type strike struct{ client, sure, end int32 }

// basis is the value that a grant knows: the one that it last read, or wrote itself.
type basis struct {
	value history.Opt
	pos   int32
	since int32 // position from which its grant knew it
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
