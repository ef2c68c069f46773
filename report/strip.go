package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// strip is the whole run in little: in each of its columns the slowest acquire and the
// number of grants, and where faults were.
type strip struct {
	Slowest, Grants string // paths of SVG, in a box of stripCols by stripHigh
	Longest, Most   string
	Faults          []bar
	From, To        string
	Left, Width     float64 // the part that the picture shows; Width 0: unknown
}

const (
	stripCols = 300
	stripHigh = 40
)

// newStrip returns the overview of a run, or nil of one without a grant.
func newStrip(h *history.History, pic *picture) *strip {
	n := len(h.Entries)
	if n == 0 || h.Entries[n-1].Time <= 0 {
		return nil
	}
	end := h.Entries[n-1].Time
	column := func(t time.Duration) int { return min(int(int64(t)*stripCols/int64(end)), stripCols-1) }
	if end > 1<<53/stripCols { // keep the product in range
		column = func(t time.Duration) int { return min(int(float64(t)/float64(end)*stripCols), stripCols-1) }
	}
	var slowest [stripCols]time.Duration
	var grants [stripCols]int
	asked := map[history.Process]time.Duration{}
	s := &strip{}
	open := map[int]time.Duration{}
	var longest time.Duration
	most := 0
	for i := range h.Entries {
		e := &h.Entries[i]
		switch {
		case e.Process.Name == history.Nemesis && strings.HasSuffix(e.F, history.DoneSuffix):
		case e.Process.Name == history.Nemesis && strings.HasSuffix(e.F, history.EndSuffix):
			if from, ok := open[e.ID]; ok {
				s.fault(from, e.Time, end)
				delete(open, e.ID)
			}
		case e.Process.Name == history.Nemesis && e.ID != 0:
			open[e.ID] = e.Time
		case !e.Process.Client() || e.F != history.Acquire && e.F != history.Try:
		case e.Type == history.Invoke:
			asked[e.Process] = e.Time
		case e.Type == history.OK:
			c := column(e.Time)
			grants[c]++
			slowest[c] = max(slowest[c], e.Time-asked[e.Process])
			longest, most = max(longest, slowest[c]), max(most, grants[c])
		}
	}
	if most == 0 {
		return nil
	}
	for _, from := range open {
		s.fault(from, end, end)
	}
	var slow, rate strings.Builder
	for c := range stripCols {
		if grants[c] > 0 {
			fmt.Fprintf(&rate, "M%d %dv-%.1f", c, stripHigh, float64(grants[c])/float64(most)*stripHigh)
			fmt.Fprintf(&slow, "M%d %dv-%.1f", c, stripHigh, float64(slowest[c])/float64(max(longest, 1))*stripHigh)
		}
	}
	u := newUnits(h.Header.Lease())
	s.Slowest, s.Grants, s.Longest = slow.String(), rate.String(), u.span(longest)
	s.Most = fmt.Sprintf("%.3g", float64(most)/(end.Seconds()/stripCols))
	s.From, s.To = u.exact(0), u.exact(end)
	if pic != nil {
		first, last := pic.scale[0].t, pic.scale[len(pic.scale)-1].t
		s.Left = float64(first) / float64(end) * 100
		s.Width = min(float64(last)/float64(end)*100, 100) - s.Left
	}
	return s
}

func (s *strip) fault(from, to, end time.Duration) {
	x := float64(from) / float64(end) * 100
	s.Faults = append(s.Faults, bar{X: x, W: float64(to)/float64(end)*100 - x})
}
