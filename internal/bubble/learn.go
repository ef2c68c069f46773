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

// mostPoints limits the numbered points of one operation: a client that waits may ask
// without end.
const mostPoints = 6

// Learned says which requests the operations of a user's lock have.
type Learned struct {
	Usual   catalogue.Requests // how many operations mostly have when nobody disturbs them
	Points  []faults.Point     // where faults may strike
	Crowded *harness.Judged    // the run of several clients without faults
	Tokens  bool               // each of its grants has a fencing token
}

// Learn learns which requests the operations of a user's lock have. Nobody else knows: a
// fault has to strike between the GET and the DEL of a release that has both. alone is a
// plan of one client and crowded one of several, both without faults. The third run is
// crowded with two faults. So what is learned depends on the lock and the settings only,
// and a run is a function of its seed.
func Learn(t *testing.T, make userlock.Maker, alone, crowded *harness.Plan) (*Learned, error) {
	disturbed, err := disturb(crowded)
	if err != nil {
		return nil, err
	}
	seen := new(strays)
	j, busy, err := watched(t, make, seen, crowded) // first: it shows mistakes such as one lock for all
	if err != nil {
		return nil, err
	}
	_, calm, err := watched(t, make, seen, alone)
	if err != nil {
		return nil, err
	}
	// The test may not have these faults: what goes wrong under them is no error here.
	_, odd, _ := watched(t, make, seen, disturbed)
	usual := catalogue.Requests{Acquire: mostly(calm.requests(history.Acquire)), Release: mostly(calm.requests(history.Release))}
	undisturbed := slices.Concat(calm, busy)
	most := catalogue.Requests{Acquire: undisturbed.most(history.Acquire), Release: undisturbed.most(history.Release)}
	list := points(usual, most)
	if r := append(rare(history.Acquire, most.Acquire, undisturbed, odd), rare(history.Release, most.Release, undisturbed, odd)...); len(r) > 0 {
		list = append(list, repeated(r, max(len(list)/3, len(r)))...)
	}
	return &Learned{usual, list, j, tokens(j.History)}, nil
}

// tokens reports whether every grant has a fencing token.
func tokens(h *history.History) bool {
	granted, bare := false, false
	for _, e := range h.Entries {
		if e.Type == history.OK && (e.F == history.Acquire || e.F == history.Try) {
			granted, bare = true, bare || e.Token == 0
		}
	}
	return granted && !bare
}

// disturb returns a plan with two faults. A holder pauses for two leases: others find its
// entry when it is over, and the holder finds theirs. And a server restarts, so that
// requests fail.
func disturb(plan *harness.Plan) (*harness.Plan, error) {
	cfg, err := plan.Config()
	if err != nil {
		return nil, err
	}
	layout := catalogue.NewLayout(&cfg.Lock, plan.Server, plan.Options)
	first, last := plan.Clients[0], plan.Clients[len(plan.Clients)-1]
	p := *plan
	p.Faults = []faults.Injection{
		{Fault: "pause", On: []string{first}, For: 2 * plan.Lease, Point: &faults.Point{Client: first, Acquisition: 1, Op: history.Acquire, OK: true, After: true}},
		{Fault: "restart", On: layout.Masters()[:1], For: plan.Lease / 10, Point: &faults.Point{Client: last, Acquisition: plan.Acquires, Op: history.Acquire, Request: 1}},
	}
	return &p, nil
}

// operations are the operations of a run.
type operations []operation

// operation is one operation of a lock.
type operation struct {
	name     string
	commands []string // of its requests
	ok       bool     // it has succeeded
}

// requests returns how many requests the operations of this name had that succeeded.
func (list operations) requests(name string) (counts []int) {
	for _, o := range list {
		if o.name == name && o.ok {
			counts = append(counts, len(o.commands))
		}
	}
	return counts
}

// watched carries out a plan, and returns the operations of the lock.
func watched(t *testing.T, make userlock.Maker, seen *strays, plan *harness.Plan) (*harness.Judged, operations, error) {
	w := Simulator(t, make)().(*World)
	w.watched, w.strays = new(operations), seen
	j, _, err := harness.Simulate(func() env.Simulation { return w }, plan)
	return j, *w.watched, err
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

// most returns how many requests of the operations of this name have numbered points.
func (list operations) most(name string) int {
	return min(slices.Max(append(list.requests(name), 1)), mostPoints)
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
		list = append(list, repeated(among, share*max(most.Acquire, most.Release))...)
	}
	fill(4, each(history.Acquire, usual.Acquire, most.Acquire, false, true))
	fill(2, []faults.Point{{Op: history.Acquire, OK: true, After: true}})
	fill(3, []faults.Point{{Op: history.Read, Request: 1}, {Op: history.Write, Request: 1}, {Op: history.Write, Request: 1, After: true}})
	fill(3, each(history.Release, usual.Release, most.Release, false))
	return list
}

// repeated returns n points.
func repeated(among []faults.Point, n int) []faults.Point {
	list := make([]faults.Point, n)
	for i := range list {
		list[i] = among[i%len(among)]
	}
	return list
}

// rare returns the points before requests of operations of this name that no numbered point
// reaches: the request comes later, or under faults only.
func rare(name string, most int, undisturbed, disturbed operations) (list []faults.Point) {
	known := map[string]bool{} // commands before which there are numbered points
	for _, o := range undisturbed {
		if o.name == name && o.ok {
			for _, command := range o.commands[:min(most, len(o.commands))] {
				known[command] = true
			}
		}
	}
	for _, o := range slices.Concat(undisturbed, disturbed) {
		for _, command := range o.commands {
			if p := (faults.Point{Op: name, Command: command}); o.name == name && !known[command] && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}
