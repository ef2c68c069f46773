// Package chart draws figures as SVG: panels of lines with one common legend. A figure
// contains text and paths only, so it can be read, selected and compared. It follows
// the reader's choice of light or dark.
package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Figure is the content of one file.
type Figure struct {
	Title  string
	About  string   // one line below the title
	Lines  []string // the legend: names of the lines of each panel, at most 6
	Panels []Panel  // two in a row
}

// Panel is one diagram.
type Panel struct {
	Title string
	About string // one line below the title, such as the unit
	X, Y  Axis
	Lines [][]Point // in the order of Figure.Lines, each from left to right
}

// Axis is one axis of a panel. It spans the data and its ticks; a linear Y
// begins at 0.
type Axis struct {
	Label string
	Log   bool      // logarithmic: values must be above 0
	Ticks []float64 // nil: round numbers
}

// Point is one value.
type Point struct {
	X, Y float64
	Open bool // drawn hollow, for example because Y is a bound
}

// Sizes in the units of SVG, which are pixels unless the picture is scaled.
const (
	width   = 880
	margin  = 24 // around the figure
	gap     = 40 // between two panels
	left    = 44 // in a panel, for the labels of Y
	head    = 100
	above   = 44 // in a panel, for its title
	plot    = 190
	below   = 46 // in a panel, for the labels of X
	columns = 2
	across  = (width-2*margin-(columns-1)*gap)/columns - left
)

// ErrPoint is the error for a value that cannot be drawn.
var ErrPoint = errors.New("chart: a point has no place on its axes")

