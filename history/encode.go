package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// writeSize is how many bytes Encode gathers for one write.
const writeSize = 64 << 10

// Encode writes h as a file: the header, then one line for each entry. The same
// history always gives the same bytes. The header's Format is always this
// package's. Errors are those of w, and those of entries that the format cannot
// express (see Writer.Append). After an error the file is incomplete.
func Encode(w io.Writer, h *History) error {
	buf, err := appendHeader(nil, h.Header)
	if err != nil {
		return err
	}
	for i := range h.Entries {
		if buf, err = appendEntry(buf, &h.Entries[i]); err != nil {
			return err
		}
		if len(buf) >= writeSize {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err = w.Write(buf)
	return err
}

// A Writer writes a history during its run. Append makes one call of the
// underlying Write for each line before it returns, so a crash loses no appended
// line. Only one goroutine at a time may use it.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter writes the header and returns a Writer for the entries. Errors are
// those of w.
func NewWriter(w io.Writer, header Header) (*Writer, error) {
	buf, err := appendHeader(nil, header)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(buf)
	return &Writer{w: w, buf: buf}, err
}

// NewBareWriter returns a Writer for a history without a header.
func NewBareWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Append writes one entry. It returns the error of the underlying Write. If the
// format cannot express the entry, it returns an error and writes nothing: a
// token above 2^63-1, or an unknown Type.
func (w *Writer) Append(e Entry) error {
	buf, err := appendEntry(w.buf[:0], &e)
	if err != nil {
		return err
	}
	w.buf = buf
	_, err = w.w.Write(buf)
	return err
}

func appendHeader(b []byte, h Header) ([]byte, error) {
	h.Format = Format
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return nil, fmt.Errorf("history: header: %w", err)
	}
	return append(b, line.Bytes()...), nil
}

// appendEntry writes the fields in the order of the format. It does not use a
// library: the simulator writes many histories, and the same history must give
// the same bytes with any version of the library.
func appendEntry(b []byte, e *Entry) ([]byte, error) {
	if e.Token > math.MaxInt64 {
		return nil, fmt.Errorf("history: entry %d: token %d is larger than 2^63-1", e.Index, e.Token)
	}
	if e.Type == 0 || int(e.Type) >= len(typeNames) {
		return nil, fmt.Errorf("history: entry %d: unknown type %d", e.Index, e.Type)
	}
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(e.Index), 10)
	b = append(b, `,"time":`...)
	b = strconv.AppendInt(b, int64(e.Time), 10)
	b = appendText(b, "client", e.Client)
	if e.Process.Client() {
		b = appendInt(b, "process", int64(e.Process.N))
	} else {
		b = appendText(b, "process", e.Process.Name)
	}
	b = appendText(b, "type", e.Type.String())
	b = append(b, `,"f":`...)
	b = appendString(b, e.F)
	b = appendText(b, "lock", e.Lock)
	if e.Shared {
		b = append(b, `,"shared":true`...)
	}
	b = appendNonzero(b, "grant", int64(e.Grant))
	b = appendNonzero(b, "token", int64(e.Token))
	b = appendNonzero(b, "valid_until", int64(e.ValidUntil))
	b = appendOpt(b, "value", e.Value)
	b = appendOpt(b, "was", e.Was)
	b = appendText(b, "error", e.Error)
	b = appendText(b, "text", e.Text)
	b = appendText(b, "key", e.Key)
	b = appendOpt(b, "by", e.By)
	b = appendOpt(b, "op", e.Op)
	b = appendNonzero(b, "id", int64(e.ID))
	b = appendList(b, "on", e.On)
	b = appendText(b, "point", e.Point)
	b = appendNonzero(b, "amount_ns", int64(e.Amount))
	b = appendOpt(b, "hits", e.Hits)
	return append(b, '}', '\n'), nil
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendInt(b []byte, name string, v int64) []byte {
	return strconv.AppendInt(appendName(b, name), v, 10)
}

func appendNonzero(b []byte, name string, v int64) []byte {
	if v == 0 {
		return b
	}
	return appendInt(b, name, v)
}

func appendOpt(b []byte, name string, v Opt) []byte {
	if !v.Set {
		return b
	}
	return appendInt(b, name, v.V)
}

func appendText(b []byte, name, v string) []byte {
	if v == "" {
		return b
	}
	return appendString(appendName(b, name), v)
}

func appendList(b []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(appendName(b, name), '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, v)
	}
	return append(b, ']')
}

// appendString quotes s. Invalid UTF-8 becomes U+FFFD, because JSON cannot
// represent it.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c < ' ':
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		b = utf8.AppendRune(b, r)
		i += n
	}
	return append(b, '"')
}
