package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// scale maps values to coordinates.
type scale struct {
	log      bool
	from, to float64 // values
	a, b     float64 // their coordinates
	ticks    []float64
}

// newScale returns a scale that maps the values to coordinates from a to b.
func newScale(axis Axis, values []float64, a, b float64) (scale, error) {
	s := scale{log: axis.Log, a: a, b: b}
	all := append(slices.Clone(axis.Ticks), values...)
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) || s.log && v <= 0 {
			return s, fmt.Errorf("%w: %v", ErrPoint, v)
		}
	}
	if len(all) == 0 {
		all = []float64{1}
	}
	s.from, s.to = slices.Min(all), slices.Max(all)
	switch {
	case axis.Ticks != nil:
		s.ticks = axis.Ticks
	case s.log:
		s.decades()
	default:
		s.steps()
	}
	return s, nil
}

// at returns the coordinate of a value.
func (s *scale) at(v float64) float64 {
	from, to := s.from, s.to
	if s.log {
		v, from, to = math.Log(v), math.Log(from), math.Log(to)
	}
	if from == to {
		return (s.a + s.b) / 2
	}
	return s.a + (v-from)/(to-from)*(s.b-s.a)
}

// decades sets ticks at 1, 2 and 5 times the powers of ten, or at the powers alone if
// these would be too many. The scale begins and ends at a tick.
func (s *scale) decades() {
	factors := []float64{1, 2, 5}
	if s.to/s.from > 200 {
		factors = factors[:1]
	}
	low := math.Floor(math.Log10(s.from) + 1e-9)
	var all []float64
	for e := low; len(all) == 0 || all[len(all)-1] < s.to; e++ {
		for _, f := range factors {
			all = append(all, f*math.Pow(10, e))
		}
	}
	const slack = 1 + 1e-9
	first := 0
	for first+1 < len(all) && all[first+1] <= s.from*slack {
		first++
	}
	last := first
	for last+1 < len(all) && all[last]*slack < s.to {
		last++
	}
	s.ticks = all[first : last+1]
	s.from, s.to = min(s.from, all[first]), max(s.to, all[last])
}

// steps sets about five ticks at a distance of 1, 2 or 5 times a power of ten. The
// scale begins and ends at a tick.
func (s *scale) steps() {
	span := s.to - s.from
	if span == 0 {
		span = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, f := range []float64{1, 2, 5, 10} {
		if f*step*5 >= span*(1-1e-9) {
			step *= f
			break
		}
	}
	first, last := math.Floor(s.from/step+1e-9), math.Ceil(s.to/step-1e-9)
	for n := first; n <= last; n++ {
		s.ticks = append(s.ticks, n*step)
	}
	s.from, s.to = first*step, last*step
}

// label formats a tick: short, with separators for thousands.
func label(v float64) string {
	t := strconv.FormatFloat(v, 'g', 6, 64)
	if v < 10_000 || strings.ContainsAny(t, "e.") {
		return t
	}
	for i := len(t) - 3; i > 0; i -= 3 {
		t = t[:i] + "," + t[i:]
	}
	return t
}
