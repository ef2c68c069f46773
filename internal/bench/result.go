package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/chart"
)

// Result is the result of a bench, for terminals and pages: a table of blocks with the
// same rows and columns, and a section of a page with a picture.
type Result struct {
	Name, Heading, On string // contention, Contention, sim
	Title             string
	Conditions        string      // the measurement in a sentence or two
	Rows              [][2]string // the name of each side or lock, and its meaning
	Of                string      // meaning of the columns: clients
	Columns           []string
	Blocks            []Block // the first four are drawn
	about             string  // of the picture, one line
	ticks             []float64
}

// Block has the figures of one measure.
type Block struct {
	Name, About string
	Cells       [][]string // by Result.Rows, and by Result.Columns
	axis        chart.Axis
	point       func(row, column int) chart.Point // without its X
}

// setColumns sets the numbers of clients.
func (r *Result) setColumns(of string, numbers []int) {
	r.Of = of
	for _, n := range numbers {
		r.Columns, r.ticks = append(r.Columns, strconv.Itoa(n)), append(r.ticks, float64(n))
	}
}

// add adds a block, with the text of its cells.
func (r *Result) add(b Block, text func(row, column int) string) {
	for i := range r.Rows {
		var cells []string
		for k := range r.Columns {
			cells = append(cells, text(i, k))
		}
		b.Cells = append(b.Cells, cells)
	}
	r.Blocks = append(r.Blocks, b)
}

// Draw writes the picture as SVG. All cells must have been measured.
func (r *Result) Draw(w io.Writer) error {
	f := chart.Figure{Title: r.Title, About: r.about}
	for _, row := range r.Rows {
		f.Lines = append(f.Lines, row[0])
	}
	x := chart.Axis{Label: r.Of, Log: true, Ticks: r.ticks}
	for _, b := range r.Blocks[:4] {
		p := chart.Panel{Title: b.Name, About: b.About, X: x, Y: b.axis}
		for i := range r.Rows {
			var line []chart.Point
			for k, n := range r.ticks {
				pt := b.point(i, k)
				pt.X = n
				line = append(line, pt)
			}
			p.Lines = append(p.Lines, line)
		}
		f.Panels = append(f.Panels, p)
	}
	return f.Write(w)
}

// markdown returns the table for a page.
func (r *Result) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", r.Of, strings.Join(r.Columns, " | "), strings.Repeat("--:|", len(r.Columns)))
	for _, m := range r.Blocks {
		fmt.Fprintf(&b, "| **%s** (%s) |%s\n", m.Name, m.About, strings.Repeat(" |", len(r.Columns)))
		for i, cells := range m.Cells {
			fmt.Fprintf(&b, "| %s | %s |\n", r.Rows[i][0], strings.Join(cells, " | "))
		}
	}
	return b.String()
}

// PageFile returns the name of the page that has a section of r.
func (r *Result) PageFile() string { return r.Name + ".md" }

// ChartFile returns the name of the picture of r, beside the page.
func (r *Result) ChartFile() string { return r.Name + "-" + r.On + ".svg" }

// Section returns the page with the current section of r: between its marks, or at the
// end of a page without marks. An empty page gets a title.
func (r *Result) Section(page string) string {
	begin, end := fmt.Sprintf("<!-- %s on %s -->\n", r.Name, r.On), "<!-- end -->\n"
	head, rest, begins := strings.Cut(page, begin)
	_, tail, ends := strings.Cut(rest, end)
	switch {
	case page == "":
		head = "# " + r.Heading + "\n\n"
	case !begins || !ends:
		head, tail = page+"\n", ""
	}
	body := fmt.Sprintf("\n![%s](%s)\n\n%s\n%s\n\n", r.Title, r.ChartFile(), r.markdown(), r.Conditions)
	return head + begin + body + end + tail
}
