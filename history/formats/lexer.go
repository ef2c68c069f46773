package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/history"
)

const (
	maxOperation = 1 << 20 // maximum bytes of an operation
	maxDepth     = 100     // maximum depth of collections and tags
	maxWords     = 1 << 13 // maximum number of short texts remembered
)

// lexer reads EDN or JSON byte by byte. It counts lines, and checks UTF-8 and the
// length and depth of operations.
type lexer struct {
	name    string
	in      *bufio.Reader
	line    int  // of the next byte, from 1
	used    int  // bytes of the operation so far
	most    int  // bytes that an operation may have
	last    byte // the byte that get returned
	wide    int  // remaining bytes of a character that was checked
	start   int  // line on which the operation begins
	depth   int  // nesting; 0 between operations
	literal bool // a colon at the beginning of a JSON string has no meaning
	scratch []byte
	stack   []value // elements of open collections
	words   map[string]string
}

func newLexer(in *bufio.Reader, name string) *lexer {
	return &lexer{name: name, in: in, line: 1, most: maxOperation, words: map[string]string{}}
}

func (l *lexer) fail(format string, args ...any) error {
	return &history.SyntaxError{Name: l.name, Line: l.line, Err: fmt.Errorf(format, args...)}
}

// get returns the next byte. Its error is io.EOF, that of r, or a
// *history.SyntaxError.
func (l *lexer) get() (byte, error) {
	b, err := l.in.ReadByte()
	if err != nil {
		return 0, l.broken(err)
	}
	if l.used++; l.used > l.most {
		return 0, l.at(l.start, "one operation is longer than %d MiB: is this a history?", maxOperation>>20)
	}
	switch {
	case l.wide > 0:
		l.wide--
	case b >= utf8.RuneSelf:
		if err := l.check(); err != nil {
			return 0, err
		}
	case b == '\n':
		l.line++
	}
	l.last = b
	return b, nil
}

func (l *lexer) broken(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if d, ok := errors.AsType[damage](err); ok {
		return l.fail("%w", d)
	}
	return fmt.Errorf("%s: %w", l.name, err)
}

// check checks a character whose first byte was just read.
func (l *lexer) check() error {
	if err := l.in.UnreadByte(); err != nil {
		return err
	}
	ahead, err := l.in.Peek(utf8.UTFMax)
	r, n := utf8.DecodeRune(ahead)
	switch {
	case r != utf8.RuneError || n > 1:
		l.wide = n - 1
	case err != nil && !utf8.FullRune(ahead): // incomplete at the end of the file
		return l.broken(err)
	default:
		return l.fail("not UTF-8: byte %#x", ahead[0])
	}
	_, err = l.in.ReadByte()
	return err
}

// unget puts back the byte that get returned last.
func (l *lexer) unget() {
	if l.in.UnreadByte() != nil {
		return // a bug: get was not called, which the fuzz test would find
	}
	l.used--
	l.wide = 0
	if l.last == '\n' {
		l.line--
	}
}

// stops returns the bytes at which run stops: those in list, and those that get
// must check.
func stops(list string) (set [256]bool) {
	for i := range len(list) {
		set[list[i]] = true
	}
	for b := utf8.RuneSelf; b < len(set); b++ {
		set[b] = true
	}
	set['\n'] = true
	return set
}

// run adds the buffer up to the next byte of stop to the scratch.
func (l *lexer) run(stop *[256]bool) {
	b, _ := l.in.Peek(l.in.Buffered())
	n := 0
	for n < len(b) && !stop[b[n]] {
		n++
	}
	if l.wide > 0 || n == 0 {
		return
	}
	l.scratch = append(l.scratch, b[:n]...)
	l.used += n
	l.in.Discard(n)
}

// cut turns the end of the file inside of an operation into an error.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// word returns the scratch as a string; short ones are stored once.
func (l *lexer) word() string {
	if len(l.scratch) > 64 {
		return string(l.scratch)
	}
	if w, ok := l.words[string(l.scratch)]; ok {
		return w
	}
	if len(l.words) >= maxWords {
		clear(l.words)
	}
	w := string(l.scratch)
	l.words[w] = w
	return w
}

// quotes are the bytes that end a part of a string without escapes.
var quotes = func() [256]bool {
	set := stops(`"\`)
	for b := range ' ' {
		set[b] = true
	}
	return set
}()

// quoted reads a string after its opening quote. EDN and JSON have the same
// escapes; only JSON forbids control characters.
func (l *lexer) quoted(strict bool) (string, error) {
	l.scratch = l.scratch[:0]
	for {
		l.run(&quotes)
		b, err := l.get()
		if err != nil {
			return "", cut(err)
		}
		switch {
		case b == '"':
			return l.word(), nil
		case b == '\\':
			if err := l.escape(); err != nil {
				return "", err
			}
		case strict && b < ' ':
			return "", l.fail("the string has a control character: write it as \\u%04x", b)
		default:
			l.scratch = append(l.scratch, b)
		}
	}
}

const (
	escapes = `tnrbf"\/'`
	escaped = "\t\n\r\b\f\"\\/'"
)

func (l *lexer) escape() error {
	b, err := l.get()
	if err != nil {
		return cut(err)
	}
	if b != 'u' {
		i := strings.IndexByte(escapes, b)
		if i < 0 {
			return l.fail("the string has the unknown escape \\%c", b)
		}
		l.scratch = append(l.scratch, escaped[i])
		return nil
	}
	r, err := l.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		for _, want := range []byte(`\u`) {
			if b, err = l.get(); err != nil {
				return cut(err)
			}
			if b != want {
				return l.fail("the string has half of a surrogate pair, \\u%04x", r)
			}
		}
		second, err := l.hex()
		if err != nil {
			return err
		}
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			r = pair
		} else {
			return l.fail("the string has half of a surrogate pair, \\u%04x", r)
		}
	}
	l.scratch = utf8.AppendRune(l.scratch, r)
	return nil
}

// hex reads the four digits after \u.
func (l *lexer) hex() (rune, error) {
	var digits [4]byte
	for i := range digits {
		b, err := l.get()
		if err != nil {
			return 0, cut(err)
		}
		digits[i] = b
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, l.fail("the string has the escape \\u%s: want four hexadecimal digits", digits[:])
	}
	return rune(n), nil
}

// enter and leave track the depth.
func (l *lexer) enter() error {
	if l.depth++; l.depth > maxDepth {
		return l.fail("nested deeper than %d", maxDepth)
	}
	return nil
}

func (l *lexer) leave() { l.depth-- }

// collect takes the elements on the stack from base on. The elements of an
// operation are valid until the next operation.
func (l *lexer) collect(k kind, base int) value {
	items := l.stack[base:]
	if l.depth > 1 {
		items = append([]value(nil), items...)
	}
	l.stack = l.stack[:base]
	return value{kind: k, items: items}
}

// nextByte returns the next byte between values. The end of the file inside of an
// operation means that it is cut off. Outside of one it restarts the length of
// the next operation.
func (l *lexer) nextByte() (byte, error) {
	b, err := l.get()
	switch {
	case err != nil && l.depth > 0:
		return 0, cut(err)
	case err != nil:
		return 0, err
	case l.depth == 0:
		l.used = 1
	}
	return b, nil
}

// at is fail for another line than the current one.
func (l *lexer) at(line int, format string, args ...any) error {
	now := l.line
	defer func() { l.line = now }()
	l.line = line
	return l.fail(format, args...)
}
