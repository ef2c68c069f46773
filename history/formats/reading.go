package formats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// Reading says how a file without lockcheck's first line is read where it may
// mean several things. The zero value takes what is most likely, and stops where
// a wrong guess would change the verdict.
type Reading struct {
	LockFrom string  // the key whose value names the lock, as "resource"; "": see docs/record.md
	OneLock  bool    // all operations are about one lock, and no value names one
	OKFalse  OKFalse // the meaning of ok with the value false
}

// OKFalse is the meaning of an operation that is ok with false, "false" or "".
type OKFalse uint8

// The meanings. By default an acquire or a try was refused, and any other
// operation is an error.
const (
	OKFalseUnsaid OKFalse = iota
	OKFalseRefused
	OKFalseGranted
)

// named reports whether values are no names of locks, because somebody said where
// those are.
func (r *Reading) named() bool {
	return r.OneLock || r.LockFrom != "" && r.LockFrom != keyNames[keyValue]
}

// guesses are what a mapper took for likely.
type guesses struct {
	reading Reading
	line    int             // of the operation that is being read
	names   map[string]*use // locks that a value named
	refused oddity          // acquires that were ok with false
}

// use is how often a value was taken for the name of a lock.
type use struct{ count, line int }

// name notes that a value was taken for the name of a lock.
func (g *guesses) name(lock string) {
	if g.reading.LockFrom != "" {
		return
	}
	if g.names == nil {
		g.names = map[string]*use{}
	}
	u := g.names[lock]
	if u == nil {
		u = &use{line: g.line}
		g.names[lock] = u
	}
	u.count++
}

// enoughNames is how many names of locks show that most of them are none.
const enoughNames = 10

// doubt returns what is odd about the names of locks: that most of them occur in
// one operation only, as an id of an operation does. Then nobody was in the way of
// anybody. Where there are few names it is a warning, else an error.
func (g *guesses) doubt(file string) (*history.Warning, error) {
	once := history.Warning{Name: file}
	n := 0
	for name, u := range g.names {
		if u.count > 1 {
			continue
		}
		if n++; once.Line == 0 || u.line < once.Line {
			once.Line, once.Text = u.line, name
		}
	}
	if len(g.names) < 2 || 2*n < len(g.names) {
		return nil, nil
	}
	once.Text = fmt.Sprintf("%d of %d names of locks occur in one operation only, this one is %.40q: if they name operations, say --one-lock, or --lock-from FIELD", n, len(g.names), once.Text)
	if len(g.names) < enoughNames {
		return &once, nil
	}
	return nil, &history.SyntaxError{Name: file, Line: once.Line, Err: errors.New(once.Text + "; if they do name locks, --lock-from value")}
}

// warned appends what was guessed to warnings.
func (g *guesses) warned(list []history.Warning, file string) []history.Warning {
	if w, _ := g.doubt(file); w != nil {
		list = append(list, *w)
	}
	if r := g.refused; r.count > 0 {
		list = append(list, history.Warning{Name: file, Line: r.line, Text: fmt.Sprintf(
			"an acquire is ok with false %s, and was taken for refused: --ok-false granted says otherwise", times(r.count),
		)})
	}
	return list
}

// isFalse reports whether the value of an ok says that it was none; a pair is
// [lock false].
func isFalse(v *value, lock string) bool {
	if v != nil && v.kind == vector && len(v.items) == 2 {
		if first, ok := v.items[0].name(); ok && first == lock {
			v = &v.items[1]
		}
	}
	switch {
	case v == nil:
		return false
	case v.kind == text:
		return v.text == "" || strings.EqualFold(v.text, "false")
	}
	return v.kind == boolean && v.n == 0
}

// okFalse makes of an operation that is ok with false what it means.
func (m *mapper) okFalse(v *value, e *history.Entry) error {
	acquires := e.F == history.Acquire || e.F == history.Try
	switch m.reading.OKFalse {
	case OKFalseGranted:
		return nil
	case OKFalseUnsaid:
		if !acquires {
			return fmt.Errorf("%s is ok, and %s is %s: --ok-false refused takes it for failed, --ok-false granted for ok", e.F, m.spell(keyValue), v.short())
		}
		m.refused.add(m.line, 0)
	}
	e.Type = history.Fail
	return nil
}

// lockFrom fills in the lock, from where somebody said that it is named.
func (m *mapper) lockFrom(v *value, e *history.Entry) error {
	field := m.reading.LockFrom
	switch {
	case m.reading.OneLock:
		e.Lock = ""
		return nil
	case v == nil && e.Type == history.Invoke:
		return fmt.Errorf("%q is missing, which --lock-from names", field)
	case v == nil:
		e.Lock = ""
		return nil
	}
	var ok bool
	if e.Lock, ok = v.name(); !ok {
		return fmt.Errorf("%q is %s: want a name, as --lock-from says", field, v.short())
	}
	return nil
}
