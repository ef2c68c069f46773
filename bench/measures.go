package bench

import "strconv"

// Measure is one figure that is shown of each cell.
type Measure struct {
	Name  string
	About string // its unit, or how to read it
	Of    func(*Figures) float64

	Log   bool      // it is drawn by ratios
	Ticks []float64 // of its axis; nil: as its values want it
	show  func(float64) string
	bound bool // it may be a lower bound
}

// Measures are what is shown, in that order. The first four are drawn.
var Measures = []Measure{
	{
		Name: "Commands sent for each acquisition", About: "two are needed: to take, and to give back",
		Of: (*Figures).CommandsEach, Log: true, show: rounded,
	},
	{
		Name: "Acquisitions a second", About: "of all clients together",
		Of: (*Figures).PerSecond, show: rounded,
	},
	{
		Name: "The longest wait for one acquisition", About: "in seconds",
		Of:  func(f *Figures) float64 { return f.Longest.Seconds() },
		Log: true, show: rounded, bound: true,
	},
	{
		Name: "Acquisitions by the client that just had it", About: "in percent; the others wait",
		Of:    func(f *Figures) float64 { return 100 * float64(f.Again) / float64(f.Total()) },
		Ticks: []float64{0, 20, 40, 60, 80, 100}, show: func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) },
	},
	{
		Name: "How evenly all were spread", About: "1: each client got as many",
		Of: (*Figures).Evenness, show: func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) },
	},
}

// Text is the figure as tables show it; of a cell that was not measured "-".
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

// rounded is v in about three digits.
func rounded(v float64) string {
	decimals := 0
	switch {
	case v < 1:
		decimals = 2
	case v < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
