package report

import "strings"

// style is the meaning of a cell; colour underlines it.
type style uint8

const (
	plain style = iota
	dim
	good
	warn
	bad
)

// codes are the terminal's codes for each style.
var codes = [...]string{plain: "", dim: "\x1b[2m", good: "\x1b[32m", warn: "\x1b[33m", bad: "\x1b[31m"}

const resetCode = "\x1b[0m"

type cell struct {
	r rune
	s style
}

// columns is the width of a row.
const columns = 80

// row is one line of cells, a column each.
type row []cell

func newRow() row {
	r := make(row, columns)
	for i := range r {
		r[i].r = ' '
	}
	return r
}

// write puts text at a column. Text beyond the row's ends is cut off.
func (r row) write(at int, text string, s style) {
	for _, c := range text {
		if at >= 0 && at < len(r) {
			r[at] = cell{c, s}
		}
		at++
	}
}

// fill puts a rune into the columns from a to b, both included.
func (r row) fill(a, b int, c rune, s style) {
	for i := max(a, 0); i <= b && i < len(r); i++ {
		r[i] = cell{c, s}
	}
}

// render returns the row's text, without spaces at its end.
func (r row) render(color bool) string {
	n := len(r)
	for n > 0 && r[n-1].r == ' ' {
		n--
	}
	var b strings.Builder
	now := plain
	for _, c := range r[:n] {
		if color && c.s != now && c.r != ' ' {
			if now != plain {
				b.WriteString(resetCode)
			}
			b.WriteString(codes[c.s])
			now = c.s
		}
		b.WriteRune(c.r)
	}
	if now != plain {
		b.WriteString(resetCode)
	}
	return b.String()
}
