package faults

import (
	"strconv"
	"time"
)

// Injection is one use of a fault.
type Injection struct {
	Fault     string        `json:"fault"`               // name of the fault
	On        []string      `json:"on"`                  // clients or servers that it strikes
	Point     *Point        `json:"point,omitempty"`     // where it starts
	At        time.Duration `json:"at_ns,omitempty"`     // if there is no point: when it starts, since the start of the run
	For       time.Duration `json:"for_ns,omitempty"`    // how long it lasts; absent: it stays, or is over at once
	Amount    time.Duration `json:"amount_ns,omitempty"` // size of a jump, a skew or a delay; of a rate: what a clock gains in T
	Direction Direction     `json:"direction,omitzero"`  // of a link: to-server or to-client; absent: both
	Entry     int           `json:"entry,omitempty"`     // of an operator: which entry of the server, from 0, the oldest first
}

// Point is a point in one operation of one client. Exactly one of Request, Last, OK and
// Command is set.
type Point struct {
	Client      string `json:"client"`            // the client whose operation it is
	Acquisition int    `json:"acquisition"`       // which of the client's critical sections, from 1
	Op          string `json:"op"`                // name of the operation: acquire, release, write, …
	After       bool   `json:"after,omitempty"`   // after the answer came and before the lock sees it; else before the request is sent
	Request     int    `json:"request,omitempty"` // which request of the operation, from 1; exactly one of request, last, ok and command is set
	Last        bool   `json:"last,omitempty"`    // the last request of an undisturbed operation; after: as many answers have come
	OK          bool   `json:"ok,omitempty"`      // after the operation has succeeded
	// Command: the first request with this command and its options, such as "SET NX", in that
	// critical section or a later one. Most operations do not have this request.
	Command string `json:"command,omitempty"`
	// Exact: at that request only, even if an undisturbed operation has fewer requests.
	// Otherwise a request that the operation lacks means its last one.
	Exact bool `json:"exact,omitempty"`

	// Of a point that a client has reached: the command of the request ("DEL"), and the
	// command of the request before it, if that was answered ("GET"); "": unknown.
	Sends string `json:"-"`
	Sent  string `json:"-"`
}

// String writes a point as histories do: "c1 release: before request 2, DEL after GET".
// Only a planned point is "last": a client that reaches a point knows the number of its
// request, but not whether another request follows.
func (p Point) String() string {
	when := "before"
	if p.After {
		when = "after"
	}
	comma, after := "", ""
	if p.Sends != "" {
		comma = ", "
	}
	if p.Sent != "" {
		after = " after "
	}
	switch {
	case p.OK:
		return p.Client + " " + p.Op + ": after ok"
	case p.Last && p.Request == 0:
		return p.Client + " " + p.Op + ": " + when + " last"
	case p.Request == 0:
		return p.Client + " " + p.Op + ": " + when + " " + p.Command
	default:
		return p.Client + " " + p.Op + ": " + when + " request " + strconv.Itoa(p.Request) + comma + p.Sends + after + p.Sent
	}
}

// At reports whether the point that a client has reached is p. steps is how many
// requests the operation has when undisturbed: a point at a request that it lacks means
// its last one.
func (p Point) At(reached Point, steps int) bool {
	if p.Client != reached.Client || p.Op != reached.Op || p.After != reached.After {
		return false
	}
	if p.Command != "" {
		return p.Command == reached.Command && p.Acquisition <= reached.Acquisition
	}
	switch {
	case p.Acquisition != reached.Acquisition:
		return false
	case p.OK || reached.OK:
		return p.OK && reached.OK
	case p.Last || p.Request > steps && !p.Exact:
		return reached.Last || reached.Request > steps
	default:
		return p.Request == reached.Request
	}
}
