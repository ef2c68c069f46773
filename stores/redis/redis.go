// Package redis is the port to a Redis server: one method for each command
// and each script that a lock uses, and nothing that a server does not do in
// one atomic step.
//
// Behind it stands a Transport: the real client library (package client), or
// the simulator's network with a model of the server (package model). The
// suite in package porttest holds both to the same behaviour.
package redis

import (
	"context"
	"errors"
	"time"
)

// Transport carries one command to the server and its reply back.
//
// Do waits for at most timeout (0: the transport's own). An error that is
// definite (locks.IsDefinite) says that the command was never sent; after
// every other error it may have been executed, or may be later. A reply that
// is an error of the server's is a Reply, not an error.
//
// A ctx that has ended keeps the command from being sent. Locks are given a
// transport that waits for the answer to what was sent, whatever ctx does
// meanwhile: to throw an answer away would make a certain no uncertain.
type Transport interface {
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
}

// Verb names a command or a script.
type Verb uint8

// The verbs. The last five are scripts; Script returns their text.
const (
	Get     Verb = iota + 1 // GET Key
	Set                     // SET Key Value [NX] [PX TTL]
	SetNX                   // SETNX Key Value
	GetSet                  // GETSET Key Value
	PExpire                 // PEXPIRE Key TTL
	PTTL                    // PTTL Key
	Del                     // DEL Key
	Incr                    // INCR Key
	RPush                   // RPUSH Key Value: here to give a key the wrong type
	Wait                    // WAIT N TTL

	CompareAndDelete // if GET Key = Value: DEL Key
	Grant            // SET Key Value NX [PX TTL], and INCR Counter if it was set
	Claim            // as Grant; a Key that holds Value already counts as set, and TTL starts anew
	Extend           // if GET Key = Value: PEXPIRE Key TTL
	Replace          // SET Key Value NX [PX TTL]; before it DEL Key, if GET Key = Old
)

// verbs are the names of commands. What has none is a script.
var verbs = [...]string{
	Get: "GET", Set: "SET", SetNX: "SETNX", GetSet: "GETSET", PExpire: "PEXPIRE", PTTL: "PTTL",
	Del: "DEL", Incr: "INCR", RPush: "RPUSH", Wait: "WAIT",
}

// String returns the name of the command, or "script".
func (v Verb) String() string {
	if int(v) < len(verbs) {
		return verbs[v]
	}
	return "script"
}

// Command is one atomic step of the server.
type Command struct {
	Verb    Verb
	Key     string
	Value   string
	Old     string        // of Replace: the value that gives way
	Counter string        // of Grant and Claim: the key that counts grants; "": no token
	TTL     time.Duration // whole milliseconds; 0: none; of Wait: for how long, 0: for ever
	N       int64         // of Wait: for how many replicas
	NX      bool          // of Set
}

// AtOnce is a TTL of 0 ms, which is not the same as none: Redis refuses it in SET.
const AtOnce time.Duration = -1

// Kind is what a Reply holds.
type Kind uint8

// The kinds of replies, as RESP has them.
const (
	Nil    Kind = iota // no value
	Status             // Str: "OK"
	Int                // Int
	Bulk               // Str
	Error              // Str: the whole message, as "WRONGTYPE Operation against…"
)

// Reply is the server's answer.
type Reply struct {
	Kind Kind
	Int  int64
	Str  string
}

// ServerError is an error that the server answered with. The command did not
// take effect.
type ServerError string

func (e ServerError) Error() string { return "redis: " + string(e) }

// ErrProtocol is a reply that the command cannot have.
var ErrProtocol = errors.New("redis: unexpected kind of reply")

// Port is one client's access to one server. Each method is one command; see
// Transport.Do for timeout and errors. A server's error comes back as a
// definite ServerError.
type Port struct{ Transport }
