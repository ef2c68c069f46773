// Package zookeeper is the port to a ZooKeeper ensemble: sessions, one method
// for each request that a lock uses, and one queue of what the ensemble tells
// without being asked.
//
// Behind it stands a Transport: the real client library (package client), or
// the simulator's network with a model of the ensemble (package model). The
// suite in package porttest holds both to the same behaviour.
package zookeeper

import (
	"context"
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Transport is one client's way to an ensemble.
type Transport interface {
	// Open opens a session, and returns when a server has granted it. The
	// ensemble ends a session of which it has heard nothing for as long as
	// session says; it may grant another length, see Session.Timeout.
	//
	// Open gives up after timeout (0: the transport's own) or when ctx ends. An
	// error then means that the caller has no session; one that was granted
	// nevertheless expires.
	Open(ctx context.Context, timeout, session time.Duration) (Session, error)
}

// Session is one session, and the connection that carries it now: to one server
// of the ensemble, and when that is lost to another. The library finds the
// next server by itself, and sends heartbeats whatever its caller does; both
// stop with the client, as in a pause. It never opens another session in place
// of one that has ended.
//
// Several tasks may use a session at once.
type Session interface {
	// ID is what the ensemble knows the session by; it owns ephemeral nodes.
	ID() int64
	// Timeout is the length that the ensemble has granted.
	Timeout() time.Duration
	// Do carries one request to the server and its reply back. Requests are
	// answered in the order in which they were made. A reply comes after every
	// event that the server sent before it.
	//
	// Do waits for at most timeout (0: the transport's own), while the session
	// has no connection, too. An error that is definite (locks.IsDefinite) says
	// that the request had no effect, and never will; after every other error
	// it may have had one, or may have it later. A refusal of the server's is a
	// Reply with a Code, not an error.
	//
	// A ctx that has ended keeps the request from being sent. Once it is sent Do
	// waits for the answer, whatever ctx does meanwhile.
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
	// Next takes the next event from the queue. Watches and what befalls the
	// session come in the order in which the client learnt of them. It waits for
	// at most timeout (0: for ever); ErrNoEvent says that there was none, and
	// ctx's error that ctx has ended. After Expired or Closed no event follows:
	// Next says ErrSessionExpired or ErrClosed.
	Next(ctx context.Context, timeout time.Duration) (Event, error)
	// Close ends the session: the ensemble removes its ephemeral nodes. After
	// an error it may end only when it expires.
	Close(ctx context.Context, timeout time.Duration) error
}

// What can become of a request.
var (
	// ErrConnectionLoss: the connection ended before the answer came. The
	// request may have been executed, or may be later.
	ErrConnectionLoss = errors.New("zookeeper: connection loss")
	// ErrTimeout: the caller gave up waiting. The answer may still come, and is
	// thrown away.
	ErrTimeout = errors.New("zookeeper: no answer in time")
	// ErrNotConnected: no server was reached in time, and nothing was sent.
	ErrNotConnected = locks.Definite(errors.New("zookeeper: not connected"))
	// ErrSessionExpired: the ensemble has ended the session, and said so; the
	// request was not executed.
	ErrSessionExpired = locks.Definite(errors.New("zookeeper: session expired"))
	// ErrClosed: the caller has closed the session; the request was not sent.
	ErrClosed = locks.Definite(errors.New("zookeeper: session closed"))
	// ErrNoEvent: no event came in time.
	ErrNoEvent = errors.New("zookeeper: no event in time")
	// ErrProtocol is a reply that the request cannot have.
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
	Sync                        // have the server catch up with the leader before what is asked next
)

// verbs are the names of requests.
var verbs = [...]string{
	Create: "create", Delete: "delete", Exists: "exists", GetData: "getData", SetData: "setData",
	GetChildren: "getChildren", Sync: "sync",
}

// String returns the name of the request, as ZooKeeper's API has it.
func (v Verb) String() string { return verbs[v] }

// Mode is what kind of node Create makes.
type Mode uint8

// The modes; they may be combined.
const (
	Persistent Mode = 0
	Ephemeral  Mode = 1 << 0 // goes with its session
	Sequential Mode = 1 << 1 // the parent's counter is added to its name, in ten digits
)

// AnyVersion is a Version that fits every node.
const AnyVersion int32 = -1

// Command is one request.
type Command struct {
	Verb    Verb
	Path    string
	Data    string
	Mode    Mode  // of Create
	Version int32 // of Delete and SetData
	// Watch, of Exists, GetData and GetChildren, has the server tell once when
	// the node changes: Exists and GetData when it is created, deleted or given
	// data (GetData only if there is one), GetChildren when a child comes or
	// goes or the node is deleted. A request that fails leaves no watch, but
	// for an Exists that finds no node.
	Watch bool
}

// Code is how the server answered, by the numbers of the protocol.
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

// Error says what a refusal means: the request took no effect. Port returns it,
// marked definite.
func (c Code) Error() string {
	switch c {
	case OK:
		return "zookeeper: ok"
	case BadArguments:
		return "zookeeper: bad arguments"
	case NoNode:
		return "zookeeper: no such node"
	case BadVersion:
		return "zookeeper: another version"
	case NoChildrenForEphemerals:
		return "zookeeper: an ephemeral node has no children"
	case NodeExists:
		return "zookeeper: the node exists"
	case NotEmpty:
		return "zookeeper: the node has children"
	}
	return "zookeeper: an unknown error"
}

// Stat is what the ensemble knows of a node. Czxid, Mzxid and Pzxid are the
// transactions that created it, gave it its data, and last changed its list of
// children.
type Stat struct {
	Czxid, Mzxid, Pzxid int64
	Version             int32 // how often its data was set
	CVersion            int32 // how often its list of children changed
	Owner               int64 // the session of an ephemeral node; 0: none
	DataLength          int32
	NumChildren         int32
}

// Reply is the server's answer. What Code is not OK for is zero.
type Reply struct {
	Code     Code
	Path     string // of Create: the node's, with its number
	Data     string // of GetData
	Stat     Stat   // of Exists, GetData, SetData and GetChildren
	Children []string
}

// EventType says what an Event tells.
type EventType uint8

// The types of events: of watches, and of the session.
const (
	NodeCreated EventType = iota + 1
	NodeDeleted
	NodeDataChanged
	NodeChildrenChanged

	Connected    // a server carries the session; also the first time
	Disconnected // no server does for now: the session may end unseen
	Expired      // the ensemble has ended the session
	Closed       // the caller has
)

// Event is something that the client learnt without asking.
type Event struct {
	Type EventType
	Path string // of a watch
}
