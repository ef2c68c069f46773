package wire

import (
	"math/rand/v2"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// basic are the global functions of a script.
var basic = []string{
	"assert", "collectgarbage", "error", "getmetatable", "ipairs", "load", "loadstring",
	"next", "pairs", "rawequal", "rawget", "select", "setmetatable", "tonumber", "type",
	"unpack", "xpcall", "_VERSION",
}

// absent are the libraries and functions of Redis' scripts that the model lacks.
var absent = map[string]bool{
	"bit": true, "cjson": true, "cmsgpack": true, "coroutine": true, "struct": true,
	"acl_check_cmd": true, "breakpoint": true, "debug": true, "set_repl": true, "setresp": true,
}

// start makes the globals of Redis' scripts. Scripts cannot change them: nothing but
// keys outlives a script.
func (in *Lua) start() {
	l := lua.NewState(lua.Options{
		SkipOpenLibs: true, MinimizeStackMemory: true,
		CallStackSize: 1 << 12, RegistrySize: 1 << 8, RegistryMaxSize: 1 << 20, RegistryGrowStep: 1 << 10,
	})
	*in = Lua{
		state: l, globals: l.NewTable(), fixed: map[*lua.LTable]bool{}, random: rand.NewPCG(0, 0),
		place: l.NewFunction(place), compiled: map[string]*script{},
	}
	for name, open := range map[string]lua.LGFunction{
		"": lua.OpenBase, lua.StringLibName: lua.OpenString, lua.TabLibName: lua.OpenTable, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	all := l.G.Global
	for _, name := range basic {
		in.globals.RawSetString(name, all.RawGetString(name))
	}
	math := all.RawGetString("math").(*lua.LTable)
	l.SetFuncs(math, map[string]lua.LGFunction{"random": in.randomNumber, "randomseed": in.randomSeed})
	for _, name := range []string{"math", "string", "table"} {
		in.globals.RawSetString(name, in.fix(all.RawGetString(name).(*lua.LTable)))
	}
	l.SetFuncs(in.globals, map[string]lua.LGFunction{"pcall": protectedCall, "rawset": in.rawSet, "tostring": toString})
	in.globals.RawSetString("redis", in.fix(in.library()))
	visible := in.fix(in.globals)
	in.globals.RawSetString("_G", visible)
	l.G.Global, l.Env = visible, visible
	l.SetContext(&in.steps)
}

// fix returns a view of t that scripts cannot change. Reading a missing field of the
// globals is an error.
func (in *Lua) fix(t *lua.LTable) *lua.LTable {
	l := in.state
	view, meta := l.NewTable(), l.NewTable()
	meta.RawSetString("__index", t)
	meta.RawSetString("__newindex", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Attempt to modify a readonly table")
		return 0
	}))
	meta.RawSetString("__metatable", lua.LFalse)
	l.SetMetatable(view, meta)
	last := l.NewTable()
	last.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		name := l.Get(2).String()
		switch {
		case absent[name]:
			if t != in.globals {
				name = "redis." + name
			}
			in.raise(in.call.miss(name + " in scripts").Str)
		case t == in.globals:
			l.RaiseError("Script attempted to access nonexistent global variable '%s'", name)
		}
		return 0
	}))
	l.SetMetatable(t, last)
	in.fixed[view] = true
	return view
}

func (in *Lua) rawSet(l *lua.LState) int {
	t := l.CheckTable(1)
	if in.fixed[t] {
		l.RaiseError("Attempt to modify a readonly table")
	}
	t.RawSet(l.CheckAny(2), l.CheckAny(3))
	l.SetTop(1)
	return 1
}

// raise raises an error of the server.
func (in *Lua) raise(err string) { in.state.Error(fieldOf(in.state, "err", err), 0) }

// library returns the table redis.
func (in *Lua) library() *lua.LTable {
	l := in.state
	t := l.NewTable()
	l.SetFuncs(t, map[string]lua.LGFunction{
		"call":         func(l *lua.LState) int { return in.command(l, true) },
		"pcall":        func(l *lua.LState) int { return in.command(l, false) },
		"error_reply":  func(l *lua.LState) int { return replyTable(l, "err", errorReply) },
		"status_reply": func(l *lua.LState) int { return replyTable(l, "ok", strings.Clone) },
		"sha1hex": func(l *lua.LState) int {
			if l.GetTop() != 1 {
				in.raise("ERR wrong number of arguments")
			}
			word, _ := argument(l.Get(1))
			l.Push(lua.LString(sha1Hex(word)))
			return 1
		},
		"log":                func(*lua.LState) int { return 0 },
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
	})
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.RawSetString(name, lua.LNumber(i))
	}
	t.RawSetString("REDIS_VERSION", lua.LString(version))
	t.RawSetString("REDIS_VERSION_NUM", lua.LNumber(0x07000f))
	return t
}

// command is redis.call, and, if raises is false, redis.pcall.
func (in *Lua) command(l *lua.LState, raises bool) int {
	r := in.execute(l)
	if r.failed() && raises {
		in.raise(r.Str)
	}
	l.Push(toLua(l, r))
	return 1
}

func (in *Lua) execute(l *lua.LState) reply {
	words := make([]string, l.GetTop())
	for i := range words {
		word, ok := argument(l.Get(i + 1))
		if !ok {
			return failure("ERR Lua redis lib command arguments must be strings or integers")
		}
		words[i] = word
	}
	if len(words) == 0 {
		return failure("ERR Please specify at least one argument for this redis lib call")
	}
	return in.call.fromScript(words)
}

// replyTable is redis.error_reply and redis.status_reply.
func replyTable(l *lua.LState, name string, edit func(string) string) int {
	s, ok := l.Get(1).(lua.LString)
	if !ok || l.GetTop() != 1 {
		l.Push(fieldOf(l, "err", "ERR wrong number or type of arguments"))
		return 1
	}
	l.Push(fieldOf(l, name, edit(string(s))))
	return 1
}
