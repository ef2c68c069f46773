// Package zookeeper is the port to a ZooKeeper ensemble: sessions, one method for
// each request of a lock, and a queue of events.
//
// A Transport implements it: the real client library (package client), or the
// simulator's network with a model of the ensemble (package model). The suite in
// package porttest tests both for the same behaviour.
package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Transport is one client's access to an ensemble.
type Transport interface {
	// Open opens a session and returns when a server has granted it. The ensemble
	// ends a session without a sign of life for its length. It may grant another
	// length than session, see Session.Timeout.
	//
	// Open gives up after timeout (0: the transport's default) or when ctx ends.
	// After an error the caller has no session; one that is granted later
	// expires.
	Open(ctx context.Context, timeout, session time.Duration) (Session, error)
}

// Session is one session and its present connection to one server of the
// ensemble. After a lost connection the library connects to another server by
// itself. It sends heartbeats independently of its caller; a pause of the client
// stops both. It never opens another session after the end of this one.
//
// Several tasks may use a session at once.
type Session interface {
	// ID returns the ensemble's number of the session, the owner of ephemeral
	// nodes.
	ID() int64
	// Timeout returns the granted length.
	Timeout() time.Duration
	// Do sends one request and returns the server's reply. Requests are answered
	// in order. A reply comes after every event that the server sent before it.
	//
	// Do waits for at most timeout (0: the transport's default), also while the
	// session has no connection. After a definite error (locks.IsDefinite) the
	// request has no effect and never will. After any other error it may have had
	// one, or may have it later. A refusal of the server is a Reply with a Code,
	// not an error.
	//
	// With an ended ctx the request is not sent. Once it is sent, Do waits for
	// the answer even after the end of ctx.
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
	// Next takes the next event from the queue. Events of watches and of the
	// session are in the order in which the client received them. Next waits for
	// at most timeout (0: for ever). It returns ErrNoEvent at the timeout and
	// ctx's error after the end of ctx. Expired or Closed is the last event:
	// after it Next returns ErrSessionExpired or ErrClosed.
	Next(ctx context.Context, timeout time.Duration) (Event, error)
	// Close ends the session: the ensemble removes its ephemeral nodes. After an
	// error the session may live until it expires.
	Close(ctx context.Context, timeout time.Duration) error
}

// These are the errors of a request.
var (
	// ErrConnectionLoss: the connection ended before the answer came. The
	// request may have been executed, or may be later.
	ErrConnectionLoss = errors.New("zookeeper: connection loss")
	// ErrTimeout: the caller gave up waiting. The answer may still come, and is
	// dropped.
	ErrTimeout = errors.New("zookeeper: no answer in time")
	// ErrNotConnected: no server was reached in time, and nothing was sent.
	ErrNotConnected = locks.Definite(errors.New("zookeeper: not connected"))
	// ErrSessionExpired: the ensemble has reported the end of the session; the
	// request was not executed.
	ErrSessionExpired = locks.Definite(errors.New("zookeeper: session expired"))
	// ErrClosed: the caller has closed the session; the request was not sent.
	ErrClosed = locks.Definite(errors.New("zookeeper: session closed"))
	// ErrNoEvent: no event came in time.
	ErrNoEvent = errors.New("zookeeper: no event in time")
	// ErrProtocol: the reply is impossible for the request.
	ErrProtocol = errors.New("zookeeper: unexpected reply")
)

// Verb names a request.
type Verb uint8

// The verbs.
const (
	Create      Verb = iota + 1 // a node at Path, with Data and Mode
	Delete                      // the node at Path, if its version is Version
	Exists                      // Stat of the node at Path, or NoNode
	GetData                     // Data and Stat of the node at Path
	SetData                     // give the node at Path Data, if its version is Version
	GetChildren                 // the names of the children of Path, in no order
	Sync                        // make the server catch up with the leader before the next request
)

// verbs are the names of requests.
var verbs = [...]string{
	Create: "create", Delete: "delete", Exists: "exists", GetData: "getData", SetData: "setData",
	GetChildren: "getChildren", Sync: "sync",
}

// String returns the name of the request in ZooKeeper's API.
func (v Verb) String() string { return verbs[v] }

// Mode is the kind of node that Create makes.
type Mode uint8

// These are the modes. They may be combined.
const (
	Persistent Mode = 0
	Ephemeral  Mode = 1 << 0 // ends with its session
	Sequential Mode = 1 << 1 // the parent's counter is appended to its name, in ten digits
)

// AnyVersion is a Version that matches every node.
const AnyVersion int32 = -1

// Command is one request.
type Command struct {
	Verb    Verb
	Path    string
	Data    string
	Mode    Mode  // of Create
	Version int32 // of Delete and SetData
	// Watch, of Exists, GetData and GetChildren, makes the server send one event
	// at the node's next change. For Exists and GetData that is its creation,
	// deletion or new data; GetData of a missing node sets no watch. For
	// GetChildren it is a new or deleted child, or the node's deletion. A failed
	// request sets no watch, except an Exists of a missing node.
	Watch bool
}

// Code is the server's result, with the numbers of the protocol.
type Code int32

// The codes.
const (
	OK                      Code = 0
	BadArguments            Code = -8
	NoNode                  Code = -101
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
)

// refusals are the texts of the codes.
var refusals = map[Code]string{
	OK:                      "zookeeper: ok",
	BadArguments:            "zookeeper: bad arguments",
	NoNode:                  "zookeeper: no such node",
	BadVersion:              "zookeeper: another version",
	NoChildrenForEphemerals: "zookeeper: an ephemeral node has no children",
	NodeExists:              "zookeeper: the node exists",
	NotEmpty:                "zookeeper: the node has children",
}

// Error describes a refusal: the request had no effect. Port returns it, marked
// as definite.
func (c Code) Error() string { return cmp.Or(refusals[c], "zookeeper: an unknown error") }

// Stat is the ensemble's data about a node. Czxid, Mzxid and Pzxid are the
// transactions that created it, set its data, and last changed its list of
// children.
type Stat struct {
	Czxid, Mzxid, Pzxid int64
	Version             int32 // number of changes of its data
	CVersion            int32 // number of changes of its list of children
	Owner               int64 // session of an ephemeral node; 0: none
	DataLength          int32
	NumChildren         int32
}

// Reply is the server's answer. If Code is not OK the other fields are zero.
type Reply struct {
	Code     Code
	Path     string // of Create: the node's path with its number
	Data     string // of GetData
	Stat     Stat   // of Exists, GetData, SetData and GetChildren
	Children []string
}

// EventType is the type of an Event.
type EventType uint8

// The types of events: of watches, and of the session.
const (
	NodeCreated EventType = iota + 1
	NodeDeleted
	NodeDataChanged
	NodeChildrenChanged

	Connected    // a server carries the session; also the first time
	Disconnected // no server carries it for now: the session may end unnoticed
	Expired      // the ensemble has ended the session
	Closed       // the caller has
)

// Event is news from the ensemble without a request.
type Event struct {
	Type EventType
	Path string // of a watch
}
