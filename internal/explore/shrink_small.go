package explore

import (
	"slices"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/workloads"
)

// The limits of the search in small worlds. A short run of the same lock mostly shows
// what a long one shows. Leaving things out of the long one may end at something
// longer, because it shifts everything after.
const (
	smallRuns     = 200 // of each size
	smallClients  = 3
	smallFaults   = 2
	smallAcquires = 4 // of each client
	smallHits     = 6 // runs that are shrunk, of the first size with violations
)

// smallWorlds searches again with the same deployment: lock, options, server, lease,
// fencing, and kinds of faults. The size of the runs grows from almost nothing. It
// returns runs of the first size in which the property is violated, if that is smaller
// than best.
func (s *shrinker) smallWorlds(best *candidate) []*candidate {
	plan := best.plan
	cfg, err := plan.Config()
	if err != nil {
		return nil
	}
	world := Settings{
		Lock: plan.Lock, Use: &cfg.Lock, Options: plan.Options, On: plan.On, Lease: plan.Lease,
		Fencing: plan.Fencing, Server: plan.Server, Kinds: kinds(plan.Faults),
	}
	if w, ok := workloads.Find(plan.Workload); ok {
		world.Workloads = []workloads.Workload{w}
	}
	least := 1
	if s.overlaps() {
		least = 2 // an overlap takes two
	}
	for n := least; n <= smallClients; n++ {
		for f := 0; f <= min(len(plan.Faults), smallFaults); f++ {
			for a := 1; a <= smallAcquires && best.exceeds(n, f); a++ {
				world.Clients, world.Count, world.Acquires = Exactly(n), Exactly(f), Exactly(a)
				if hits := s.hits(&world); len(hits) > 0 {
					return hits
				}
			}
		}
	}
	return nil
}

// exceeds reports whether a run of n clients and f faults may become shorter than c:
// acquires can still be left out.
func (c *candidate) exceeds(n, f int) bool {
	if d := slices.Compare([]int{n, f}, []int{len(c.plan.Clients), len(c.plan.Faults)}); d != 0 {
		return d < 0
	}
	return n < total(c.plan)
}

// total returns how many critical sections all clients go through.
func total(p *harness.Plan) (n int) {
	for i := range p.Clients {
		n += p.SectionsOf(i)
	}
	return n
}

// kinds returns the kinds of faults in a schedule.
func kinds(schedule []faults.Injection) (list []faults.Fault) {
	for _, f := range faults.All() {
		if slices.ContainsFunc(schedule, func(in faults.Injection) bool { return in.Fault == f.Name }) {
			list = append(list, f)
		}
	}
	return list
}

// hits returns the first runs of a size that violate the property by the mechanism.
func (s *shrinker) hits(world *Settings) (list []*candidate) {
	for i := 0; i < smallRuns && len(list) < smallHits && s.stopped() == ""; i++ {
		// Most runs violate nothing, so they record no choices.
		plan := world.Plan(i)
		if !s.violates(s.run(plan, plan.Decide(false))) {
			continue
		}
		if c, ok := s.replay(plan); ok {
			list = append(list, c)
		}
	}
	return list
}
