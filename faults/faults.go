// Package faults is what can go wrong: each fault with its name, what it acts
// on, whether it applies, how it starts and how it heals. One fault, one file.
//
// A fault acts on a Place, which is a simulated world or one of containers and
// processes. An Injection is one use of a fault; a schedule is a list of them.
package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Place is what faults act on. Calls return when the effect is there: a
// paused client executes nothing more, a stopped server answers nothing more.
type Place interface {
	// Pause stops everything that a client or a server does; what arrives for
	// it waits.
	Pause(host string) error
	Resume(host string) error
	// Hang stops the one task of client that its caller waits for; what it does
	// in the background goes on.
	Hang(client string) error
	Unhang(client string) error
	// Kill ends client; its connections are reset.
	Kill(client string) error
	// PowerOff ends client without a word to the servers: its connections stay half open.
	PowerOff(client string) error

	// Stop ends the server's process. With lose it comes back with what it
	// had synced to its disk, which may be nothing; else with everything.
	Stop(server string, lose bool) error
	Start(server string) error
	// Evict fills the server's memory until Relieve: it removes what it may.
	Evict(server string) error
	Relieve(server string) error

	// ExpireSession closes the sessions that client has with an ensemble or a MySQL
	// server, which may be none, as somebody else may who knows their numbers. A
	// store without sessions makes it an error.
	ExpireSession(client string) error

	// Jump moves the wall clock of a client or a server, forward or back.
	Jump(host string, by time.Duration) error
	// Rate lets all clocks of a client or a server gain so much more in each T of
	// true time, or less. What is under way lasts as long as it would have.
	Rate(host string, gain time.Duration) error

	// Impair disturbs a link until Restore, which returns how many messages were touched.
	Impair(id int, im Impairment) error
	// Isolate cuts servers off from all other servers until Restore; clients
	// reach them.
	Isolate(id int, servers []string) error
	Restore(id int) (hits int, err error)
}

// Target is what a fault acts on, and so what Injection.On names.
type Target uint8

// The targets.
const (
	OnClient  Target = iota // a client
	OnServer                // a server
	OnLink                  // a client and a server
	OnServers               // one server or more
)

func (t Target) String() string {
	return [...]string{"a client", "a server", "a client and a server", "servers"}[t]
}

// Direction of what travels on a link.
type Direction uint8

// The directions.
const (
	Both Direction = iota
	ToServer
	ToClient
)

var directions = [...]string{"both", "to-server", "to-client"}

func (d Direction) String() string { return directions[d] }

// MarshalText writes a direction as String does.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Direction) UnmarshalText(b []byte) error {
	i := slices.Index(directions[:], string(b))
	if i < 0 {
		return fmt.Errorf("no direction %q; there are %s", b, strings.Join(directions[:], ", "))
	}
	*d = Direction(i)
	return nil
}

// Action is what an Impairment does with a message.
type Action uint8

// The actions.
const (
	Hold    Action = iota // keep it until Restore; connections stay open
	Slow                  // deliver it later, by Delay
	Swallow               // the first one only: it is lost, and nothing more comes on that connection
	Reset                 // the first one only: it is lost, and the connection is reset
)

// Impairment is a disturbance of the link between a client and a server. The
// guarded resource counts as a server, by its name history.Resource.
type Impairment struct {
	Client, Server string
	Direction      Direction
	Action         Action
	Delay          time.Duration // of Slow
}

// Injection is one fault at one time.
type Injection struct {
	Fault     string        `json:"fault"`               // name of the fault
	On        []string      `json:"on"`                  // clients or servers that it strikes
	Point     *Point        `json:"point,omitempty"`     // where it starts
	At        time.Duration `json:"at_ns,omitempty"`     // where there is no point: when it starts, since the start of the run
	For       time.Duration `json:"for_ns,omitempty"`    // how long it lasts; not there: it stays, or is over at once
	Amount    time.Duration `json:"amount_ns,omitempty"` // size of a jump, a skew or a delay; of a rate: what a clock gains in T
	Direction Direction     `json:"direction,omitzero"`  // of a link: to-server or to-client; not there: both
}

// Point is a place in one operation of one client. Exactly one of Request,
// Last and OK says where.
type Point struct {
	Client      string `json:"client"`            // the client whose operation it is
	Acquisition int    `json:"acquisition"`       // which of the client's critical sections, from 1
	Op          string `json:"op"`                // name of the operation: acquire, release, write, …
	After       bool   `json:"after,omitempty"`   // after the answer came and before the lock sees it; else before the request is sent
	Request     int    `json:"request,omitempty"` // which request of the operation, from 1; one of request, last and ok is there
	Last        bool   `json:"last,omitempty"`    // the last request that the operation has when nobody disturbs it
	OK          bool   `json:"ok,omitempty"`      // after the operation has succeeded
	// Exact: at that request alone, also where the operation has fewer when nobody
	// disturbs it. Else a request that it lacks is its last.
	Exact bool `json:"exact,omitempty"`

	// Of a point that a client has reached: the command of the request ("DEL"), and
	// that of the request before it, where its answer has come ("GET"); "": unknown.
	Sends string `json:"-"`
	Sent  string `json:"-"`
}

// String writes a point as histories do: "c1 release: before request 2, DEL after
// GET". Only a point that nobody has reached is "last": a client that has reached
// one knows the number of its request, and not whether another one follows.
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
	case p.Request == 0:
		return p.Client + " " + p.Op + ": " + when + " last"
	default:
		return p.Client + " " + p.Op + ": " + when + " request " + strconv.Itoa(p.Request) + comma + p.Sends + after + p.Sent
	}
}
