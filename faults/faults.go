// Package faults holds what can go wrong: each fault with its name, its target, the
// abilities that it needs, its start and its end. One kind of fault, one file.
//
// A fault acts on a Place: a simulated environment, or one of containers and processes.
// An Injection is one use of a fault; a schedule is a list of injections.
package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Place is an environment as faults see it. A call returns when its effect has begun: a
// paused client executes nothing more, a stopped server answers nothing more.
type Place interface {
	// Pause stops everything that a client or a server does. Messages to it wait.
	Pause(host string) error
	Resume(host string) error
	// Hang stops the one task of client that its caller waits for. Its background tasks
	// go on.
	Hang(client string) error
	Unhang(client string) error
	// Kill ends client; its connections are reset.
	Kill(client string) error
	// PowerOff ends client without a word to the servers: its connections stay half open.
	PowerOff(client string) error

	// Stop ends the server's process. With lose the server comes back with the data
	// that it had synced to its disk, perhaps none; else with all data.
	Stop(server string, lose bool) error
	Start(server string) error
	// Evict fills the server's memory until Relieve. The server evicts what it can.
	Evict(server string) error
	Relieve(server string) error

	// ExpireSession closes the sessions that client has with an ensemble or a MySQL
	// server, if it has any. The request comes from elsewhere, by the session's number.
	// It returns an error if the store keeps no sessions.
	ExpireSession(client string) error

	// Jump moves the wall clock of a client or a server, forward or back.
	Jump(host string, by time.Duration) error
	// Rate makes all clocks of a client or a server gain this much, or lose it if
	// negative, in each T of true time. Timers that run already keep their true length.
	Rate(host string, gain time.Duration) error

	// Impair disturbs a link until Restore, which returns how many messages were touched.
	Impair(id int, im Impairment) error
	// Isolate cuts servers off from all other servers until Restore. Clients still
	// reach them.
	Isolate(id int, servers []string) error
	Restore(id int) (hits int, err error)
}

// Target is the kind of thing that a fault acts on, and that Injection.On names.
type Target uint8

const (
	OnClient  Target = iota // a client
	OnServer                // a server
	OnLink                  // a client and a server
	OnServers               // one server or more
)

func (t Target) String() string {
	return [...]string{"a client", "a server", "a client and a server", "servers"}[t]
}

// Direction is a direction on a link.
type Direction uint8

const (
	Both Direction = iota
	ToServer
	ToClient
)

var directions = [...]string{"both", "to-server", "to-client"}

func (d Direction) String() string { return directions[d] }

// MarshalText writes a direction as String does.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Direction) UnmarshalText(b []byte) error {
	i := slices.Index(directions[:], string(b))
	if i < 0 {
		return fmt.Errorf("no direction %q; there are %s", b, strings.Join(directions[:], ", "))
	}
	*d = Direction(i)
	return nil
}

// Action is what an Impairment does to a message.
type Action uint8

const (
	Hold    Action = iota // keep it until Restore; connections stay open
	Slow                  // deliver it later, by Delay
	Swallow               // the first one only: it is lost, and nothing more comes on that connection
	Reset                 // the first one only: it is lost, and the connection is reset
)

// Impairment is a disturbance of the link between a client and a server. The guarded
// resource is a server here, with the name history.Resource.
type Impairment struct {
	Client, Server string
	Direction      Direction
	Action         Action
	Delay          time.Duration // of Slow
}
