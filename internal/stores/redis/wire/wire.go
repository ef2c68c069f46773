// Package wire is the model of a Redis server behind its protocol, for client
// libraries that are not ours: a request's words in, its answer in RESP out.
//
// It executes commands as steps on the model (package model, or whatever the caller
// passes as Apply), and runs Lua. It has no clock, network or randomness. Like the
// model it answers as Redis 7.0 does, word for word. Commands that it lacks end with
// an error that names them.
//
// Differences that remain: texts of Lua's own errors; numbers above 10^14 or with more
// than 14 digits that Lua's .. operator appends to a string; the commands that Missing
// names.
package wire

import (
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

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

	channels [kinds][]string // its subscriptions
	tracking tracking
}

// Closed reports whether the server closes the connection after the last answer, as
// QUIT asks for.
func (c *Conn) Closed() bool { return c.closed }

// Push is a message to a connection that has not asked for it.
type Push struct {
	Conn *Conn
	Data []byte
}

// Pushes returns the messages to other connections since the last call, in order.
// Read it after each Do and Changed.
func (s *Server) Pushes() []Push {
	p := s.pushes
	s.pushes = nil
	return p
}

// Do serves one request of a connection and returns its answer in RESP. It is one
// atomic step. One goroutine at a time may call it.
func (s *Server) Do(c *Conn, apply Apply, words []string) []byte {
	if c.id == 0 {
		s.conns++
		c.id = s.conns
	}
	commands := dataCommands
	if s.sentinel != nil {
		commands = sentinelCommands
	}
	s.current = call{server: s, conn: c, apply: apply, commands: commands}
	x := &s.current
	r := x.serve(words)
	out := r.append(x.before, c.resp3)
	return append(out, x.after...)
}

// Drop forgets a closed connection.
func (s *Server) Drop(c *Conn) {
	s.unsubscribeAll(c)
	s.unwatch(c)
	s.untrack(c)
}

// Restart forgets what a restart of the process loses: the cached scripts, and all
// connections.
func (s *Server) Restart() {
	clear(s.scripts)
	clear(s.watchers)
	clear(s.readers)
	s.subscribers, s.pushes = nil, nil
}

// Missing returns the first command, with its option if that is what is missing, that
// a client asked for and the model does not have; "": none.
func (s *Server) Missing() string { return s.missing }

// call is one request while it is served.
type call struct {
	server   *Server
	conn     *Conn
	apply    Apply
	commands map[string]command
	script   *run // the script that runs; nil: none
	before   []byte
	after    []byte // messages to conn before and after the answer
}

// command is a command of the server.
type command struct {
	words int // how many a request has, with the name; negative: at least
	flags flags
	run   func(*call, []string) reply // nil: the model lacks it
}

type flags uint8

const (
	writes     flags = 1 << iota // its first word is the key
	grows                        // writes, and needs memory
	reads                        // its first word is the key
	readsAll                     // all its words are keys
	noScript                     // a script may not call it
	unqueued                     // MULTI does not queue it
	subscribed                   // allowed on a connection with subscriptions
	container                    // its first word is the name of a subcommand
)

// find returns the command that words name, and its name.
func (x *call) find(words []string) (cmd command, name string, ok bool) {
	var buf [32]byte
	cmd, ok = x.commands[string(lower(buf[:0], words[0]))]
	if ok && cmd.flags&container != 0 && len(words) > 1 {
		sub := strings.ToLower(words[0] + "|" + words[1])
		cmd, ok = x.commands[sub]
		return cmd, sub, ok
	}
	return cmd, words[0], ok
}

func lower(buf []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf = append(buf, c)
	}
	return buf
}

// serve executes a request of a client, or queues it.
func (x *call) serve(words []string) reply {
	cmd, name, ok := x.find(words)
	r, refused := x.refuse(cmd, name, ok, words)
	c := x.conn
	switch {
	case refused && c.multi && strings.EqualFold(words[0], "exec"):
		x.endMulti()
		return aborted(r)
	case refused:
		c.broken = c.multi
		return r
	case !c.resp3 && c.subscriptions() > 0 && cmd.flags&subscribed == 0:
		return failure("ERR Can't execute '" + strings.ToLower(name) + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	case c.multi && cmd.flags&unqueued == 0:
		c.queue = append(c.queue, words)
		return status("QUEUED")
	}
	r = x.execute(cmd, words)
	if !c.multi && !strings.EqualFold(words[0], "client") {
		c.tracking.caching = ""
	}
	return r
}

// execute executes a command that is not refused.
func (x *call) execute(cmd command, words []string) reply {
	r := cmd.run(x, words)
	if x.conn.tracking.on && cmd.flags&(reads|readsAll) != 0 {
		x.remember(cmd, words)
	}
	return r
}

// refuse returns the refusal of a command that the server does not execute.
func (x *call) refuse(cmd command, name string, known bool, words []string) (reply, bool) {
	switch {
	case !known && strings.Contains(name, "|"):
		return failure("ERR unknown subcommand '" + words[1] + "'. Try " + strings.ToUpper(words[0]) + " HELP."), true
	case !known && x.server.sentinel != nil:
		return failure("ERR unknown command '" + words[0] + "', with args beginning with: " + quoted(words[1:])), true
	case !known, cmd.run == nil && cmd.flags&container == 0:
		return x.miss(strings.ToUpper(strings.ReplaceAll(name, "|", " "))), true
	case cmd.words > 0 && len(words) != cmd.words, len(words) < -cmd.words:
		return wrongArity(name), true
	case cmd.flags&(writes|grows) != 0:
		probe := redis.Command{Verb: redis.MayWrite, Key: words[1]}
		if cmd.flags&grows != 0 {
			probe.Verb = redis.MayGrow
		}
		if r := x.apply(probe); r.Kind == redis.Error {
			return reply{Reply: r}, true
		}
	}
	return reply{}, false
}

// quoted lists words as the server repeats them in an error.
func quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString("'" + w + "' ")
	}
	return b.String()
}

func wrongArity(name string) reply {
	return failure("ERR wrong number of arguments for '" + strings.ToLower(name) + "' command")
}

// miss returns the error for a command, or its option, that the model lacks.
func (x *call) miss(what string) reply {
	if x.server.missing == "" {
		x.server.missing = what
	}
	return failure("ERR lockcheck's model of Redis has no " + what + ": run with -lockcheck.on=docker")
}

// step executes one command on the model.
func (x *call) step(c redis.Command) reply {
	r := x.apply(c)
	if changes(c.Verb, r) {
		x.server.touch(c.Key, x.conn)
	}
	return reply{Reply: r}
}

// changes reports whether a command with that answer has changed its key.
func changes(v redis.Verb, r redis.Reply) bool {
	switch v {
	case redis.GetSet, redis.IncrBy, redis.HSet, redis.HIncrBy:
		return r.Kind != redis.Error
	case redis.Set:
		return r.Kind == redis.Status
	case redis.SetNX, redis.PExpire, redis.Del, redis.RPush, redis.Persist, redis.HDel:
		return r.Int > 0
	}
	return false
}
