package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxLine is the maximum length of a line in bytes.
const maxLine = 1 << 20

// A SyntaxError describes a line that is not part of a history.
type SyntaxError struct {
	Name string // of the file
	Line int    // from 1
	Err  error
}

// Error returns "file:line: error".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }

// Unwrap returns the error without file and line.
func (e *SyntaxError) Unwrap() error { return e.Err }

// A Warning describes a problem in a file that does not prevent reading it.
type Warning struct {
	Name string // of the file
	Line int    // from 1
	Text string
}

// String returns "file:line: text".
func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s", w.Name, w.Line, w.Text) }

// Decode reads a whole history and checks it (see Check). The name is for
// messages. A last line that a crash has cut off gives a warning. Errors are
// those of r, or a *SyntaxError with the line.
func Decode(r io.Reader, name string) (*History, []Warning, error) {
	in, err := NewReader(r, name)
	if err != nil {
		return nil, nil, err
	}
	h := &History{Header: in.Header()}
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return h, in.Warnings(), nil
		}
		if err != nil {
			return nil, in.Warnings(), err
		}
		if err := in.seq.Check(&e); err != nil {
			return nil, in.Warnings(), in.fail(err)
		}
		h.Add(e)
	}
}

// A Reader reads a history entry by entry, and fills in fields that a recorder
// may omit:
//
//   - index: one more than the line before; the first is 1;
//   - time: that of the line before;
//   - client: the process's client so far, else the process's number;
//   - lock and grant of a completion: those of its invoke;
//   - grant of an acquire's ok: a new number, which no acquire has named so far;
//   - grant of another operation, and of a client's event: the innermost grant of that
//     lock that its process has and is not releasing. After a failed release the process
//     still has the grant. A loss, or an extend without an ok, of a process with several
//     grants gets none, nor does a loss while its process releases. A client that goes
//     on after an info has the grants of its earlier process. Where one process of a
//     client has released a grant that it may not have got itself, and named none, the
//     client's other processes get none either.
//
// It does not check that the entries are consistent; Check and Decode do.
type Reader struct {
	name      string
	in        *bufio.Reader
	line      int    // of the last line read
	long      []byte // a line longer than in's buffer
	first     []byte // a first line that was not a header
	header    Header
	warnings  []Warning
	names     map[string]string // one copy of each text
	translate func(line []byte, e *Entry, given *Given, err error) error
	entry     Entry // for translate
	given     Given
	seq       Sequence
}

