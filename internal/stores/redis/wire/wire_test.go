package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// ask sends a request on a connection of f and returns the answer. Spaces stand for
// ends of lines.
func (f *frontEnd) ask(t *testing.T, conn string, words ...string) string {
	t.Helper()
	f.send(t, conn, encode(words))
	return strings.ReplaceAll(f.receive(t, conn), "\r\n", " ")
}

// Missing names the first command that the model lacks.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ request, want string }{
		{"GET k", ""},
		{"GET", ""},
		{"CLIENT SETINFO LIB-NAME x", ""}, // unknown to Redis 7.0
		{"SCRIPT FOO", ""},
		{"xadd s * f v", "XADD"},
		{"zrange z a b bylex", "ZRANGE BYLEX"},
		{"SELECT 1", "SELECT 1"},
		{"CLIENT LIST", "CLIENT LIST"},
		{"client tracking on bcast", "CLIENT TRACKING BCAST"},
		{"CLIENT TRACKING ON", "CLIENT TRACKING in RESP2"},
		{"COMMAND LIST", "COMMAND LIST"},
		{"SCRIPT DEBUG YES", "SCRIPT DEBUG"},
		{`EVAL "return redis.call('xadd', 's', '*', 'f', 'v')" 0`, "XADD"},
		{`EVAL "return redis.pcall('xadd', 's', '*', 'f', 'v')" 0`, "XADD"},
		{`EVAL "return cjson.encode({})" 0`, "cjson in scripts"},
		{`EVAL "return redis.setresp(3)" 0`, "redis.setresp in scripts"},
		{`EVAL "#!lua\nreturn 1" 0`, "EVAL of a script with #! in its first line"},
	} {
		f := newFrontEnd()
		words := words(t, c.request, f.clock)
		got := f.ask(t, "1", words...)
		if m := f.server.Missing(); m != c.want {
			t.Errorf("%s: missing %q, want %q", c.request, m, c.want)
		}
		text := "-ERR lockcheck's model of Redis has no " + c.want + ": run with -lockcheck.on=docker"
		if c.want != "" && !strings.HasPrefix(got, text) {
			t.Errorf("%s: got %q", c.request, got)
		}
		f.ask(t, "1", "XRANGE", "s", "-", "+")
		if m := f.server.Missing(); c.want != "" && m != c.want {
			t.Errorf("%s: then missing %q, want the first, %q", c.request, m, c.want)
		}
	}
}

// A script ends. It leaves nothing behind but keys.
func TestScripts(t *testing.T) {
	f := newFrontEnd()
	for _, c := range []struct{ script, want string }{
		{"while true do end", "-ERR user_script:1: lockcheck's model of Redis ends a script after 1048576 instructions script: "},
		{"while true do pcall(function() while true do end end) end", "-ERR user_script:1: lockcheck's model of Redis ends a script"},
		{"local function f() return f() end return f()", "-ERR user_script:1: lockcheck's model of Redis ends a script"},
		{"local function f() return 1 + f() end return f()", "-ERR lua callstack overflow"},
		{"local t = {} t[1] = t return t", "*1 *1 "},
		{"return 1 +", "-ERR Error compiling script (new function): user_script"},
		{"rawset(_G, 'left', 1)", "-ERR user_script:1: Attempt to modify a readonly table"},
		{"setmetatable(_G, {})", "-ERR user_script:1: "},
		{"return left", "-ERR user_script:1: Script attempted to access nonexistent global variable 'left'"},
		{"local t = {} rawset(t, 1, 5) return t", "*1 :5 "},
		{"return math.random(1000000)", ":"},
		{"return redis.call('TIME')", "*2 $10 "},
		{"return redis.call('PING')", "+PONG "},
	} {
		if got := f.ask(t, "1", "EVAL", c.script, "0"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %.200s, want %s", c.script, got, c.want)
		}
	}
	draw := []string{"EVAL", "return {math.random(1000000), math.random(1000000), tostring(math.random())}", "0"}
	if a, b := f.ask(t, "1", draw...), newFrontEnd().ask(t, "1", draw...); a != b {
		t.Errorf("a script drew %s and then %s", a, b)
	}
}

// A script is one step of the server, also if its commands fail.
func TestScriptIsOneStep(t *testing.T) {
	f := newFrontEnd()
	var steps []redis.Verb
	apply := func(c redis.Command) redis.Reply {
		steps = append(steps, c.Verb)
		return f.apply(c)
	}
	script := "redis.call('SET', KEYS[1], 'x') redis.pcall('INCR', KEYS[1]) return redis.call('DEL', KEYS[1])"
	got := string(f.server.Do(f.conn("1"), apply, []string{"EVAL", script, "1", "k"}))
	want := "[UNKNOWN SET UNKNOWN INCRBY UNKNOWN DEL]"
	if s := strings.ReplaceAll(fmt.Sprint(steps), "script", "UNKNOWN"); got != ":1\r\n" || s != want {
		t.Errorf("got %q after %s, want %s", got, s, want)
	}
}

