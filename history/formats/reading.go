package formats

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Reading says how to read ambiguous values in a file without lockcheck's first
// line. The zero value takes the most likely meaning, and is an error where a
// wrong guess would change the verdict.
type Reading struct {
	LockFrom string  // the key of the lock's name, such as "resource"; "": see docs/record.md
	OneLock  bool    // all operations use one lock, and no value names it
	OKFalse  OKFalse // the meaning of ok with the value false
}

// OKFalse is the meaning of an operation that is ok with false, "false" or "".
type OKFalse uint8

// These are the meanings. By default an acquire or a try was refused, and any
// other operation is an error.
const (
	OKFalseUnsaid OKFalse = iota
	OKFalseRefused
	OKFalseGranted
)

// hasLockField reports whether an option says where locks are named, so that values are
// not names of locks.
func (r *Reading) hasLockField() bool {
	return r.OneLock || r.LockFrom != "" && r.LockFrom != keyNames[keyValue]
}

// guesses are the assumptions of a mapper.
type guesses struct {
	reading Reading
	line    int             // of the present operation
	names   map[string]*use // locks named by a value
	refused oddity          // acquires that are ok with false
}

// use counts how often a value was taken for the name of a lock.
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

// enoughNames is the number of names from which on doubt is an error.
const enoughNames = 10

// doubt checks the names of locks. If most of them occur in one operation only,
// they are probably ids of operations, and no client would ever wait for another.
// With few names this is a warning, else an error.
func (g *guesses) doubt(file string) (*history.Warning, error) {
	once := history.Warning{Name: file}
	n := 0
	for name, u := range g.names {
		if u.count > 1 {
			continue
		}
		if n++; once.Line == 0 || u.line < once.Line || u.line == once.Line && name < once.Text {
			once.Line, once.Text = u.line, name
		}
	}
	if len(g.names) < 2 || 2*n < len(g.names) {
		return nil, nil
	}
	once.Text = fmt.Sprintf("%d of %d names of locks occur in one operation only, this one is %.40q: if they name operations, use --one-lock, or --lock-from FIELD", n, len(g.names), once.Text)
	if len(g.names) < enoughNames {
		return &once, nil
	}
	return nil, &history.SyntaxError{Name: file, Line: once.Line, Err: errors.New(once.Text + "; if they do name locks, use --lock-from value")}
}

// appendWarnings appends the warnings about guesses.
func (g *guesses) appendWarnings(list []history.Warning, file string) []history.Warning {
	if w, _ := g.doubt(file); w != nil {
		list = append(list, *w)
	}
	return g.refused.appendWarning(list, file, "an acquire is ok with false %s and counts as refused: use --ok-false granted to change that")
}

// isFalse reports whether the value of an ok is false, "false" or "", also in a
// pair [lock false].
func isFalse(v *value, lock string) bool {
	if first, second := v.pair(); first != nil {
		if name, ok := first.name(); ok && name == lock {
			v = second
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

// lockFrom fills in the lock from the field of --lock-from.
func (r *Reading) lockFrom(v *value, e *history.Entry) error {
	e.Lock = ""
	switch {
	case r.OneLock, v == nil && e.Type != history.Invoke:
		return nil
	case v == nil:
		return fmt.Errorf("%q is missing: --lock-from names it", r.LockFrom)
	}
	var ok bool
	if e.Lock, ok = v.name(); !ok {
		return fmt.Errorf("%q is %s: want a name for --lock-from", r.LockFrom, v.short())
	}
	return nil
}

// oddity counts a problem that is reported once.
type oddity struct {
	line, count int
	most        time.Duration
}

func (o *oddity) add(line int, by time.Duration) {
	if o.count++; o.count == 1 {
		o.line = line
	}
	o.most = max(o.most, by)
}

// appendWarning appends a warning if there is something to report. In format, %s is how
// often it occurred.
func (o *oddity) appendWarning(list []history.Warning, file, format string) []history.Warning {
	times := "once"
	switch o.count {
	case 0:
		return list
	case 1:
	default:
		times = fmt.Sprintf("%d times", o.count)
	}
	return append(list, history.Warning{Name: file, Line: o.line, Text: fmt.Sprintf(format, times)})
}
