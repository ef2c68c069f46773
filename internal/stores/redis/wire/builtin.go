package wire

import (
	"math/rand/v2"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// errorReply returns an error's text with a code at its start.
func errorReply(s string) string {
	s = strings.TrimPrefix(s, "-")
	if !strings.Contains(s, " ") {
		return "ERR " + s
	}
	return s
}

// protectedCall is pcall. The error of a command comes as its text.
func protectedCall(l *lua.LState) int {
	l.CheckAny(1)
	n := l.GetTop()
	if err := l.PCall(n-1, lua.MultRet, nil); err != nil {
		var value lua.LValue = lua.LString(err.Error())
		if e, ok := err.(*lua.ApiError); ok {
			value = e.Object
		}
		if t, ok := value.(*lua.LTable); ok {
			if text, ok := t.RawGetString("err").(lua.LString); ok {
				value = text
			}
		}
		l.SetTop(0)
		l.Push(lua.LFalse)
		l.Push(value)
		return 2
	}
	l.Insert(lua.LTrue, 1)
	return l.GetTop()
}

// toString is tostring. Lua formats numbers with 14 digits.
func toString(l *lua.LState) int {
	v := l.CheckAny(1)
	if n, ok := v.(lua.LNumber); ok {
		l.Push(lua.LString(formatNumber(float64(n), 14)))
		return 1
	}
	l.Push(l.ToStringMeta(v))
	return 1
}

// randomNumber is math.random. Every script draws the same numbers, as in Redis, but
// not the ones that Redis draws.
func (in *Lua) randomNumber(l *lua.LState) int {
	source := rand.New(in.random)
	low, high := 1, 0
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(source.Float64()))
		return 1
	case 1:
		high = l.CheckInt(1)
	default:
		low, high = l.CheckInt(1), l.CheckInt(2)
	}
	if low > high {
		l.ArgError(l.GetTop(), "interval is empty")
	}
	l.Push(lua.LNumber(low + int(source.Int64N(int64(high-low)+1))))
	return 1
}

func (in *Lua) randomSeed(l *lua.LState) int {
	in.seed(uint64(l.CheckInt64(1)))
	return 0
}
