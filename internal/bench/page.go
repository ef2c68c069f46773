package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/lockcheck/lockcheck/internal/chart"
)

// PageFile returns the name of the page that has a section of c.
func (c *Comparison) PageFile() string { return c.Name + ".md" }

// ChartFile returns the name of the picture of c, beside the page.
func (c *Comparison) ChartFile() string { return c.Name + "-" + c.On + ".svg" }

// Title names the comparison and its environment.
func (c *Comparison) Title() string {
	if c.On == "sim" {
		return c.Subject + ", in the simulator"
	}
	return c.Subject + ", on " + c.Server
}

// Conditions describes the measurement in a sentence or two.
func (c *Comparison) Conditions() string {
	text := ""
	if c.cut() {
		text = "≥: still waiting when the measurement ended. "
	}
	if lock := c.Lock(); lock != "" {
		text += "Lock " + lock + ", lease"
	} else {
		text += "Lease"
	}
	text += c.held() + fmt.Sprintf("; each cell measured for %g s", c.For.Seconds())
	if c.On == "sim" {
		return text + fmt.Sprintf(" of virtual time, seed %d.", c.Seed)
	}
	text += fmt.Sprintf(", on a machine with %d cores that clients and server share. Another machine has other figures: ratios are what counts.", c.Cores)
	if n := c.Failed(); n > 0 {
		text += fmt.Sprintf(" Operations without an answer in time, or with a lease that had ended: %d.", n)
	}
	return text
}

// held describes how long leases and holds last.
func (c *Comparison) held() string {
	text := fmt.Sprintf(" T = %g s, each grant held for %g s", c.Lease.Seconds(), c.Sides[0].Hold(c.Lease).Seconds())
	for _, s := range c.Sides {
		if s.hold != nil {
			text += fmt.Sprintf(" (%s: %g s)", s.Name, s.Hold(c.Lease).Seconds())
		}
	}
	return text
}

// cut reports whether a longest wait had not ended when its cell did.
func (c *Comparison) cut() bool {
	return slices.ContainsFunc(c.Cells, func(row []Figures) bool {
		return slices.ContainsFunc(row, func(f Figures) bool { return f.Waiting })
	})
}

// Draw writes the picture as SVG.
func (c *Comparison) Draw(w io.Writer) error {
	about := "Clients that want one lock all the time. Lease" + c.held() + "."
	if c.cut() {
		about += " Hollow: still waiting at the end."
	}
	f := chart.Figure{Title: c.Title(), About: about}
	for _, w := range c.Sides {
		f.Lines = append(f.Lines, w.Name)
	}
	x := chart.Axis{Label: "clients", Log: true}
	for _, n := range c.Clients {
		x.Ticks = append(x.Ticks, float64(n))
	}
	for _, m := range c.Measures[:4] {
		p := chart.Panel{Title: m.Name, About: m.About, X: x, Y: chart.Axis{Log: m.Log, Ticks: m.Ticks}}
		for _, row := range c.Cells {
			var line []chart.Point
			for k := range row {
				line = append(line, chart.Point{X: float64(c.Clients[k]), Y: m.Of(&row[k]), Open: m.bound && row[k].Waiting})
			}
			p.Lines = append(p.Lines, line)
		}
		f.Panels = append(f.Panels, p)
	}
	return f.Write(w)
}

// Table returns c's figures.
func (c *Comparison) Table() Table {
	t := Table{Of: "clients"}
	for _, n := range c.Clients {
		t.Columns = append(t.Columns, strconv.Itoa(n))
	}
	for _, m := range c.Measures {
		b := Block{Name: m.Name, About: m.About}
		for i, w := range c.Sides {
			r := Row{Name: w.Name}
			for k := range c.Clients {
				r.Cells = append(r.Cells, m.Text(&c.Cells[i][k]))
			}
			b.Rows = append(b.Rows, r)
		}
		t.Blocks = append(t.Blocks, b)
	}
	return t
}

// Legend explains each side.
func (c *Comparison) Legend() (rows [][2]string) {
	for _, w := range c.Sides {
		rows = append(rows, [2]string{w.Name, w.Does})
	}
	return rows
}

// Section returns the page with c's current section: between its marks, or at the end
// of a page without marks.
func (c *Comparison) Section(page string) string {
	s := section{c.Heading, c.Name, c.On, c.ChartFile(), c.Title(), c.Table(), c.Conditions()}
	return s.in(page)
}
