package bench

import (
	"fmt"
	"math"

	"github.com/lockcheck/lockcheck/internal/chart"
)

// Result returns h as it is shown. Its table has a last column for the growth of the
// figures.
func (h *Herd) Result() *Result {
	r := &Result{Name: "herd", Heading: "The herd", On: h.On, Title: "The herd, on a real ZooKeeper ensemble", Conditions: h.conditions()}
	if h.On == "sim" {
		r.Title = "The herd, in the simulator"
	}
	r.about = "The holder leaves, and the first waiter of the queue enters: the cost, until all are at rest."
	r.Rows = [][2]string{
		{Queued[0], "every waiter watches the whole queue"},
		{Queued[1], "every waiter watches the one before it"},
	}
	r.setColumns("waiters", h.Waiters)
	r.Columns = append(r.Columns, "growth")
	for _, m := range HerdMeasures {
		b := Block{Name: m.Name, About: m.About, axis: chart.Axis{Log: true}}
		b.point = func(i, k int) chart.Point { return chart.Point{Y: m.Of(&h.Cells[i][k])} }
		r.add(b, func(i, k int) string {
			if k < len(h.Waiters) {
				return m.Text(&h.Cells[i][k])
			}
			power, ok := h.Growth(i, &m)
			if !ok {
				return "-"
			}
			return fmt.Sprintf("N^%.1f", math.Round(10*power)/10+0) // +0: no N^-0.0
		})
	}
	return r
}

// conditions describes the measurement in a sentence or two.
func (h *Herd) conditions() string {
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
