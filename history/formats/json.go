package formats

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

// json returns the next value, or the closing bracket or comma in its place.
// Errors are like those of edn.
func (l *lexer) json() (v value, closer byte, err error) {
	b, err := l.visible()
	if err != nil {
		return v, 0, err
	}
	if l.depth == 0 {
		l.start = l.line
	}
	switch b {
	case '}', ']', ',', ':':
		return v, b, nil
	case '[':
		v, err = l.members(vector, ']')
	case '{':
		v, err = l.members(mapping, '}')
	case '"':
		v.kind = text
		if v.text, err = l.quoted(true); err == nil && !l.literal && isKeyword(v.text) {
			v.kind, v.text = keyword, v.text[1:]
		}
	default:
		l.unget()
		v, err = l.bare()
	}
	return v, 0, err
}

// isKeyword reports whether s is a keyword written as a string.
func isKeyword(s string) bool {
	return len(s) > 1 && s[0] == ':' && (isPlainWord(s[1:]) || strings.Count(s, "/") == 1 && isPlainWord(strings.NewReplacer("/", "", ".", "").Replace(s[1:])))
}

// visible returns the next byte that is not blank.
func (l *lexer) visible() (byte, error) {
	for {
		b, err := l.nextByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b, nil
		}
	}
}

// members reads an array or an object after its opening bracket.
func (l *lexer) members(k kind, closer byte) (value, error) {
	if err := l.enter(); err != nil {
		return value{}, err
	}
	defer l.leave()
	base := len(l.stack)
	for key := k == mapping; ; key = k == mapping && !key {
		v, c, err := l.json()
		switch n := len(l.stack); {
		case err != nil:
			return v, err
		case c == 0 && (!key || v.kind == text || v.kind == keyword):
		case c == closer && n == base:
			return l.collect(k, base), nil
		case key:
			return v, l.fail("want a key in quotes")
		case k == mapping:
			return v, l.fail("unexpected %c: want the value of %q", c, l.stack[n-1].text)
		default:
			return v, l.fail("unexpected %c: want a value", c)
		}
		l.stack = append(l.stack, v)
		b, err := l.visible()
		switch {
		case err != nil:
			return v, err
		case key && b == ':', !key && b == ',':
		case key:
			return v, l.fail("unexpected %q: want : after the key %q", rune(b), v.text)
		case b == closer:
			return l.collect(k, base), nil
		default:
			return v, l.fail("unexpected %q: want , or %c", rune(b), closer)
		}
	}
}

// bare reads a number, true, false or null.
func (l *lexer) bare() (value, error) {
	l.scratch = l.scratch[:0]
	for {
		b, err := l.get()
		if err != nil {
			if errors.Is(err, io.EOF) && l.depth == 0 {
				break
			}
			return value{}, cut(err)
		}
		if !digit(b) && (b|0x20 < 'a' || b|0x20 > 'z') && b != '-' && b != '+' && b != '.' {
			if len(l.scratch) == 0 {
				return value{}, l.fail("unexpected %q", rune(b))
			}
			l.unget()
			break
		}
		l.scratch = append(l.scratch, b)
	}
	switch s := l.word(); s {
	case "null":
		return value{}, nil
	case "true", "false":
		return truth(s == "true"), nil
	default:
		return l.jsonNumber(s)
	}
}

func (l *lexer) jsonNumber(s string) (value, error) {
	digits := strings.TrimPrefix(s, "-")
	bad := digits == "" || !digit(digits[0]) || digits[0] == '0' && len(digits) > 1 && digit(digits[1]) || strings.Trim(s, "+-.0123456789eE") != ""
	if !bad {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return value{kind: integer, n: n}, nil
		}
		if _, err := strconv.ParseFloat(s, 64); err == nil || isRange(err) {
			return value{kind: number, text: s}, nil
		}
	}
	return value{}, l.fail("%.40q is neither a number nor true, false or null", s)
}
