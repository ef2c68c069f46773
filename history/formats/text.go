package formats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// blank reports whether b is whitespace in EDN.
func blank(b byte) bool { return b == ' ' || b == ',' || b >= '\t' && b <= '\r' }

func digit(b byte) bool { return b-'0' <= 9 }

func integral(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isPlainWord reports whether s is a keyword's name in every EDN reader.
func isPlainWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !digit(c) && c != '-' && c != '_') {
			return false
		}
	}
	return s != ""
}

// appendString quotes s for EDN and JSON. Invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }
