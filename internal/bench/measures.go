package bench

import (
	"slices"
	"strconv"
)

// Measure is one figure of each cell.
type Measure struct {
	Name  string
	About string // its unit, or how to read it
	Of    func(*Figures) float64

	Log   bool      // logarithmic axis
	Ticks []float64 // of its axis; nil: chosen by its values
	show  func(float64) string
	bound bool // it may be a lower bound
}

// The measures that all contests share.
var (
	commandsEach = Measure{
		Name: "Commands sent for each acquisition", About: "two are needed: to take, and to give back",
		Of: (*Figures).CommandsEach, Log: true, show: rounded,
	}
	perSecond = Measure{
		Name: "Acquisitions a second", About: "of all clients together",
		Of: (*Figures).PerSecond, show: rounded,
	}
	percents = []float64{0, 20, 40, 60, 80, 100}
)

// percent returns n as a percentage of of.
func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

// Text returns the figure as tables show it; "-" if a cell was not measured.
func (m *Measure) Text(f *Figures) string {
	if f.Total() == 0 {
		return "-"
	}
	text := m.show(m.Of(f))
	if m.bound && f.Waiting {
		return "≥ " + text
	}
	return text
}

// rounded returns v with about three digits.
func rounded(v float64) string {
	switch {
	case v < 1:
		return decimal(v, 2)
	case v < 99.95:
		return decimal(v, 1)
	}
	return whole(v)
}

func whole(v float64) string { return decimal(v, 0) }

func decimal(v float64, places int) string { return strconv.FormatFloat(v, 'f', places, 64) }

// middle returns the median of some figures, or 0 without any.
func middle(figures []float64) float64 {
	n := len(figures)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
