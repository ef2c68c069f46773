package report

import (
	"io"
	"strings"
	"unicode"

	"github.com/lockcheck/lockcheck/checker"
)

// Options are the output settings. The zero value is plain text.
type Options struct {
	Color bool // adds colour; colour alone never carries information

	// Promise is the list of properties that the reader expects to hold. If it is
	// nil, the history's header names them; without that all properties count. A
	// violation of another property is listed, but the story is not about it.
	Promise []checker.Property
	// About chooses the violation that the story tells; "": the most informative one.
	About checker.Property
	// Measured is a figure that shows a failure which violates no property; "": none.
	Measured string
}

// page collects the output, line by line. No line is wider than a row or ends with
// spaces.
type page struct {
	o   Options
	raw bool // texts as they are, for what is no terminal
	b   strings.Builder

	cursor int // the column in which rows show a line; 0: none
}

func (p *page) flush(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) blank() { p.b.WriteByte('\n') }

// row writes one line that has been laid out.
func (p *page) row(r row) {
	if p.cursor > 0 && r[p.cursor].r == ' ' {
		r.fill(p.cursor, p.cursor, '│', warn)
	}
	p.b.WriteString(r.render(p.o.Color))
	p.b.WriteByte('\n')
}

// text writes a paragraph.
func (p *page) text(indent int, s style, text string) {
	if p.raw {
		p.b.WriteString(text + "\n")
		return
	}
	for _, line := range wrap(p.clean(text), columns-indent) {
		p.line(indent, s, line)
	}
}

// hanging writes a paragraph whose first line stands out at the left.
func (p *page) hanging(indent int, s style, text string) {
	if p.raw {
		p.b.WriteString(text + "\n")
		return
	}
	for i, line := range wrap(p.clean(text), columns-indent-2) {
		if i > 0 {
			line = "  " + line
		}
		p.line(indent, s, line)
	}
}

// beside writes text at a column, and head to the left of its first line.
func (p *page) beside(at int, s style, head string, column int, text string) {
	lines := wrap(p.clean(text), columns-column)
	for i := range max(1, len(lines)) {
		r := newRow()
		if i == 0 {
			r.write(at, head, s)
		}
		if i < len(lines) {
			r.write(column, lines[i], plain)
		}
		p.row(r)
	}
}

func (p *page) line(indent int, s style, text string) {
	r := newRow()
	r.write(indent, text, s)
	p.row(r)
}

// clean makes text fit for a terminal: every rune of it is one column wide. Names in
// a history may contain any runes.
func (p *page) clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x300 && unicode.IsPrint(r), strings.ContainsRune(signs, r):
			return r
		default:
			return '?'
		}
	}, s)
}

// signs are the runes beyond Latin that are written, all of them one column wide.
const signs = "✗✓█▒━╌─│├┤┼▼»«×·≥≤–—‘’“”…"

// wrap breaks text into lines of at most width runes. It splits longer words.
func wrap(text string, width int) []string {
	var lines []string
	var line []rune
	for _, word := range joinUnits(strings.Fields(text)) {
		w := []rune(word)
		if len(line) > 0 && len(line)+1+len(w) > width {
			lines, line = append(lines, string(line)), nil
		}
		for len(w) > width {
			lines, w = append(lines, string(w[:width])), w[width:]
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, w...)
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}

// joinUnits keeps numbers and their units on one line: "10.01 s", "seed 7".
func joinUnits(words []string) []string {
	var out []string
	for _, w := range words {
		bare := strings.TrimRight(w, ".,:;)")
		if n := len(out); n > 0 && ((bare == "s" || bare == "ms") && digit(out[n-1]) || out[n-1] == "seed") {
			out[n-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

// digit reports whether a word ends with a digit.
func digit(word string) bool {
	last := word[len(word)-1]
	return '0' <= last && last <= '9'
}