// Write writes the figure as SVG. It returns an error for a value that is not finite,
// or not above 0 on a logarithmic axis, and for more lines than the legend has, or than
// there are marks.
func (f *Figure) Write(w io.Writer) error {
	if len(f.Lines) > len(marks) {
		return fmt.Errorf("chart: %d lines, and at most %d have marks of their own", len(f.Lines), len(marks))
	}
	rows := (len(f.Panels) + columns - 1) / columns
	height := head + rows*(above+plot+below) + margin/2
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title about">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"about\">%s</desc>\n", text(f.Title), text(f.About))
	b.WriteString(style())
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d" rx="8"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="38">%s</text>`+"\n", margin, text(f.Title))
	fmt.Fprintf(&b, `<text class="faint" x="%d" y="58">%s</text>`+"\n", margin, text(f.About))
	f.legend(&b)
	for i := range f.Panels {
		x := margin + left + i%columns*(left+across+gap)
		y := head + i/columns*(above+plot+below) + above
		if err := f.Panels[i].draw(&b, len(f.Lines), x, y); err != nil {
			return err
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// mark distinguishes one line from the others: by colour, and by the shape of its
// points for readers who cannot see colours.
type mark struct{ light, dark, shape string }

// marks are the marks of lines; shapes are around the origin.
var marks = []mark{
	{"#cf3a24", "#ff7b66", "M-4-4H4V4H-4Z"},                                   // a square
	{"#0a67d0", "#6cb0ff", "M0-4.6A4.6 4.6 0 1 1 0 4.6A4.6 4.6 0 1 1 0-4.6Z"}, // a circle
	{"#12805c", "#45c596", "M0-5.4L5 3.6H-5Z"},                                // a triangle
	{"#a35f00", "#e8b13f", "M0-5.6L5.6 0L0 5.6L-5.6 0Z"},                      // a diamond
	{"#8046d3", "#c39bff", "M0 5.4L5-3.6H-5Z"},                                // a triangle upside down
	{"#57606a", "#a5adb7", "M-4.4-4.4L4.4 4.4M-4.4 4.4L4.4-4.4"},              // a cross
}

func style() string {
	var light, dark strings.Builder
	for i, m := range marks {
		fmt.Fprintf(&light, ".s%d{stroke:%s}.f%d{fill:%s}\n", i, m.light, i, m.light)
		fmt.Fprintf(&dark, ".s%d{stroke:%s}.f%d{fill:%s}\n", i, m.dark, i, m.dark)
	}
	return `<style>
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:#1f2328}
.title{font-size:18px;font-weight:600}
.panel{font-size:14px;font-weight:600}
.faint{fill:#59636e}
.end{text-anchor:end}
.mid{text-anchor:middle}
.page{fill:#fff}
.grid{stroke:#e4e7eb;fill:none}
.axis{stroke:#8c959f;fill:none}
.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.dot{stroke-width:1.6;stroke-linejoin:round}
.open{fill:#fff}
` + light.String() + `@media(prefers-color-scheme:dark){
text{fill:#e6edf3}
.faint{fill:#9aa4ae}
.page,.open{fill:#0d1117}
.grid{stroke:#272d36}
.axis{stroke:#6e7681}
` + dark.String() + "}\n</style>\n"
}

// legend draws the names of the lines side by side.
func (f *Figure) legend(b *strings.Builder) {
	x := float64(margin)
	for i, name := range f.Lines {
		fmt.Fprintf(b, `<path class="line s%d" d="M%s 84h28"/>`, i, number(x))
		dot(b, i, x+14, 84, false)
		fmt.Fprintf(b, `<text x="%s" y="88">%s</text>`+"\n", number(x+36), text(name))
		x += 36 + 6.4*float64(len([]rune(name))) + 28 // average width of a letter
	}
}

func dot(b *strings.Builder, line int, x, y float64, open bool) {
	fill := fmt.Sprintf("f%d", line)
	if open {
		fill = "open"
	}
	fmt.Fprintf(b, `<path class="dot s%d %s" transform="translate(%s %s)" d="%s"/>`, line, fill, number(x), number(y), marks[line].shape)
}

// draw draws the panel. left and top are the upper left corner of its plot.
func (p *Panel) draw(b *strings.Builder, lines, left, top int) error {
	if len(p.Lines) > lines {
		return fmt.Errorf("chart: panel %q has %d lines, and the legend %d", p.Title, len(p.Lines), lines)
	}
	var xs, ys []float64
	for _, line := range p.Lines {
		for _, pt := range line {
			xs, ys = append(xs, pt.X), append(ys, pt.Y)
		}
	}
	if !p.Y.Log {
		ys = append(ys, 0)
	}
	x, err := newScale(p.X, xs, float64(left), float64(left+across))
	if err != nil {
		return fmt.Errorf("panel %q: %w", p.Title, err)
	}
	y, err := newScale(p.Y, ys, float64(top+plot), float64(top))
	if err != nil {
		return fmt.Errorf("panel %q: %w", p.Title, err)
	}
	fmt.Fprintf(b, `<text class="panel" x="%d" y="%d">%s</text>`+"\n", left, top-26, text(p.Title))
	fmt.Fprintf(b, `<text class="faint" x="%d" y="%d">%s</text>`+"\n", left, top-10, text(p.About))
	for _, v := range y.ticks {
		fmt.Fprintf(b, `<path class="grid" d="M%d %sh%d"/>`, left, number(y.at(v)), across)
		fmt.Fprintf(b, `<text class="faint end" x="%d" y="%s">%s</text>`+"\n", left-8, number(y.at(v)+4), label(v))
	}
	fmt.Fprintf(b, `<path class="axis" d="M%d %dh%d"/>`+"\n", left, top+plot, across)
	for _, v := range x.ticks {
		fmt.Fprintf(b, `<path class="axis" d="M%s %dv4"/>`, number(x.at(v)), top+plot)
		fmt.Fprintf(b, `<text class="faint mid" x="%s" y="%d">%s</text>`+"\n", number(x.at(v)), top+plot+18, label(v))
	}
	fmt.Fprintf(b, `<text class="faint mid" x="%d" y="%d">%s</text>`+"\n", left+across/2, top+plot+35, text(p.X.Label))
	for i, line := range p.Lines {
		var path strings.Builder
		for k, pt := range line {
			path.WriteByte("ML"[min(k, 1)])
			path.WriteString(number(x.at(pt.X)) + " " + number(y.at(pt.Y)))
		}
		fmt.Fprintf(b, `<path class="line s%d" d="%s"/>`, i, path.String())
		for _, pt := range line {
			dot(b, i, x.at(pt.X), y.at(pt.Y), pt.Open)
		}
		b.WriteByte('\n')
	}
	return nil
}

// number formats a coordinate, rounded to a tenth of a pixel.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// text escapes s for XML.
func text(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
