package history

import (
	"time"
	"unicode/utf8"
)

// plain reads a line in the format of appendEntry, with blanks wherever JSON
// allows them: an object with known keys, each at most once, strings without
// escapes, and integers of at most 18 digits. For every other line it returns
// false, and encoding/json reads it. A fuzz test checks that plain and
// encoding/json read the same entry.
func (r *Reader) plain(b []byte, e *Entry, given *Given) bool {
	s := scan{b: b}
	if !s.byte('{') {
		return false
	}
	var seen field
	for {
		key, ok := s.text()
		if !ok || !s.byte(':') {
			return false
		}
		at := fieldNamed(key)
		if at == 0 || seen&at != 0 || !r.field(&s, at, e) {
			return false
		}
		seen |= at
		if s.byte(',') {
			continue
		}
		break
	}
	if !s.byte('}') || !s.end() || seen&fieldsRequired != fieldsRequired {
		return false
	}
	*given = Given{Index: seen&fieldIndex != 0, Time: seen&fieldTime != 0}
	return true
}

// field is a key, as one bit.
type field uint32

const (
	fieldIndex field = 1 << iota
	fieldTime
	fieldClient
	fieldProcess
	fieldType
	fieldF
	fieldLock
	fieldShared
	fieldGrant
	fieldToken
	fieldValidUntil
	fieldValue
	fieldWas
	fieldError
	fieldText
	fieldKey
	fieldBy
	fieldOp
	fieldID
	fieldPoint
	fieldAmount
	fieldHits

	fieldsRequired = fieldProcess | fieldType | fieldF
	fieldsInt      = fieldIndex | fieldProcess | fieldGrant | fieldID // as wide as the machine's int
)

// fieldNamed returns 0 for a key that plain does not support, such as "on", a
// list.
func fieldNamed(key []byte) field {
	switch string(key) {
	case "index":
		return fieldIndex
	case "time":
		return fieldTime
	case "client":
		return fieldClient
	case "process":
		return fieldProcess
	case "type":
		return fieldType
	case "f":
		return fieldF
	case "lock":
		return fieldLock
	case "shared":
		return fieldShared
	case "grant":
		return fieldGrant
	case "token":
		return fieldToken
	case "valid_until":
		return fieldValidUntil
	case "value":
		return fieldValue
	case "was":
		return fieldWas
	case "error":
		return fieldError
	case "text":
		return fieldText
	case "key":
		return fieldKey
	case "by":
		return fieldBy
	case "op":
		return fieldOp
	case "id":
		return fieldID
	case "point":
		return fieldPoint
	case "amount_ns":
		return fieldAmount
	case "hits":
		return fieldHits
	default:
		return 0
	}
}

// field reads the value of a field.
func (r *Reader) field(s *scan, at field, e *Entry) bool {
	switch at {
	case fieldClient:
		return r.words(s, &e.Client)
	case fieldProcess:
		if s.blank(); s.i < len(s.b) && s.b[s.i] == '"' {
			return r.words(s, &e.Process.Name) && e.Process.Name != ""
		}
	case fieldType:
		b, ok := s.text()
		e.Type = typeNamed(b)
		return ok && e.Type != 0
	case fieldF:
		b, ok := s.text()
		if e.F = operationNamed(b); e.F == "" && len(b) > 0 {
			e.F = r.word(b)
		}
		return ok && e.F != ""
	case fieldLock:
		return r.words(s, &e.Lock)
	case fieldShared:
		return s.bool(&e.Shared)
	case fieldError:
		return r.words(s, &e.Error)
	case fieldText:
		b, ok := s.text()
		e.Text = string(b)
		return ok
	case fieldKey:
		return r.words(s, &e.Key)
	case fieldPoint:
		return r.words(s, &e.Point)
	}
	n, ok := s.integer()
	if !ok {
		return false
	}
	if at&fieldsInt != 0 && int64(int(n)) != n {
		return false
	}
	switch at {
	case fieldIndex:
		e.Index = int(n)
	case fieldTime:
		e.Time = time.Duration(n)
	case fieldProcess:
		e.Process.N = int(n)
	case fieldGrant:
		e.Grant = int(n)
		return n >= 0
	case fieldToken:
		e.Token = uint64(n)
		return n >= 0
	case fieldValidUntil:
		e.ValidUntil = time.Duration(n)
	case fieldValue:
		e.Value = Some(n)
	case fieldWas:
		e.Was = Some(n)
	case fieldBy:
		e.By = Some(n)
	case fieldOp:
		e.Op = Some(n)
	case fieldID:
		e.ID = int(n)
	case fieldAmount:
		e.Amount = time.Duration(n)
	case fieldHits:
		e.Hits = Some(n)
	}
	return true
}

func (r *Reader) words(s *scan, to *string) bool {
	b, ok := s.text()
	*to = r.word(b)
	return ok
}

func typeNamed(b []byte) Type {
	switch string(b) {
	case "invoke":
		return Invoke
	case "ok":
		return OK
	case "fail":
		return Fail
	case "info":
		return Info
	case "event":
		return Event
	default:
		return 0
	}
}

// operationNamed returns the operation of a client, or "". Most lines have one.
func operationNamed(b []byte) string {
	switch string(b) {
	case Acquire:
		return Acquire
	case Try:
		return Try
	case Release:
		return Release
	case Extend:
		return Extend
	case Read:
		return Read
	case Write:
		return Write
	default:
		return ""
	}
}

// scan reads one line of JSON.
type scan struct {
	b []byte
	i int
}

func (s *scan) blank() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

func (s *scan) end() bool {
	s.blank()
	return s.i == len(s.b)
}

// byte skips c if it is the next byte.
func (s *scan) byte(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	if s.blank(); s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// text reads a string without escapes, in UTF-8.
func (s *scan) text() ([]byte, bool) {
	if !s.byte('"') {
		return nil, false
	}
	start, wide := s.i, false
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			text := s.b[start:s.i]
			s.i++
			return text, !wide || utf8.Valid(text)
		case c == '\\' || c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			wide = true
		}
	}
	return nil, false
}

// integer reads an integer of at most 18 digits, so that it fits 64 bits.
func (s *scan) integer() (n int64, ok bool) {
	s.blank()
	negative := s.i < len(s.b) && s.b[s.i] == '-'
	if negative {
		s.i++
	}
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		n = n*10 + int64(s.b[s.i]-'0')
		s.i++
	}
	digits := s.i - start
	if digits == 0 || digits > 18 || digits > 1 && s.b[start] == '0' {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

func (s *scan) bool(to *bool) bool {
	s.blank()
	switch {
	case len(s.b)-s.i >= 4 && string(s.b[s.i:s.i+4]) == "true":
		s.i += 4
		*to = true
		return true
	case len(s.b)-s.i >= 5 && string(s.b[s.i:s.i+5]) == "false":
		s.i += 5
		return true
	}
	return false
}
