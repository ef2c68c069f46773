package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// A Writer writes a history in one of the formats, entry by entry. Only one
// goroutine at a time may use it.
type Writer struct {
	out   *bufio.Writer
	lines *history.Writer // for JSON Lines
	buf   []byte
	begun bool // for EDN: the next entry is not the first
}

// NewWriter writes the header, unless its Format is 0, and returns a Writer for
// the entries. format is "edn" or "jsonl"; others are an error. Other errors are
// those of w.
func NewWriter(w io.Writer, format string, header history.Header) (*Writer, error) {
	out := &Writer{out: bufio.NewWriterSize(w, 64<<10)}
	bare := header.Format == 0
	switch {
	case format == "jsonl" && bare:
		out.lines = history.NewBareWriter(out.out)
		return out, nil
	case format == "jsonl":
		var err error
		out.lines, err = history.NewWriter(out.out, header)
		return out, err
	case format == "edn" && bare:
		return out, out.out.WriteByte('[')
	case format == "edn":
		return out, out.header(header)
	default:
		return nil, fmt.Errorf("no format %q: want edn or jsonl", format)
	}
}

// Append writes one entry. It returns the error of the underlying writer, or an
// error for an entry that a history cannot express (see history.Writer.Append).
func (w *Writer) Append(e history.Entry) error {
	if w.lines != nil {
		return w.lines.Append(e)
	}
	if e.Token > math.MaxInt64 {
		return fmt.Errorf("history: entry %d: token %d is larger than 2^63-1", e.Index, e.Token)
	}
	if e.Type.String() == "?" {
		return fmt.Errorf("history: entry %d: unknown type %d", e.Index, e.Type)
	}
	w.buf = w.buf[:0]
	if w.begun {
		w.buf = append(w.buf, '\n', ' ')
	}
	w.buf, w.begun = appendEntry(w.buf, &e), true
	_, err := w.out.Write(w.buf)
	return err
}

// Close ends the history and flushes it. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.lines == nil {
		if _, err := w.out.WriteString("]\n"); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

// header writes the first line of JSON Lines as a map.
func (w *Writer) header(header history.Header) error {
	var line bytes.Buffer
	if _, err := history.NewWriter(&line, header); err != nil {
		return err
	}
	l := newLexer(bufio.NewReader(&line), "header")
	l.literal = true
	v, _, err := l.json()
	if err != nil {
		return err
	}
	for i := 0; i < len(v.items); i += 2 {
		v.items[i] = value{kind: keyword, text: strings.ReplaceAll(v.items[i].text, "_", "-")}
	}
	w.begun = true
	_, err = w.out.Write(v.append([]byte{'['}))
	return err
}

// isHeader reports whether v is a header instead of an operation.
func isHeader(v *value) bool { return v.get("lockcheck") != nil }

// readHeader is the inverse of Writer.header: it returns the header in v as our format reads it.
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

// appendEntry writes the fields in the order of JSON Lines.
func appendEntry(b []byte, e *history.Entry) []byte {
	b = append(b, "{:index "...)
	b = strconv.AppendInt(b, int64(e.Index), 10)
	b = append(b, ", :time "...)
	b = strconv.AppendInt(b, int64(e.Time), 10)
	b = appendText(b, keyClient, e.Client)
	switch {
	case e.Process.Client():
		b = appendInt(b, keyProcess, int64(e.Process.N))
	case e.Process.Name == history.Nemesis:
		b = appendWord(b, keyProcess, e.Process.Name)
	default:
		b = appendText(b, keyProcess, e.Process.Name)
	}
	b = appendWord(b, keyType, e.Type.String())
	b = appendWord(b, keyF, e.F)
	b = appendText(b, keyLock, e.Lock)
	if e.Shared {
		b = append(appendKey(b, keyShared), "true"...)
	}
	b = appendNonzero(b, keyGrant, int64(e.Grant))
	b = appendNonzero(b, keyToken, int64(e.Token))
	b = appendNonzero(b, keyValidUntil, int64(e.ValidUntil))
	if e.F == history.CAS && e.Process.Client() && e.Value.Set && !e.Was.Set { // a number alone would be an error
		b = append(appendKey(b, keyValue), "[nil "...)
		b = append(strconv.AppendInt(b, e.Value.V, 10), ']')
	} else {
		b = appendOpt(b, keyValue, e.Value)
		b = appendOpt(b, keyWas, e.Was)
	}
	if e.Error != "" {
		b = appendWord(b, keyError, e.Error)
	}
	b = appendText(b, keyText, e.Text)
	b = appendText(b, keyKey, e.Key)
	b = appendOpt(b, keyBy, e.By)
	b = appendOpt(b, keyOp, e.Op)
	b = appendNonzero(b, keyID, int64(e.ID))
	if len(e.On) > 0 {
		b = append(appendKey(b, keyOn), '[')
		for i, name := range e.On {
			if i > 0 {
				b = append(b, ' ')
			}
			b = appendString(b, name)
		}
		b = append(b, ']')
	}
	b = appendText(b, keyPoint, e.Point)
	b = appendNonzero(b, keyAmount, int64(e.Amount))
	b = appendOpt(b, keyHits, e.Hits)
	return append(b, '}')
}

func appendKey(b []byte, k key) []byte {
	b = append(b, ", :"...)
	b = append(b, keyNames[k]...)
	return append(b, ' ')
}

func appendInt(b []byte, k key, n int64) []byte { return strconv.AppendInt(appendKey(b, k), n, 10) }

func appendNonzero(b []byte, k key, n int64) []byte {
	if n == 0 {
		return b
	}
	return appendInt(b, k, n)
}

func appendOpt(b []byte, k key, v history.Opt) []byte {
	if !v.Set {
		return b
	}
	return appendInt(b, k, v.V)
}

func appendText(b []byte, k key, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(appendKey(b, k), s)
}

// appendWord writes a keyword, or a string if EDN has no keyword for it.
func appendWord(b []byte, k key, s string) []byte {
	b = appendKey(b, k)
	if isPlainWord(s) {
		return append(append(b, ':'), s...)
	}
	return appendString(b, s)
}
