package formats

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// edn returns the next form, or the closing bracket in its place. The error is
// io.EOF at the end, and io.ErrUnexpectedEOF at an end inside of a form.
func (l *lexer) edn() (v value, closer byte, err error) {
	for {
		b, err := l.significant()
		if err != nil {
			return v, 0, err
		}
		if l.depth == 0 {
			l.start = l.line
		}
		switch b {
		case ')', ']', '}':
			return v, b, nil
		case '(':
			v, err = l.collection(vector, ')')
		case '[':
			v, err = l.collection(vector, ']')
		case '{':
			v, err = l.collection(mapping, '}')
		case '"':
			v.kind = text
			v.text, err = l.quoted(false)
		case '\\':
			v, err = l.char()
		case '#':
			var discarded bool
			if v, discarded, err = l.dispatch(); discarded && err == nil {
				v = value{}
				continue
			}
		default:
			l.unget()
			v, err = l.atom()
		}
		return v, 0, err
	}
}

// significant returns the next byte outside of blanks and comments.
func (l *lexer) significant() (byte, error) {
	comment := false
	for {
		b, err := l.nextByte()
		if err != nil {
			return 0, err
		}
		switch {
		case b == '\n':
			comment = false
		case comment || blank(b):
		case b == ';':
			comment = true
		default:
			return b, nil
		}
	}
}

func (l *lexer) collection(k kind, closer byte) (value, error) {
	if err := l.enter(); err != nil {
		return value{}, err
	}
	defer l.leave()
	base := len(l.stack)
	for {
		v, found, err := l.edn()
		switch {
		case err != nil:
			return v, err
		case found == 0:
			l.stack = append(l.stack, v)
			continue
		case found != closer:
			return v, l.fail("unexpected %c: want %c first", found, closer)
		case k == mapping && (len(l.stack)-base)%2 != 0:
			return v, l.fail("the map that ends here has a key without a value")
		}
		return l.collect(k, base), nil
	}
}

// dispatch reads a form after #: a set, a discarded form, or a tagged form, whose
// tag is ignored.
func (l *lexer) dispatch() (v value, discarded bool, err error) {
	b, err := l.get()
	if err != nil {
		return v, false, cut(err)
	}
	if b == '{' {
		v, err = l.collection(set, '}')
		return v, false, err
	}
	if err := l.enter(); err != nil {
		return v, false, err
	}
	defer l.leave()
	switch {
	case b == '#': // ##Inf, ##NaN
		v, err = l.atom()
		v.kind = number
		return v, false, err
	case b != '_' && b != ':' && (b|0x20 < 'a' || b|0x20 > 'z'):
		return v, false, l.fail("unexpected #%c", b)
	case b != '_':
		l.unget()
		if _, err := l.atom(); err != nil {
			return v, false, err
		}
	}
	v, closer, err := l.edn()
	if err == nil && closer != 0 {
		err = l.fail("unexpected %c: want a form after # first", closer)
	}
	return v, b == '_', err
}

// delimiters end a token.
var delimiters = stops("\t\n\v\f\r ,()[]{}\";")

// token reads to the next delimiter into the scratch.
func (l *lexer) token() error {
	for {
		l.run(&delimiters)
		b, err := l.get()
		if err != nil {
			// In an open collection it may be half of a word.
			if len(l.scratch) > 0 && l.depth == 0 && errors.Is(err, io.EOF) {
				return nil
			}
			return cut(err)
		}
		if b < utf8.RuneSelf && delimiters[b] {
			l.unget()
			return nil
		}
		l.scratch = append(l.scratch, b)
	}
}

// char reads a character after its backslash.
func (l *lexer) char() (value, error) {
	b, err := l.get()
	if err != nil {
		return value{}, cut(err)
	}
	l.scratch = append(l.scratch[:0], b)
	if err := l.token(); err != nil {
		return value{}, err
	}
	return value{kind: char, text: l.word()}, nil
}

// atom reads a keyword, a number or a symbol.
func (l *lexer) atom() (value, error) {
	l.scratch = l.scratch[:0]
	if err := l.token(); err != nil {
		return value{}, err
	}
	s := l.scratch
	if len(s) == 0 {
		return value{}, l.fail("want a word after #")
	}
	switch {
	case s[0] == ':':
		l.scratch = s[1:]
		v := value{kind: keyword, text: l.word()}
		l.scratch = s
		if v.text == "" || v.text[0] == ':' {
			return v, l.fail("the keyword %s has no name", s)
		}
		return v, nil
	case digit(s[0]), len(s) > 1 && (s[0] == '-' || s[0] == '+') && digit(s[1]):
		return l.number()
	case s[0] < utf8.RuneSelf && (s[0] < '!' || strings.IndexByte("@^`~'\x7f", s[0]) >= 0):
		return value{}, l.fail("unexpected %q", rune(s[0]))
	}
	switch w := l.word(); w {
	case "nil":
		return value{}, nil
	case "true", "false":
		return truth(w == "true"), nil
	default:
		return value{kind: symbol, text: w}, nil
	}
}

// number parses the number in the scratch: an integer (with N at its end of any
// size), a ratio, or a float (with M at its end a decimal).
func (l *lexer) number() (value, error) {
	s := l.scratch
	digits := s
	if last := len(s) - 1; s[last] == 'N' || s[last] == 'M' {
		digits = s[:last]
	}
	if s[len(s)-1] != 'M' {
		if n, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
			return value{kind: integer, n: n}, nil
		}
	}
	whole, part, ratio := strings.Cut(string(digits), "/")
	if ratio && integral(whole) && part != "" && digit(part[0]) && integral(part) {
		return value{kind: number, text: l.word()}, nil
	}
	if strings.Trim(string(digits), "+-.0123456789eE") == "" && s[len(s)-1] != 'N' || integral(string(digits)) {
		if _, err := strconv.ParseFloat(string(digits), 64); err == nil || isRange(err) {
			return value{kind: number, text: l.word()}, nil
		}
	}
	return value{}, l.fail("%.40q is not a number", s)
}
