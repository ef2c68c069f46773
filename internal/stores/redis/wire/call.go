package wire

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// call is one request while it is served.
type call struct {
	server   *Server
	conn     *Conn
	apply    Apply
	commands map[string]command
	script   *run // the script that runs; nil: none
	inExec   bool // it is a part of a transaction
	timed    bool // it has asked for the server's clock: then it names instants by that one
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
	case redis.GetSet, redis.IncrBy, redis.HSet, redis.HIncrBy, redis.Store:
		return r.Kind != redis.Error
	case redis.Set:
		return r.Kind == redis.Status
	case redis.SetNX, redis.PExpire, redis.Del, redis.Persist, redis.HDel:
		return r.Int > 0
	}
	return false
}

// script is a compiled script.
type script struct {
	sha      string
	function *lua.LFunction
}

// run is one call of a script.
type run struct {
	*script
	keys     []string
	readOnly bool
}
