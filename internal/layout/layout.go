// Package layout lays out text for a terminal of 80 columns.
package layout

import (
	"strings"
	"unicode/utf8"
)

// Columns is the width that a terminal has at least.
const Columns = 80

// Wrap breaks text into lines of at most Columns columns. Every line but the first
// begins with indent spaces. Spaces at the beginning of text stay.
func Wrap(indent int, text string) string {
	var b strings.Builder
	lead := len(text) - len(strings.TrimLeft(text, " "))
	b.WriteString(text[:lead])
	width := lead
	for i, word := range words(text[lead:]) {
		n := Width(word)
		switch {
		case i == 0:
		case width+1+n > Columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			width = indent
			word = strings.TrimLeft(word, " ")
			n = Width(word)
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}

// words cuts text at single spaces. Several spaces stay, so that columns stay aligned.
func words(text string) []string {
	var list []string
	start := 0
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' && text[i-1] != ' ' {
			list = append(list, text[start:i])
			start = i + 1
		}
	}
	return append(list, text[start:])
}

// Width returns how many columns text takes. Colours take none.
func Width(text string) int {
	n, escape := 0, false
	for _, r := range text {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}

// FirstLine returns text up to the end of its first line.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Clip cuts text to n columns. An ellipsis shows that it is cut.
func Clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
