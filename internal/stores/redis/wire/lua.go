package wire

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// mostSteps is the length of a script in the interpreter's instructions. Redis waits for
// a script for ever.
const mostSteps = 1 << 20

// chunk is the name that Redis gives every script.
const chunk = "user_script"

// Lua runs scripts. Servers may share one, also after each other, if their requests
// never overlap: it keeps compiled scripts, and takes a while to start. Scripts leave
// nothing behind in it. The zero Lua is ready.
type Lua struct {
	state    *lua.LState
	globals  *lua.LTable // scripts see them through a table that they cannot change
	fixed    map[*lua.LTable]bool
	random   *rand.PCG
	steps    steps
	place    *lua.LFunction
	compiled map[string]*script // by their text
	call     *call              // whose script runs
}

// compile returns a script that it has compiled, now or before.
func (in *Lua) compile(source string) (*script, error) {
	if s, ok := in.compiled[source]; ok {
		return s, nil
	}
	if in.state == nil {
		in.start()
	}
	f, err := in.state.Load(strings.NewReader(source), chunk)
	if err != nil {
		return nil, err
	}
	f.Proto.IsVarArg &^= lua.VarArgNeedsArg // no script reads this table of arguments
	in.compiled[source] = &script{sha1Hex(source), f}
	return in.compiled[source], nil
}

// run runs x's script and returns its result.
func (in *Lua) run(x *call, args []string) reply {
	l := in.state
	in.call, in.steps.left = x, mostSteps
	in.seed(0)
	in.globals.RawSetString("KEYS", in.list(x.script.keys))
	in.globals.RawSetString("ARGV", in.list(args))
	l.Push(x.script.function)
	err := l.PCall(0, 1, in.place)
	in.call = nil
	if err != nil {
		return failure(in.describe(err, x.script.sha))
	}
	result := fromLua(l.Get(-1), 0)
	l.Pop(1)
	return result
}

func (in *Lua) seed(n uint64) { in.random.Seed(n, n) }

func (in *Lua) list(words []string) *lua.LTable {
	t := in.state.CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(lua.LString(w))
	}
	return t
}

// place adds to an error where in the script it happened. Its argument is the error.
func place(l *lua.LState) int {
	t, ok := l.Get(1).(*lua.LTable)
	if !ok {
		t = l.NewTable()
		t.RawSetString("err", lua.LString("ERR "+lua.LVAsString(l.ToStringMeta(l.Get(1)))))
	}
	for level := 1; ; level++ {
		frame, ok := l.GetStack(level)
		if !ok {
			break
		}
		if _, err := l.GetInfo("Sl", frame, lua.LNil); err == nil && frame.What != "G" {
			t.RawSetString("line", lua.LNumber(frame.CurrentLine))
			break
		}
	}
	l.Push(t)
	return 1
}

// describe returns the error of a script as the server answers with it.
func (in *Lua) describe(err error, sha string) string {
	var e *lua.ApiError
	if !errors.As(err, &e) {
		return "ERR " + firstLine(err.Error())
	}
	t, ok := e.Object.(*lua.LTable)
	if !ok { // a failure of the interpreter itself
		return "ERR " + firstLine(err.Error())
	}
	text := lua.LVAsString(t.RawGetString("err"))
	if line, ok := t.RawGetString("line").(lua.LNumber); ok {
		text += " script: " + sha + ", on @" + chunk + ":" + strconv.Itoa(int(line)) + "."
	}
	return text
}

// steps counts the instructions of a script: the interpreter asks after each whether it
// shall end.
type steps struct{ left int }

var _ context.Context = (*steps)(nil)

func (s *steps) Done() <-chan struct{} {
	if s.left--; s.left >= 0 {
		return nil
	}
	// A channel may not leave the bubble of testing/synctest in which it was made.
	ended := make(chan struct{})
	close(ended)
	return ended
}

func (s *steps) Err() error {
	return errors.New("lockcheck's model of Redis ends a script after " + strconv.Itoa(mostSteps) + " instructions")
}

func (s *steps) Deadline() (time.Time, bool) { return time.Time{}, false }
func (s *steps) Value(any) any               { return nil }