// NewReader reads the first line of r. A history without a header gets the zero
// Header. The name is for messages. Errors are those of r, or a *SyntaxError.
func NewReader(r io.Reader, name string) (*Reader, error) {
	in := &Reader{name: name, in: bufio.NewReaderSize(r, 64<<10), names: map[string]string{}}
	b, err := in.next()
	if errors.Is(err, io.EOF) {
		return in, nil
	}
	if err != nil {
		return nil, err
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var probe struct {
		Lockcheck json.RawMessage `json:"lockcheck"`
	}
	if json.Unmarshal(b, &probe) != nil || probe.Lockcheck == nil {
		in.first = bytes.Clone(b)
		return in, nil
	}
	if err := wellFormed(b); err != nil {
		return nil, in.fail(err)
	}
	if err := json.Unmarshal(b, &in.header); err != nil {
		return nil, in.fail(explain(err))
	}
	if err := in.header.check(); err != nil {
		return nil, in.fail(err)
	}
	return in, nil
}

// Header returns the file's header; its Format is 0 if the file has none.
func (r *Reader) Header() Header { return r.header }

// Line returns the number of the last line that Next has read, from 1.
func (r *Reader) Line() int { return r.line }

// Warnings returns the warnings so far.
func (r *Reader) Warnings() []Warning { return r.warnings }

// Translate makes Next pass every line to f before fields are filled in: the
// line, its entry in this format (e and given), or the error. f may replace the
// entry; its error is the result.
func (r *Reader) Translate(f func(line []byte, e *Entry, given *Given, err error) error) {
	r.translate = f
}

// Check checks that an entry from Next can follow the checked entries before it;
// see the function Check. Its error is a *SyntaxError.
func (r *Reader) Check(e *Entry) error {
	if err := r.seq.Check(e); err != nil {
		return r.fail(err)
	}
	return nil
}

// Next returns the next entry. At the end it returns io.EOF; other errors are
// those of the underlying reader, or a *SyntaxError. After an error the Reader
// cannot be used.
func (r *Reader) Next() (e Entry, err error) {
	b := r.first
	r.first = nil
	if b == nil {
		if b, err = r.next(); err != nil {
			return Entry{}, err
		}
	}
	var given Given
	if !r.plain(b, &e, &given) {
		e, given, err = r.parse(b)
	}
	if r.translate != nil { // copies, because arguments of a function value escape to the heap
		r.entry, r.given = e, given
		err = r.translate(b, &r.entry, &r.given, err)
		e, given = r.entry, r.given
	}
	if err != nil {
		if cut := b[len(b)-1] != '\n' && !json.Valid(b); cut && r.line > 1 {
			r.warnings = append(r.warnings, Warning{r.name, r.line, "the last line is cut off and ignored"})
			return Entry{}, io.EOF
		} else if cut && endsEarly(b) {
			err = errors.New("the file is cut off in its first line")
		}
		return Entry{}, r.fail(err)
	}
	if err := r.seq.Fill(&e, given); err != nil {
		return Entry{}, r.fail(err)
	}
	return e, nil
}

// endsEarly reports whether b is the beginning of valid JSON.
func endsEarly(b []byte) bool {
	err := json.NewDecoder(bytes.NewReader(b)).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// next returns the next line that is not blank, with its newline. A line without
// a newline was cut off.
func (r *Reader) next() ([]byte, error) {
	for {
		b, err := r.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			b, err = r.rest(b)
		}
		if len(b) > maxLine {
			r.line++
			return nil, r.fail(fmt.Errorf("the line is longer than %d MiB: is this a history?", maxLine>>20))
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		if len(b) > 0 {
			r.line++
			if b[0] == '{' || len(bytes.TrimSpace(b)) > 0 {
				return b, nil
			}
		}
		if err != nil {
			return nil, io.EOF
		}
	}
}

// rest returns a line that begins with b and is longer than the buffer, up to
// maxLine.
func (r *Reader) rest(b []byte) ([]byte, error) {
	r.long = append(r.long[:0], b...)
	for {
		b, err := r.in.ReadSlice('\n')
		r.long = append(r.long, b...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(r.long) > maxLine {
			return r.long, err
		}
	}
}

func (r *Reader) fail(err error) error { return &SyntaxError{r.name, r.line, err} }

// jsonEntry is a line as JSON; pointers mark fields whose absence matters.
type jsonEntry struct {
	Index      *int     `json:"index"`
	Time       *int64   `json:"time"`
	Client     string   `json:"client"`
	Process    *process `json:"process"`
	Type       string   `json:"type"`
	F          string   `json:"f"`
	Lock       string   `json:"lock"`
	Shared     bool     `json:"shared"`
	Grant      int      `json:"grant"`
	Token      token    `json:"token"`
	ValidUntil int64    `json:"valid_until"`
	Value      *int64   `json:"value"`
	Was        *int64   `json:"was"`
	Error      string   `json:"error"`
	Text       string   `json:"text"`
	Key        string   `json:"key"`
	By         *int64   `json:"by"`
	Op         *int64   `json:"op"`
	ID         int      `json:"id"`
	On         []string `json:"on"`
	Point      string   `json:"point"`
	AmountNS   int64    `json:"amount_ns"`
	Hits       *int64   `json:"hits"`
}

// parse reads any line.
func (r *Reader) parse(b []byte) (Entry, Given, error) {
	if err := wellFormed(b); err != nil {
		return Entry{}, Given{}, err
	}
	var j jsonEntry
	if err := json.Unmarshal(b, &j); err != nil {
		return Entry{}, Given{}, explain(err)
	}
	t := parseType(j.Type)
	switch {
	case j.Type == "":
		return Entry{}, Given{}, errors.New(`"type" is missing`)
	case t == 0:
		return Entry{}, Given{}, fmt.Errorf(`"type" is %q: want invoke, ok, fail, info or event`, j.Type)
	case j.F == "":
		return Entry{}, Given{}, errors.New(`"f" is missing`)
	case j.Process == nil:
		return Entry{}, Given{}, errors.New(`"process" is missing`)
	case j.Grant < 0:
		return Entry{}, Given{}, fmt.Errorf(`"grant" is %d: grants are counted from 1`, j.Grant)
	}
	e := Entry{
		Client:     r.same(j.Client),
		Process:    Process{N: j.Process.N, Name: r.same(j.Process.Name)},
		Type:       t,
		F:          r.same(j.F),
		Lock:       r.same(j.Lock),
		Shared:     j.Shared,
		Grant:      j.Grant,
		Token:      uint64(j.Token),
		ValidUntil: time.Duration(j.ValidUntil),
		Value:      opt(j.Value),
		Was:        opt(j.Was),
		Error:      r.same(j.Error),
		Text:       j.Text,
		Key:        r.same(j.Key),
		By:         opt(j.By),
		Op:         opt(j.Op),
		ID:         j.ID,
		On:         j.On,
		Point:      j.Point,
		Amount:     time.Duration(j.AmountNS),
		Hits:       opt(j.Hits),
	}
	if len(e.On) == 0 {
		e.On = nil
	}
	if j.Index != nil {
		e.Index = *j.Index
	}
	if j.Time != nil {
		e.Time = time.Duration(*j.Time)
	}
	return e, Given{Index: j.Index != nil, Time: j.Time != nil}, nil
}

// wellFormed returns an error for bytes that encoding/json would replace by
// U+FFFD.
func wellFormed(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	at := 0
	for {
		if r, n := utf8.DecodeRune(b[at:]); r != utf8.RuneError || n > 1 {
			at += n
			continue
		}
		return fmt.Errorf("not UTF-8: byte %#x at column %d", b[at], at+1)
	}
}

// maxWords limits the number of texts that a Reader remembers, so that a file
// with new texts in every line does not need more memory.
const maxWords = 1 << 13

// word returns b as a string that is stored once: a long history repeats few
// words.
func (r *Reader) word(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if w, ok := r.names[string(b)]; ok {
		return w
	}
	return r.remember(string(b))
}

// same returns s, stored once.
func (r *Reader) same(s string) string {
	if w, ok := r.names[s]; ok || s == "" {
		return w
	}
	return r.remember(s)
}

func (r *Reader) remember(s string) string {
	if len(r.names) >= maxWords {
		clear(r.names)
	}
	r.names[s] = s
	return s
}

func opt(v *int64) Opt {
	if v == nil {
		return Opt{}
	}
	return Some(*v)
}

// process is a number or a name.
type process Process

func (p *process) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &p.Name); err != nil {
			return err
		}
		if p.Name == "" {
			return errors.New(`"process" is empty`)
		}
		return nil
	}
	n, err := strconv.Atoi(string(b))
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf(`"process" is %s: it does not fit 64 bits`, b)
	}
	if err != nil {
		return fmt.Errorf(`"process" is %s: want an integer or a name`, b)
	}
	p.N = n
	return nil
}

// token is an integer up to 2^63-1, or a string with one: not every language's
// JSON can hold such numbers.
type token uint64

func (t *token) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf(`"token" is %s: want an integer from 0 to 2^63-1`, b)
	}
	*t = token(n)
	return nil
}

// explain translates an error of encoding/json to the terms of the file.
func explain(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if e.Field == "" {
			return fmt.Errorf("want a JSON object, got %s", e.Value)
		}
		return fmt.Errorf("%q: want %s, got %s", e.Field, kindWord(e.Type.Kind()), e.Value)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not JSON: %w", err)
	}
	return err
}

func kindWord(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	default:
		return "an integer"
	}
}
