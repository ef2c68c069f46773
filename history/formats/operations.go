package formats

import (
	"errors"
	"io"

	"github.com/lockcheck/lockcheck/history"
)

// errNoHistory is the error for a file with an unknown beginning.
const errNoHistory = "not a history: want JSON Lines, Jepsen's EDN or a JSON array"

// operations reads one collection of maps, or maps without one, map by map. An
// unclosed collection, as after a crash, is a warning.
type operations struct {
	*lexer
	array    bool // a JSON array, not EDN
	begun    bool
	closer   byte // of the collection; 0: none
	closed   bool
	ended    bool
	count    int
	warnings []history.Warning
}

// next returns the next map and the line on which it begins, or io.EOF.
func (o *operations) next() (value, int, error) {
	if o.ended {
		return value{}, 0, io.EOF
	}
	if !o.begun {
		if err := o.begin(); err != nil {
			return value{}, 0, err
		}
	}
	v, closer, err := o.form()
	switch {
	case errors.Is(err, io.EOF):
		if o.ended = true; o.closer != 0 && !o.closed {
			o.warn(o.line, "the file is cut off")
		}
		return v, 0, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		o.ended = true
		return v, 0, o.unfinished()
	case err != nil:
		return v, 0, err
	case closer != 0:
		if closer != o.closer || o.closed {
			return v, 0, o.fail("unexpected %c: there is no open bracket", closer)
		}
		o.closed = true
		return o.next()
	case o.closed:
		return v, 0, o.at(o.start, "something follows the end of the history: it is one collection")
	case v.kind != mapping && o.count == 0 && v.kind != vector:
		return v, 0, o.at(o.start, errNoHistory)
	case v.kind != mapping:
		return v, 0, o.at(o.start, "an operation is a map, not %s", v.short())
	}
	o.count++
	return v, o.start, nil
}

// begin enters the collection, if there is one.
func (o *operations) begin() error {
	o.begun = true
	b, err := o.significant()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case b == '[':
		o.closer = ']'
	case b == '(':
		o.closer = ')'
	default:
		o.unget()
	}
	return nil
}

// form returns the next value, or the closer in its place.
func (o *operations) form() (v value, closer byte, err error) {
	if o.array && !o.closed {
		return o.element()
	}
	b, err := o.significant()
	if err != nil {
		return v, 0, err
	}
	o.unget()
	if (o.closer == 0 || o.closed) && (b == '[' || b == '(') { // checked before its elements are read
		if o.closed {
			return v, 0, o.fail("a second collection begins: a history is one vector or list, or maps")
		}
		return v, 0, o.fail("a collection begins after maps: a history is one vector or list, or maps")
	}
	return o.edn()
}

// element returns the next element of a JSON array.
func (o *operations) element() (v value, closer byte, err error) {
	b, err := o.visible()
	if err == nil && b == ',' && o.count > 0 {
		b, err = o.visible()
		if err == nil && b == ']' {
			return v, 0, o.fail("unexpected ]: want an operation after the comma")
		}
	} else if err == nil && b != ']' && o.count > 0 {
		return v, 0, o.fail("unexpected %q: want , or ] after an operation", rune(b))
	}
	if err != nil {
		return v, 0, err
	}
	o.unget()
	return o.json()
}

// unfinished handles an operation that the end of the file interrupts.
func (o *operations) unfinished() error {
	for i := range o.stack {
		if o.stack[i].kind == mapping && o.stack[i].get("type") != nil && o.stack[i].get("process") != nil {
			return o.at(o.start, "the operation that begins here is not closed and contains others")
		}
	}
	if o.count == 0 {
		return o.at(o.start, "the file is cut off in its first operation")
	}
	o.warn(o.start, "the file is cut off: the operation that begins here is ignored")
	return io.EOF
}

func (o *operations) warn(line int, text string) {
	o.warnings = append(o.warnings, history.Warning{Name: o.name, Line: line, Text: text})
}
