package report

import "testing"

// A story of many faults keeps its climax, and the faults right before it.
func TestAStoryOfManyFaultsKeepsItsClimax(t *testing.T) {
	p := &plot{climax: 20}
	for pos := range 12 {
		p.moments = append(p.moments, moment{pos: pos, faults: []int{pos}})
	}
	p.moments = append(p.moments, moment{pos: p.climax})
	p.shorten()
	if n := len(p.moments); n != maxMoments || p.moments[n-1].pos != p.climax || p.moments[n-2].pos != 11 {
		t.Errorf("%d moments are left: %+v", n, p.moments)
	}
}
