package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/lockcheck/lockcheck/internal/chart"
)

// Title names the comparison.
func (h *Herd) Title() string {
	if h.On == "sim" {
		return "The herd, in the simulator"
	}
	return "The herd, on a real ZooKeeper ensemble"
}

// Table returns h's figures, and their growth.
func (h *Herd) Table() Table {
	t := Table{Of: "waiters"}
	for _, n := range h.Waiters {
		t.Columns = append(t.Columns, strconv.Itoa(n))
	}
	t.Columns = append(t.Columns, "growth")
	for _, m := range HerdMeasures {
		b := Block{Name: m.Name, About: m.About}
		for i, lock := range Queued {
			r := Row{Name: lock}
			for k := range h.Waiters {
				r.Cells = append(r.Cells, m.Text(&h.Cells[i][k]))
			}
			growth := "-"
			if k, ok := h.Growth(i, &m); ok {
				growth = fmt.Sprintf("N^%.1f", math.Round(10*k)/10+0) // +0: no N^-0.0
			}
			r.Cells = append(r.Cells, growth)
			b.Rows = append(b.Rows, r)
		}
		t.Blocks = append(t.Blocks, b)
	}
	return t
}

// Legend says for each lock which entries its waiters watch.
func (h *Herd) Legend() [][2]string {
	return [][2]string{
		{Queued[0], "every waiter watches the whole queue"},
		{Queued[1], "every waiter watches the one before it"},
	}
}

// Conditions describes the measurement in a sentence or two.
func (h *Herd) Conditions() string {
	text := fmt.Sprintf("growth: the power of the number of waiters, N, that fits best. %d servers, sessions of %g s; each cell measured for %g s", HerdServers, h.Lease.Seconds(), h.For.Seconds())
	if h.On == "sim" {
		return text + fmt.Sprintf(" of virtual time, seed %d.", h.Seed)
	}
	text += fmt.Sprintf(", in %d parts, on a machine with %d cores that clients and servers share", rounds, h.Cores)
	if h.Load[0] > 0 {
		text += fmt.Sprintf(", and whose load was %.1f before and %.1f after", h.Load[0], h.Load[1])
	}
	return text + ". Another machine takes other times."
}

// Draw writes the picture as SVG.
func (h *Herd) Draw(w io.Writer) error {
	f := chart.Figure{Title: h.Title(), About: "The holder leaves, and the first waiter of the queue enters: the cost, until all are at rest.", Lines: Queued}
	x := chart.Axis{Label: "waiters", Log: true}
	for _, n := range h.Waiters {
		x.Ticks = append(x.Ticks, float64(n))
	}
	for _, m := range HerdMeasures[:4] {
		p := chart.Panel{Title: m.Name, About: m.About, X: x, Y: chart.Axis{Log: true}}
		for i := range Queued {
			var line []chart.Point
			for k, n := range h.Waiters {
				line = append(line, chart.Point{X: float64(n), Y: m.Of(&h.Cells[i][k])})
			}
			p.Lines = append(p.Lines, line)
		}
		f.Panels = append(f.Panels, p)
	}
	return f.Write(w)
}

// PageFile returns the name of the page that has a section of h.
func (h *Herd) PageFile() string { return "herd.md" }

// ChartFile returns the name of the picture of h, beside the page.
func (h *Herd) ChartFile() string { return "herd-" + h.On + ".svg" }

// Section returns the page with h's current section: between its marks, or at the end
// of a page without marks.
func (h *Herd) Section(page string) string {
	s := section{"The herd", "herd", h.On, h.ChartFile(), h.Title(), h.Table(), h.Conditions()}
	return s.in(page)
}
