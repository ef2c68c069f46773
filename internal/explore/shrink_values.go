package explore

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// simplerPoints moves faults to plainer points.
func (s *shrinker) simplerPoints(c *candidate) *candidate {
	for i := 0; i < len(c.plan.Faults); i++ {
		for _, point := range simpler(c, i) {
			p := clone(c.plan)
			p.Faults[i].Point, p.Faults[i].At = &point, 0
			var ok bool
			if c, ok = s.improve(c, p); ok {
				break
			}
		}
	}
	return c
}

// simpler returns the points that are plainer than that of a fault, the plainest first:
// those of the client that it strikes, or of any client if it strikes none.
func simpler(c *candidate, i int) (list []faults.Point) {
	in := c.plan.Faults[i]
	for _, client := range c.plan.Clients {
		if slices.Contains(c.plan.Clients, in.On[0]) && client != in.On[0] {
			continue
		}
		for n := range c.began[client] {
			for _, p := range plain {
				p.Client, p.Acquisition = client, n+1
				if there := in; rank(at(there, p)) < rank(in) {
					list = append(list, p)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b faults.Point) int { return int(rank(at(in, a)) - rank(at(in, b))) })
	return list
}

func at(in faults.Injection, p faults.Point) faults.Injection {
	in.Point = &p
	return in
}

// zeroes sets choices to the least disturbing value: all at once, all of a kind, spans
// of the others, single ones. Then it halves the rest.
func (s *shrinker) zeroes(c *candidate) *candidate {
	c, _ = s.improve(c, setTo(c.plan, 0, func(env.Name) bool { return true }))
	var kinds []string
	for _, choice := range c.plan.Choices {
		if !slices.Contains(kinds, choice.Name.What) {
			kinds = append(kinds, choice.Name.What)
		}
	}
	for _, kind := range kinds {
		c, _ = s.improve(c, setTo(c.plan, 0, func(n env.Name) bool { return n.What == kind }))
	}
	s.spans(len(disturbances(c.plan)), func(from, to int) int {
		names := map[env.Name]bool{}
		for _, name := range disturbances(c.plan)[from:to] {
			names[name] = true
		}
		c, _ = s.improve(c, setTo(c.plan, 0, func(n env.Name) bool { return names[n] }))
		return len(disturbances(c.plan))
	})
	for _, name := range disturbances(c.plan) {
		for ok := true; ok && s.stopped() == ""; {
			p := clone(c.plan)
			i := slices.IndexFunc(p.Choices, func(c env.Choice) bool { return c.Name == name })
			if i < 0 || p.Choices[i].Value < 2 {
				break
			}
			p.Choices[i].Value /= 2
			c, ok = s.improve(c, p)
		}
	}
	return c
}

// sooner removes the time at the start in which nothing happens.
func (s *shrinker) sooner(c *candidate) *candidate {
	idle := int64(1) << 62
	for _, choice := range c.plan.Choices {
		if choice.Name.What == "think" && choice.Name.N == 1 {
			idle = min(idle, choice.Value)
		}
	}
	for _, in := range c.plan.Faults {
		if in.Point == nil {
			idle = min(idle, in.At.Microseconds())
		}
	}
	p := clone(c.plan)
	for i := range p.Choices {
		if choice := &p.Choices[i]; choice.Name.What == "think" && choice.Name.N == 1 {
			choice.Value -= idle
		}
	}
	for i := range p.Faults {
		if in := &p.Faults[i]; in.Point == nil {
			in.At -= time.Duration(idle) * time.Microsecond
		}
	}
	c, _ = s.improve(c, p)
	return c
}

// disturbances returns the choices that are not 0.
func disturbances(p *harness.Plan) (names []env.Name) {
	for _, c := range p.Choices {
		if c.Value != 0 {
			names = append(names, c.Name)
		}
	}
	return names
}
