package bench

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/internal/chart"
)

// Result returns c as it is shown.
func (c *Comparison) Result() *Result {
	r := &Result{Name: c.Name, Heading: c.Heading, On: c.On, Title: c.Subject + ", on " + c.Server, Conditions: c.conditions()}
	if c.On == "sim" {
		r.Title = c.Subject + ", in the simulator"
	}
	r.about = "Clients that want one lock all the time. Lease" + c.held() + "."
	if c.cut() {
		r.about += " Hollow: still waiting at the end."
	}
	for _, s := range c.Sides {
		r.Rows = append(r.Rows, [2]string{s.Name, s.Does})
	}
	r.setColumns("clients", c.Clients)
	for _, m := range c.Measures {
		b := Block{Name: m.Name, About: m.About, axis: chart.Axis{Log: m.Log, Ticks: m.Ticks}}
		b.point = func(i, k int) chart.Point {
			f := &c.Cells[i][k]
			return chart.Point{Y: m.Of(f), Open: m.bound && f.Waiting}
		}
		r.add(b, func(i, k int) string { return m.Text(&c.Cells[i][k]) })
	}
	return r
}

// conditions describes the measurement in a sentence or two.
func (c *Comparison) conditions() string {
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
