// Package wire is the model of a Redis server behind its protocol, for client
// libraries that are not ours: a request's words in, its answer in RESP out.
//
// It executes commands as steps on the model (package model, or whatever the caller
// passes as Apply), and runs Lua. It has no clock, network or randomness. Like the
// model it answers as Redis 7.0 does, word for word. Commands that it lacks end with
// an error that names them.
//
// Differences that remain: the order of a set's members, unless all are integers; texts of
// Lua's own errors; numbers above 10^14 or with more than 14 digits that Lua's .. operator
// appends to a string; the commands that Missing names; times to live of more than 292
// years.
package wire

import "github.com/lockcheck/lockcheck/internal/stores/redis"

// version is the server that the answers come from.
const version = "7.0.15"

// Apply executes one command on the model, as a part of the request that is being
// served.
type Apply func(redis.Command) redis.Reply

// Server is the front end of one server: what its connections share, such as scripts.
// The zero Server is ready.
type Server struct {
	// Follows returns the address of this server's master, and false if it is a master
	// itself. nil: it is a master.
	Follows func() (host, port string, ok bool)

	// Lua runs the server's scripts. nil: the server has one for itself.
	Lua *Lua

	sentinel *Sentinel          // whose front end it is; nil: of a data server
	current  call               // the request that is being served
	scripts  map[string]*script // the cached ones, by their SHA-1
	missing  string
	conns    int64 // connections so far

	subscribers []*Conn // in the order of their first subscription
	watchers    map[string][]*Conn
	readers     map[string][]*Conn // who caches a key: see tracking
	pushes      []Push

	serials int     // of requests that had to wait
	waiting []*Conn // that wait for an answer, the one that began first
	stored  bool    // a collection has changed
}

// Conn is the server's state of one connection. The zero Conn is a new connection.
type Conn struct {
	id     int64
	name   string
	resp3  bool
	closed bool

	multi   bool       // commands are queued
	broken  bool       // a command could not be queued
	changed bool       // a watched key has changed
	queue   [][]string // the commands after MULTI
	watched []watched

	blocked  *blocked        // what it waits for; nil: it does not wait
	channels [kinds][]string // its subscriptions
	tracking tracking
}

// Closed reports whether the server closes the connection after the last answer, as
// QUIT asks for.
func (c *Conn) Closed() bool { return c.closed }

// Push is a message to a connection that has not asked for it.
type Push struct {
	Conn   *Conn
	Data   []byte
	Answer bool // it is the answer to a request that had to wait
}

// Pushes returns the messages to other connections since the last call, in order.
// Read it after each Do and Changed.
func (s *Server) Pushes() []Push {
	p := s.pushes
	s.pushes = nil
	return p
}

// Restart forgets what a restart of the process loses: the cached scripts, and all
// connections.
func (s *Server) Restart() {
	clear(s.scripts)
	clear(s.watchers)
	clear(s.readers)
	s.subscribers, s.pushes, s.waiting = nil, nil, nil
}

// Missing returns the first command, with its option if that is what is missing, that
// a client asked for and the model does not have; "": none.
func (s *Server) Missing() string { return s.missing }

// subscription is a kind of subscription.
type subscription int

const (
	channel subscription = iota
	pattern
	shard
	kinds
)

// subscriptions returns the number of all subscriptions of c.
func (c *Conn) subscriptions() int {
	return len(c.channels[channel]) + len(c.channels[pattern]) + len(c.channels[shard])
}

// tracking is a connection's part in client-side caching: the server sends it one
// message when a key that it has read changes.
type tracking struct {
	on      bool
	option  string // OPTIN or OPTOUT; "": none
	noLoop  bool   // its own changes do not count
	caching string // YES or NO after CLIENT CACHING, for the next command
}

// watched is a key after WATCH, and whether it existed then: a key that expires also
// counts as changed.
type watched struct {
	key    string
	exists bool
}
