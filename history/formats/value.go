package formats

import (
	"strconv"
	"strings"
)

// value is what EDN or JSON says, as far as a history needs it: tags are gone,
// lists are vectors.
type value struct {
	kind  kind
	text  string  // of strings and words; of numbers that are no integers, as they are written
	n     int64   // of integers; 1 of true
	items []value // of vectors and sets; of maps keys and values by turns
}

type kind uint8

const (
	null kind = iota
	boolean
	integer
	number // that is no 64-bit integer: a float, a ratio, a large one
	text
	keyword // text is without its colon
	symbol
	char
	vector
	set
	mapping
)

// String is the value as EDN writes it.
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

// word is the text of a keyword, a string or a symbol.
func (v *value) word() (string, bool) {
	return v.text, v.kind == keyword || v.kind == text || v.kind == symbol
}

// name is a word or an integer, as text: how a lock, a client or a node may be
// called.
func (v *value) name() (string, bool) {
	if v.kind == integer {
		return strconv.FormatInt(v.n, 10), true
	}
	return v.word()
}

// local is the word without the namespace that a keyword may have.
func (v *value) local() (string, bool) {
	w, ok := v.word()
	if i := strings.LastIndexByte(w, '/'); v.kind != text && i >= 0 && i < len(w)-1 {
		w = w[i+1:]
	}
	return w, ok
}

// get is the value of a map's key, or nil. Names of keys that consist of words
// are spelled with a hyphen.
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

// short is the value as a message shows it.
func (v *value) short() string {
	s := v.String()
	const limit = 40
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xc0 == 0x80 { // not in the middle of a letter
		cut--
	}
	return s[:cut] + "…"
}
