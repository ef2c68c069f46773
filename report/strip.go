package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// newStrip returns the overview of a run, or nil of one without a grant or without times.
func newStrip(h *history.History, pic *picture) *strip {
	n := len(h.Entries)
	if n == 0 || h.Entries[n-1].Time <= h.Entries[0].Time {
		return nil
	}
	first, end := h.Entries[0].Time, h.Entries[n-1].Time
	part := func(t time.Duration) float64 { return min(max(long(first, max(t, first))/long(first, end), 0), 1) }
	column := func(t time.Duration) int { return min(int(part(t)*stripCols), stripCols-1) }
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
				s.fault(part(from), part(e.Time))
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
	for _, id := range slices.Sorted(maps.Keys(open)) {
		s.fault(part(open[id]), 1)
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
	s.Most = strconv.FormatFloat(float64(most)/(long(first, end)/1e9/stripCols), 'f', 1, 64)
	s.From, s.To = u.exact(first), u.exact(end)
	if pic != nil {
		s.Left = part(pic.scale[0].t) * 100
		s.Width = part(pic.scale[len(pic.scale)-1].t)*100 - s.Left
	}
	return s
}

// fault shades the time of a fault, in parts of the whole. One column of many is enough.
func (s *strip) fault(from, to float64) {
	if n := len(s.Faults) - 1; n >= stripCols || n >= 0 && to <= (s.Faults[n].X+s.Faults[n].W)/100 {
		return
	}
	s.Faults = append(s.Faults, bar{X: from * 100, W: (to - from) * 100})
}
