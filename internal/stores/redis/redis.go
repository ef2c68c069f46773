// Package redis is the port to a Redis server: one method for each command and
// each script of a lock. Each is one atomic step of the server.
//
// A Transport implements it: the real client library (package client), or the
// simulator's network with a model of the server (package model). The suite in
// package porttest tests both for the same behaviour.
package redis

import (
	"context"
	"errors"
	"time"
)

// Transport sends one command to the server and returns its reply.
//
// Do waits for at most timeout (0: the transport's default). After a definite
// error (locks.IsDefinite) the command was never sent. After any other error it
// may have been executed, or may be executed later. An error reply of the server
// is a Reply, not an error.
//
// With an ended ctx the command is not sent. A lock's transport waits for the
// answer to a sent command even after the end of ctx: without the answer, a
// certain refusal would become an uncertain result.
type Transport interface {
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
}

// Verb names a command or a script.
type Verb uint8

// The verbs of the port. The last five are scripts; Script returns their text.
const (
	Get     Verb = iota + 1 // GET Key
	Set                     // SET Key Value [NX] [PX TTL]
	SetNX                   // SETNX Key Value
	GetSet                  // GETSET Key Value
	PExpire                 // PEXPIRE Key TTL
	PTTL                    // PTTL Key
	Del                     // DEL Key
	Incr                    // INCR Key
	RPush                   // RPUSH Key Value: for tests that give key the wrong type
	Wait                    // WAIT N TTL

	CompareAndDelete // if GET Key = Value: DEL Key
	Grant            // SET Key Value NX [PX TTL], and INCR Counter if it was set
	Claim            // like Grant, but a Key that already has Value counts as set, and its TTL starts again
	Extend           // if GET Key = Value: PEXPIRE Key TTL
	Replace          // SET Key Value NX [PX TTL], after DEL Key if GET Key = Old
)

// These are steps of commands that only foreign client libraries send, to the model
// behind package wire. The port has no methods for them.
const (
	Type     = Replace + 1 + iota // TYPE Key
	Time                          // the server's wall clock in microseconds
	Persist                       // PERSIST Key
	IncrBy                        // INCRBY Key N
	HGet                          // HGET Key Field
	HSet                          // HSET Key Field Value
	HDel                          // HDEL Key Field
	HIncrBy                       // HINCRBY Key Field N
	HGetAll                       // HGETALL Key: Fields reads the answer
	Load                          // the elements of Key, which must be a Collection or missing: Fields reads the answer
	Store                         // Key gets those elements; none: it is removed
	MayWrite                      // nothing, but refused where a command that writes Key is
	MayGrow                       // nothing, but refused where a command that needs memory for Key is
)

// verbs are the names of commands. Scripts have none.
var verbs = [...]string{
	Get: "GET", Set: "SET", SetNX: "SETNX", GetSet: "GETSET", PExpire: "PEXPIRE", PTTL: "PTTL",
	Del: "DEL", Incr: "INCR", RPush: "RPUSH", Wait: "WAIT",
	Type: "TYPE", Time: "TIME", Persist: "PERSIST", IncrBy: "INCRBY",
	HGet: "HGET", HSet: "HSET", HDel: "HDEL", HIncrBy: "HINCRBY", HGetAll: "HGETALL",
}

// String returns the name of the command, or "script".
func (v Verb) String() string {
	if int(v) < len(verbs) && verbs[v] != "" {
		return verbs[v]
	}
	return "script"
}

// Command is one atomic step of the server.
type Command struct {
	Verb    Verb
	Key     string
	Value   string
	Old     string        // of Replace: the value that may be replaced
	Counter string        // of Grant and Claim: the key of the token counter; "": no token
	Field   string        // of a hash
	TTL     time.Duration // whole milliseconds; 0: none; of Wait: its limit, 0: for ever
	N       int64         // of Wait: number of replicas; of IncrBy and HIncrBy: the increment
	NX      bool          // of Set
	KeepTTL bool          // of Set: an existing Key keeps its expiry
	Of      Collection    // of Load and Store
	Instant bool          // TTL leads to an instant that the client named, by its own clock
}

// Collection is a type of a key with several elements. Its elements are pairs, as Fields
// reads them: in a list and a set, the second text is empty; in a sorted set it is the
// score. The order is the server's.
type Collection uint8

// The types.
const (
	List Collection = iota + 1
	UnorderedSet
	SortedSet
)

// AtOnce is a TTL of 0 ms, unlike 0, which means none. Redis refuses it in SET.
const AtOnce time.Duration = -1

// Kind is the kind of a Reply.
type Kind uint8

// These are RESP's kinds of replies.
const (
	Nil    Kind = iota // no value
	Status             // Str: "OK"
	Int                // Int
	Bulk               // Str
	Error              // Str: the whole message, such as "WRONGTYPE Operation against…"
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

// ErrProtocol: the reply is impossible for the command.
var ErrProtocol = errors.New("redis: unexpected kind of reply")

// Port is one client's access to one server. Each method is one command; see
// Transport.Do for timeout and errors. A server's error is returned as a definite
// ServerError.
type Port struct{ Transport }
