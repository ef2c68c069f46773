package wire

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
)

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// eval is EVAL Script Number-of-keys Key… Argument…, and EVAL_RO.
func eval(readOnly bool) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		keys, args, err := split(w)
		if err.failed() {
			return err
		}
		s, err := x.server.load(x, w[1])
		if err.failed() {
			return err
		}
		return x.run(&run{s, keys, readOnly}, args)
	}
}

// evalSHA is the same with the script's SHA-1.
func evalSHA(readOnly bool) func(*call, []string) reply {
	unknown := failure("NOSCRIPT No matching script. Please use EVAL.")
	return func(x *call, w []string) reply {
		if len(w[1]) != 2*sha1.Size {
			return unknown
		}
		keys, args, err := split(w)
		if err.failed() {
			return err
		}
		s, ok := x.server.scripts[w[1]]
		if !ok {
			s, ok = x.server.scripts[strings.ToLower(w[1])]
		}
		if !ok {
			return unknown
		}
		return x.run(&run{s, keys, readOnly}, args)
	}
}

// split returns the keys and arguments of a script's call.
func split(w []string) (keys, args []string, err reply) {
	n, ok := parseInt(w[2])
	switch {
	case !ok:
		return nil, nil, failure(errInteger)
	case n > int64(len(w)-3):
		return nil, nil, failure("ERR Number of keys can't be greater than number of args")
	case n < 0:
		return nil, nil, failure("ERR Number of keys can't be negative")
	}
	return w[3 : 3+n], w[3+n:], reply{}
}

// load compiles and caches a script.
func (s *Server) load(x *call, source string) (*script, reply) {
	if strings.HasPrefix(source, "#!") {
		return nil, x.miss("EVAL of a script with #! in its first line")
	}
	if s.Lua == nil {
		s.Lua = new(Lua)
	}
	compiled, err := s.Lua.compile(source)
	if err != nil {
		return nil, failure("ERR Error compiling script (new function): " + firstLine(err.Error()))
	}
	if s.scripts == nil {
		s.scripts = map[string]*script{}
	}
	s.scripts[compiled.sha] = compiled
	return compiled, reply{}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// run runs a script. All its commands are a part of this step.
func (x *call) run(r *run, args []string) reply {
	x.script = r
	defer func() { x.script = nil }()
	return x.server.Lua.run(x, args)
}

// fromScript executes a command of a script.
func (x *call) fromScript(words []string) reply {
	cmd, name, ok := x.find(words)
	switch {
	case !ok, cmd.run == nil && cmd.flags&container == 0:
		r, _ := x.refuse(cmd, name, ok, words)
		return r
	case cmd.words > 0 && len(words) != cmd.words, len(words) < -cmd.words:
		return failure("ERR Wrong number of args calling Redis command from script")
	case cmd.flags&noScript != 0:
		return failure("ERR This Redis command is not allowed from script")
	case x.script.readOnly && cmd.flags&(writes|grows) != 0:
		return failure("ERR Write commands are not allowed from read-only scripts.")
	}
	if r, refused := x.refuse(cmd, name, ok, words); refused {
		return r
	}
	return x.execute(cmd, words)
}

func scriptLoad(x *call, w []string) reply {
	s, err := x.server.load(x, w[2])
	if err.failed() {
		return err
	}
	return bulk(s.sha)
}

func scriptExists(x *call, w []string) reply {
	r := listOf(array)
	for _, sha := range w[2:] {
		n := int64(0)
		if _, ok := x.server.scripts[strings.ToLower(sha)]; ok {
			n = 1
		}
		r.list = append(r.list, integer(n))
	}
	return r
}

func scriptFlush(x *call, w []string) reply {
	if len(w) > 3 || len(w) == 3 && !strings.EqualFold(w[2], "sync") && !strings.EqualFold(w[2], "async") {
		return failure("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	}
	clear(x.server.scripts)
	return okay
}

func scriptKill(*call, []string) reply {
	return failure("NOTBUSY No scripts in execution right now.")
}
