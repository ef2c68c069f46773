package wire

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// deepest is how deep a script's result may be.
const deepest = 1000

// fromLua converts a script's result to a reply as Redis does. Tables end at their first
// nil, and numbers lose their fraction.
func fromLua(v lua.LValue, depth int) reply {
	switch v := v.(type) {
	case lua.LNumber:
		return integer(int64(v))
	case lua.LString:
		return bulk(string(v))
	case lua.LBool:
		if v {
			return integer(1)
		}
	case *lua.LTable:
		if depth > deepest {
			return failure("ERR reached lua stack limit")
		}
		if err, ok := v.RawGetString("err").(lua.LString); ok {
			return failure(oneLine(string(err)))
		}
		if ok, is := v.RawGetString("ok").(lua.LString); is {
			return status(oneLine(string(ok)))
		}
		r := listOf(array)
		for i := 1; ; i++ {
			e := v.RawGetInt(i)
			if e == lua.LNil {
				return r
			}
			r.list = append(r.list, fromLua(e, depth+1))
		}
	}
	return reply{}
}

// oneLine replaces the bytes that would end a line.
func oneLine(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// toLua converts a reply for a script.
func toLua(l *lua.LState, r reply) lua.LValue {
	switch r.Kind {
	case redis.Int:
		return lua.LNumber(r.Int)
	case redis.Bulk, text, double:
		return lua.LString(r.Str)
	case redis.Status:
		return fieldOf(l, "ok", r.Str)
	case redis.Error:
		return fieldOf(l, "err", r.Str)
	case array, mapping, unordered:
		t := l.CreateTable(len(r.list), 0)
		for _, e := range r.list {
			t.Append(toLua(l, e))
		}
		return t
	}
	return lua.LFalse
}

// fieldOf returns a table with one field.
func fieldOf(l *lua.LState, name, value string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(name, lua.LString(value))
	return t
}

// argument returns a value as a word of a command.
func argument(v lua.LValue) (word string, ok bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return formatNumber(float64(v), 17), true
	}
	return "", false
}

// formatNumber formats a number as C's %g does with so many digits.
func formatNumber(f float64, digits int) string {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < 1e14:
		return strconv.FormatInt(int64(f), 10)
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "-nan"
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}
