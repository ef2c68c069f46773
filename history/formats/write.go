package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// A Writer writes a history in one of the formats, entry by entry. Only one
// goroutine at a time may use it.
type Writer struct {
	out   *bufio.Writer
	lines *history.Writer // writes JSON Lines: to out, or for EDN to json
	json  bytes.Buffer
	lexer *lexer // of json; nil: the format is JSON Lines
	buf   []byte
	begun bool // for EDN: the next map is not the first
}

// NewWriter writes the header, unless its Format is 0, and returns a Writer for
// the entries. format is "edn" or "jsonl"; others are an error. Other errors are
// those of w.
func NewWriter(w io.Writer, format string, header history.Header) (*Writer, error) {
	out := &Writer{out: bufio.NewWriterSize(w, 64<<10)}
	var lines io.Writer = out.out
	switch format {
	case "jsonl":
	case "edn":
		out.out.WriteByte('[')
		lines, out.lexer = &out.json, newLexer(bufio.NewReader(&out.json), "")
		out.lexer.literal, out.lexer.most = true, math.MaxInt
	default:
		return nil, fmt.Errorf("no format %q: want edn or jsonl", format)
	}
	if header.Format == 0 {
		out.lines = history.NewBareWriter(lines)
		return out, nil
	}
	var err error
	if out.lines, err = history.NewWriter(lines, header); err != nil || out.lexer == nil {
		return out, err
	}
	return out, out.edn(&history.Entry{})
}

// Append writes one entry. It returns the error of the underlying writer, or an
// error for an entry that a history cannot express (see history.Writer.Append).
func (w *Writer) Append(e history.Entry) error {
	if err := w.lines.Append(e); err != nil || w.lexer == nil {
		return err
	}
	return w.edn(&e)
}

// Close ends the history and flushes it. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.lexer != nil {
		if _, err := w.out.WriteString("]\n"); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

// edn writes the line in json, the header or e, as a map. So only JSON Lines know the
// fields and their order.
func (w *Writer) edn(e *history.Entry) error {
	m, _, err := w.lexer.json()
	if err != nil {
		return err
	}
	for i := 0; i < len(m.items); i += 2 {
		name, v := m.items[i].text, &m.items[i+1]
		m.items[i] = value{kind: keyword, text: strings.ReplaceAll(name, "_", "-")}
		switch {
		case name == "value" && e.F == history.CAS && e.Process.Client() && !e.Was.Set: // a number alone would be an error
			*v = value{kind: vector, items: []value{{}, *v}}
		case name == "type", name == "f", name == "error", name == "process" && v.text == history.Nemesis:
			if isPlainWord(v.text) {
				v.kind = keyword
			}
		}
	}
	if w.buf = w.buf[:0]; w.begun {
		w.buf = append(w.buf, "\n "...)
	}
	w.buf, w.begun = m.append(w.buf), true
	_, err = w.out.Write(w.buf)
	return err
}

// isHeader reports whether v is a header instead of an operation.
func isHeader(v *value) bool { return v.get("lockcheck") != nil }

// readHeader is the inverse of Writer.edn: it returns the header in v as our format reads it.
// In JSON a word with a colon at its beginning was a string.
func readHeader(v *value, json bool) (history.Header, error) {
	b := []byte{'{'}
	for i := 0; i+1 < len(v.items); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := v.items[i].local()
		b = appendString(b, strings.ReplaceAll(name, "-", "_"))
		b = v.items[i+1].json(append(b, ':'), json)
	}
	in, err := history.NewReader(bytes.NewReader(append(b, '}')), "")
	if err != nil {
		return history.Header{}, withoutPlace(err)
	}
	return in.Header(), nil
}
