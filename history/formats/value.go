package formats

import (
	"strconv"
	"strings"
)

// value is a value in EDN or JSON. Tags are dropped, and lists are vectors.
type value struct {
	kind  kind
	text  string  // of strings and words; of numbers that are not integers, as written
	n     int64   // of integers; 1 of true
	items []value // of vectors and sets; of maps, alternating keys and values
}

type kind uint8

const (
	null kind = iota
	boolean
	integer
	number // not a 64-bit integer: a float, a ratio, or a larger one
	text
	keyword // text is without its colon
	symbol
	char
	vector
	set
	mapping
)

// String returns the value as EDN.
func (v value) String() string { return string(v.append(nil)) }

func (v value) append(b []byte) []byte {
	switch v.kind {
	case null:
		return append(b, "nil"...)
	case boolean:
		return strconv.AppendBool(b, v.n != 0)
	case integer:
		return strconv.AppendInt(b, v.n, 10)
	case text:
		return appendString(b, v.text)
	case keyword:
		return append(append(b, ':'), v.text...)
	case char:
		return append(append(b, '\\'), v.text...)
	case vector:
		return v.list(append(b, '['), ']')
	case set:
		return v.list(append(b, "#{"...), '}')
	case mapping:
		return v.list(append(b, '{'), '}')
	default:
		return append(b, v.text...)
	}
}

// list appends the items, with a comma after each pair of a map.
func (v value) list(b []byte, closer byte) []byte {
	for i, item := range v.items {
		if i > 0 && v.kind == mapping && i%2 == 0 {
			b = append(b, ',')
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = item.append(b)
	}
	return append(b, closer)
}

// pair returns the elements of a vector of two, and nil for any other value.
func (v *value) pair() (first, second *value) {
	if v == nil || v.kind != vector || len(v.items) != 2 {
		return nil, nil
	}
	return &v.items[0], &v.items[1]
}

// plain returns a string without quotes, and any other value as EDN.
func (v *value) plain() string {
	if v.kind == text {
		return v.text
	}
	return v.String()
}

// word returns the text of a keyword, a string or a symbol.
func (v *value) word() (string, bool) {
	return v.text, v.kind == keyword || v.kind == text || v.kind == symbol
}

// name returns a word or an integer as text, for the name of a lock, a client or
// a node.
func (v *value) name() (string, bool) {
	if v.kind == integer {
		return strconv.FormatInt(v.n, 10), true
	}
	return v.word()
}

// local returns the word without a keyword's namespace.
func (v *value) local() (string, bool) {
	w, ok := v.word()
	if v.kind == text {
		return w, ok
	}
	if i := strings.LastIndexByte(w, '/'); i >= 0 && i < len(w)-1 {
		w = w[i+1:]
	}
	return w, ok
}

// get returns the value of a map's key, or nil. Key names of several words have
// hyphens.
func (v *value) get(keys ...string) *value {
	for i := 0; i+1 < len(v.items); i += 2 {
		w, _ := v.items[i].local()
		for _, key := range keys {
			if w == key {
				return &v.items[i+1]
			}
		}
	}
	return nil
}

// short returns the value for a message.
func (v *value) short() string {
	s := v.String()
	const limit = 40
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xc0 == 0x80 { // not inside of a character
		cut--
	}
	return s[:cut] + "…"
}

func truth(yes bool) value {
	if yes {
		return value{kind: boolean, n: 1}
	}
	return value{kind: boolean}
}

// json appends the value as JSON, for headers, with or without the colons of
// keywords.
func (v *value) json(b []byte, colons bool) []byte {
	switch v.kind {
	case null:
		return append(b, "null"...)
	case boolean, integer:
		return v.append(b)
	case number:
		if integral(strings.TrimRight(v.text, "N")) {
			return append(b, strings.TrimLeft(strings.TrimRight(v.text, "N"), "+")...)
		}
	case vector:
		b = append(b, '[')
		for i := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.items[i].json(b, colons)
		}
		return append(b, ']')
	case keyword:
		if colons {
			return appendString(b, ":"+v.text)
		}
		return appendString(b, v.text)
	case symbol, text:
		return appendString(b, v.text)
	}
	return appendString(b, v.String())
}