func TestClientID(t *testing.T) {
	f := newFrontEnd()
	for _, c := range []struct{ conn, want string }{{"a", ":1 "}, {"b", ":2 "}, {"a", ":1 "}} {
		if got := f.ask(t, c.conn, "CLIENT", "ID"); got != c.want {
			t.Errorf("connection %s: got %s, want %s", c.conn, got, c.want)
		}
	}
}

func TestTime(t *testing.T) {
	f := newFrontEnd()
	micro := f.clock.UnixMicro()
	seconds, rest := fmt.Sprint(micro/1e6), fmt.Sprint(micro%1e6)
	want := fmt.Sprintf("*2 $%d %s $%d %s ", len(seconds), seconds, len(rest), rest)
	if got := f.ask(t, "1", "TIME"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A restart forgets scripts. A closed connection gets no messages.
func TestRestartAndDrop(t *testing.T) {
	f := newFrontEnd()
	sha := strings.Fields(f.ask(t, "1", "SCRIPT", "LOAD", "return 1"))[1]
	f.server.Restart()
	if got := f.ask(t, "1", "EVALSHA", sha, "0"); !strings.HasPrefix(got, "-NOSCRIPT ") {
		t.Errorf("after a restart: %s", got)
	}
	f.ask(t, "1", "SUBSCRIBE", "a")
	f.server.Drop(f.conn("1"))
	if got := f.ask(t, "2", "PUBLISH", "a", "x"); got != ":0 " {
		t.Errorf("after Drop a message reached %s", got)
	}
	f.ask(t, "2", "HELLO", "3")
	f.ask(t, "2", "CLIENT", "TRACKING", "ON")
	f.ask(t, "2", "GET", "k")
	f.ask(t, "2", "WATCH", "k")
	f.server.Drop(f.conn("2"))
	f.ask(t, "3", "SET", "k", "v")
	f.idle(t)
}

// Servers that share an interpreter do not share their scripts.
func TestSharedLua(t *testing.T) {
	a, b := newFrontEnd(), newFrontEnd()
	a.server.Lua = new(wire.Lua)
	b.server.Lua = a.server.Lua
	sha := strings.Fields(a.ask(t, "1", "SCRIPT", "LOAD", "return redis.call('GET', 'k')"))[1]
	a.ask(t, "1", "SET", "k", "v")
	if got := b.ask(t, "1", "EVALSHA", sha, "0"); !strings.HasPrefix(got, "-NOSCRIPT ") {
		t.Errorf("the other server has the script: %s", got)
	}
	if got := b.ask(t, "1", "EVAL", "return redis.call('GET', 'k')", "0"); got != "$-1 " {
		t.Errorf("the other server has the key: %s", got)
	}
	if got := a.ask(t, "1", "EVALSHA", sha, "0"); got != "$1 v " {
		t.Errorf("got %s", got)
	}
}

// The server tells connections of keys that it removes by itself.
func TestChanged(t *testing.T) {
	f := newFrontEnd()
	f.ask(t, "1", "HELLO", "3")
	f.ask(t, "1", "CLIENT", "TRACKING", "ON")
	f.ask(t, "1", "SET", "k", "v")
	f.ask(t, "1", "GET", "k")
	f.ask(t, "2", "WATCH", "k")
	f.server.Changed("k")
	pushes := f.server.Pushes()
	if len(pushes) != 1 || pushes[0].Conn != f.conn("1") || string(pushes[0].Data) != ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n" {
		t.Errorf("got %v", pushes)
	}
	f.ask(t, "2", "MULTI")
	if got := f.ask(t, "2", "EXEC"); got != "*-1 " {
		t.Errorf("EXEC: %s", got)
	}
}

func TestIsHandshake(t *testing.T) {
	for request, want := range map[string]bool{
		"hello 3": true, "CLIENT SETINFO LIB-NAME x": true, "PING": true, "SELECT 0": true, "AUTH x": true,
		"COMMAND": true, "INFO": true, "ROLE": true, "QUIT": true,
		"SET k v": false, "EVALSHA x 0": false, "MULTI": false, "SUBSCRIBE a": false, "SENTINEL masters": false, "": false,
	} {
		if got := wire.IsHandshake(strings.Fields(request)); got != want {
			t.Errorf("%q: got %v", request, got)
		}
	}
}
