// Package formats reads and writes histories in all supported formats:
// lockcheck's JSON Lines, Jepsen's EDN, and JSON arrays of Jepsen's operations.
// Each may be compressed with gzip.
//
// Entries of every format get the meaning of package history. A history is a
// stream: only one operation at a time is in memory, and a few bytes for each
// earlier one.
package formats

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/lockcheck/lockcheck/history"
)

// A Reader reads a history entry by entry in any format.
type Reader struct {
	name   string
	format string
	source source
	header history.Header
	line   int
}

// source is a file in one format. Its entries are filled in and checked.
type source interface {
	next() (e *history.Entry, line int, err error) // e is valid until the next call
	allWarnings() []history.Warning
	assumptions() *guesses
}

const bufferSize = 64 << 10

// NewReader detects the format of r and reads the header, if there is one. The
// name is for messages. Errors are those of r, or a *history.SyntaxError.
func NewReader(r io.Reader, name string, reading Reading) (*Reader, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		zip, err := gzip.NewReader(in)
		if err != nil {
			return nil, &history.SyntaxError{Name: name, Line: 1, Err: damageError(err)}
		}
		in = bufio.NewReaderSize(unzip{zip}, bufferSize)
	}
	out := &Reader{name: name}
	var err error
	if out.format, err = detect(in, name); err != nil {
		return nil, err
	}
	if out.format == "jsonl" {
		out.source, out.header, err = newLines(in, name, reading)
	} else {
		out.source, out.header, err = newCollection(in, name, out.format, reading)
	}
	if err != nil {
		return nil, place(err, name, 1)
	}
	if out.header.Format != 0 && reading.hasLockField() {
		return nil, &history.SyntaxError{Name: name, Line: 1, Err: errors.New("the file has lockcheck's first line, so its locks are named by \"lock\": leave out --lock-from and --one-lock")}
	}
	return out, nil
}

// Header returns the file's header; its Format is 0 if the file has none.
func (r *Reader) Header() history.Header { return r.header }

// Format returns "jsonl", "edn" or "json".
func (r *Reader) Format() string { return r.format }

// Line returns the line on which the last entry begins, from 1.
func (r *Reader) Line() int { return r.line }

// Warnings returns the warnings so far.
func (r *Reader) Warnings() []history.Warning { return r.source.allWarnings() }

// Next returns the next entry, filled in and checked. At the end it returns
// io.EOF; other errors are those of the underlying reader, or a
// *history.SyntaxError. After an error the Reader cannot be used.
func (r *Reader) Next() (history.Entry, error) {
	next, line, err := r.source.next()
	if err == nil {
		r.line = line
		return *next, nil
	}
	if errors.Is(err, io.EOF) {
		if _, doubt := r.source.assumptions().doubt(r.name); doubt != nil {
			return history.Entry{}, doubt
		}
	}
	return history.Entry{}, place(err, r.name, r.line+1)
}

// detect detects the format from the beginning of a file.
func detect(in *bufio.Reader, name string) (string, error) {
	for n := 1; ; n = in.Buffered() + 1 {
		_, err := in.Peek(min(n, bufferSize))
		b, _ := in.Peek(in.Buffered())
		if err != nil && !errors.Is(err, io.EOF) {
			return "", place(fmt.Errorf("%s: %w", name, err), name, 1+bytes.Count(b, []byte{'\n'}))
		}
		whole := err != nil || n >= bufferSize
		format, sure := formatOf(b, whole)
		switch {
		case !sure && !whole:
			continue
		case format != "":
			return format, nil
		}
		what := errNoHistory
		if utf16 := string(b[:min(2, len(b))]); utf16 == "\xff\xfe" || utf16 == "\xfe\xff" {
			what = "the file is UTF-16: save it as UTF-8"
		}
		return "", &history.SyntaxError{Name: name, Line: 1, Err: errors.New(what)}
	}
}

// formatOf returns the format of a file that begins with b, or "" if it is not a
// history. sure is false if more of the file is needed; whole means that b cannot
// be extended.
func formatOf(b []byte, whole bool) (format string, sure bool) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	at := func() byte { // the next byte that is not blank, or 0 at the end of b
		for len(b) > 0 && blank(b[0]) {
			b = b[1:]
		}
		if len(b) == 0 {
			return 0
		}
		return b[0]
	}
	format = "jsonl" // also for an empty file
	if at() == '[' {
		format, b = "json", b[1:]
		if c := at(); c != '{' && c != 0 {
			return "edn", true
		}
	}
	switch c := at(); {
	case c == 0:
		return format, whole && len(b) == 0
	case c == ';', c == '(':
		return "edn", true
	case c == '#':
		if len(b) == 1 {
			return "edn", whole
		}
		if c = b[1]; c == '_' || c == ':' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			return "edn", true
		}
		return "", true
	case c != '{':
		return "", true
	}
	b = b[1:]
	switch at() {
	case 0:
		return format, whole
	case '}':
		return format, true
	case ':', ';', '#':
		return "edn", true
	case '"': // a key in JSON; EDN has no colon after it
		end := bytes.IndexByte(b[1:], '"')
		if end < 0 {
			return format, whole
		}
		b = b[end+2:]
		if c := at(); c != 0 && c != ':' {
			return "edn", true
		}
		return format, whole || len(b) > 0
	}
	return "", true
}
