package bubble

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// mostPoints limits the points of one operation: a client that waits may ask without end.
const mostPoints = 6

// Steps learns how many requests the operations of a user's lock have. Nobody else knows:
// a fault has to strike between the GET and the DEL of a release that has both. alone is
// a plan of one client and crowded one of several, both without faults: so what is
// learned depends on the lock and the settings only, and a run is a function of its seed.
//
// It returns what operations have mostly when nobody disturbs them, the points where
// faults may strike, and the crowded run.
func Steps(t *testing.T, make userlock.Maker, alone, crowded *harness.Plan) (catalogue.Requests, []faults.Point, *harness.Judged, error) {
	j, busy, err := watched(t, make, crowded) // first: it shows mistakes such as one lock for all
	if err != nil {
		return catalogue.Requests{}, nil, nil, err
	}
	_, calm, err := watched(t, make, alone)
	if err != nil {
		return catalogue.Requests{}, nil, nil, err
	}
	usual := catalogue.Requests{Acquire: mostly(calm[history.Acquire]), Release: mostly(calm[history.Release])}
	most := func(op string) int { return min(slices.Max(append(slices.Concat(calm[op], busy[op]), 1)), mostPoints) }
	return usual, points(usual, catalogue.Requests{Acquire: most(history.Acquire), Release: most(history.Release)}), j, nil
}

// watched carries out a plan, and returns how many requests its operations had.
func watched(t *testing.T, make userlock.Maker, plan *harness.Plan) (*harness.Judged, map[string][]int, error) {
	w := Simulator(t, make)().(*World)
	j, _, err := harness.Simulate(func() env.Simulation { return w }, plan)
	return j, w.asked, err
}

// mostly returns the most frequent number, of several the largest; 1: there is none.
func mostly(list []int) int {
	count, best := map[int]int{}, 1
	for _, n := range list {
		if count[n]++; count[n] > count[best] || count[n] == count[best] && n > best {
			best = n
		}
	}
	return best
}

// points returns the points where faults may strike: at each request of an operation, in
// the proportions of those of other locks. A request that only some operations have is
// awaited; in runs without such an operation the fault does not strike.
func points(usual, most catalogue.Requests) (list []faults.Point) {
	each := func(op string, usual, most int, after ...bool) (all []faults.Point) {
		for n := 1; n <= most; n++ {
			for _, a := range after {
				all = append(all, faults.Point{Op: op, Request: n, After: a, Exact: n > usual})
			}
		}
		return all
	}
	fill := func(share int, among []faults.Point) {
		for i := range share * max(most.Acquire, most.Release) {
			list = append(list, among[i%len(among)])
		}
	}
	fill(4, each(history.Acquire, usual.Acquire, most.Acquire, false, true))
	fill(2, []faults.Point{{Op: history.Acquire, OK: true, After: true}})
	fill(3, []faults.Point{{Op: history.Read, Request: 1}, {Op: history.Write, Request: 1}, {Op: history.Write, Request: 1, After: true}})
	fill(3, each(history.Release, usual.Release, most.Release, false))
	return list
}
