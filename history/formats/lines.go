package formats

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// lines is a file of JSON Lines. Without our header its lines may also be
// Jepsen's operations.
type lines struct {
	in     *history.Reader
	name   string
	entry  history.Entry
	mapper mapper
	lexer  *lexer
	bytes  *bytes.Reader
	buf    *bufio.Reader
}

func newLines(in *bufio.Reader, name string, reading Reading) (*lines, history.Header, error) {
	r, err := history.NewReader(in, name)
	if err != nil {
		return nil, history.Header{}, err
	}
	l := &lines{in: r, name: name}
	l.mapper.reading = reading
	if r.Header().Format == 0 {
		l.bytes = bytes.NewReader(nil)
		l.buf = bufio.NewReaderSize(l.bytes, 4<<10)
		l.lexer = newLexer(l.buf, name)
		r.Translate(l.translate)
	}
	return l, r.Header(), nil
}

func (l *lines) next() (*history.Entry, int, error) {
	var err error
	if l.entry, err = l.in.Next(); err != nil {
		return nil, 0, err
	}
	return &l.entry, l.in.Line(), l.in.Check(&l.entry)
}

func (l *lines) allWarnings() []history.Warning {
	return l.mapper.appendWarnings(slices.Clip(l.in.Warnings()), l.name)
}

func (l *lines) assumptions() *guesses { return &l.mapper.guesses }

// translate uses our format's reading of a line if it applies, else the mapper's.
func (l *lines) translate(line []byte, e *history.Entry, given *history.Given, err error) error {
	if err == nil && !l.mapper.reading.hasLockField() && l.fits(e) {
		return nil
	}
	op, ok := l.parse(line)
	if !ok {
		return err
	}
	l.mapper.line = l.in.Line()
	again := l.mapper.entry(&op, e, given)
	if errors.Is(again, errSkip) {
		return err
	}
	return again
}

// fits reports whether e is the line's meaning in our format.
func (l *lines) fits(e *history.Entry) bool {
	if !e.Process.Client() {
		name := e.Process.Name
		return (e.Type == history.Info || e.Type == history.Event) && (name == history.Nemesis || l.mapper.clients.names[name] == nil)
	}
	register := e.F == history.Read || e.F == history.Write || e.F == history.CAS
	if e.Type != history.Event && (!history.IsOperation(e.F) || e.Value.Set && !register) {
		return false
	}
	c, err := l.mapper.clients.numberedProcess(e, e.Process.N)
	if err != nil {
		return false
	}
	l.mapper.clients.track(e, c)
	return true
}

// parse returns the line as a map.
func (l *lines) parse(line []byte) (value, bool) {
	l.bytes.Reset(line)
	l.buf.Reset(l.bytes)
	l.lexer.depth, l.lexer.used, l.lexer.wide, l.lexer.stack = 0, 0, 0, l.lexer.stack[:0]
	op, _, err := l.lexer.json()
	if err != nil || op.kind != mapping {
		return value{}, false
	}
	_, err = l.lexer.visible()
	return op, errors.Is(err, io.EOF)
}
