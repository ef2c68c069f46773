package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// Rounding makes what is left readable: lengths that somebody would have
// chosen, holds that one can see, clients in the order in which they come.
// Nothing may get longer by it, in clients, faults, acquisitions, operations and
// properties that are violated.

func (s *shrinker) round(c *candidate) *candidate {
	c = s.inOrder(c)
	alone, anything := c.measure, c.measure
	alone[further], anything[further] = 1, int64(len(checker.Properties))
	// Best if nothing else is violated. But two who hold at one time should be
	// seen to; and where something else is violated anyway, more may be.
	for _, wanted := range []struct {
		limit measure
		shows bool
	}{{alone, true}, {c.measure, true}, {anything, true}, {alone, false}, {c.measure, false}} {
		if !s.overlaps() && (!wanted.shows || wanted.limit == anything && c.measure[further] == 1) {
			continue
		}
		if n, ok := s.fromTheBook(c, wanted.limit, wanted.shows); ok {
			return s.inOrder(s.roundFaults(n))
		}
	}
	for _, step := range []func(*candidate) *candidate{s.roundFaults, s.visibleHolds, s.roundThinking, s.roundFaults, s.inOrder} {
		c = step(c)
	}
	return c
}

// overlaps tells whether what is violated is that two hold at one time.
func (s *shrinker) overlaps() bool {
	return s.property == checker.Exclusion || s.property == checker.LeaseExclusion
}

// shows tells whether one can see in 80 columns what is violated.
func (s *shrinker) shows(c *candidate) bool {
	return !s.overlaps() || c.together(s.property == checker.LeaseExclusion) >= c.plan.Lease/20
}

// rounder tries a change, and keeps it if nothing gets longer or harder to see by it.
func (s *shrinker) rounder(c *candidate, changed *harness.Plan) (*candidate, bool) {
	return s.within(c, changed, c.measure, s.shows(c))
}

// within tries a change, and keeps it if nothing exceeds the limit.
func (s *shrinker) within(c *candidate, changed *harness.Plan, limit measure, shows bool) (*candidate, bool) {
	if changed == nil || s.stopped() != "" {
		return c, false
	}
	n, ok := s.replay(changed)
	if !ok || shows && !s.shows(n) {
		return c, false
	}
	for part := range throughFurther {
		if n.measure[part] > limit[part] {
			return c, false
		}
	}
	return n, true
}

// fromTheBook tries the same thing as a teacher would draw it.
func (s *shrinker) fromTheBook(c *candidate, limit measure, shows bool) (*candidate, bool) {
	tenth := c.plan.Lease / 10
	for _, hold := range []time.Duration{2 * tenth, tenth} {
		for _, later := range []time.Duration{tenth, 0} {
			for _, at := range times(c.plan, 0, 10*tenth, atATime) {
				for _, length := range times(c.plan, tenth/2, 25*tenth, lasting) {
					if s.stopped() != "" {
						return c, false
					}
					if n, ok := s.within(c, drawn(c.plan, hold, later, at, length), limit, shows); ok {
						return n, true
					}
				}
			}
		}
	}
	return c, false
}

// drawn is a plan in which the network takes no time worth seeing, the first
// client comes at once and each of the others later than the one before, each
// works for a while, and the faults last for a round time.
func drawn(p *harness.Plan, hold, later, at, length time.Duration) *harness.Plan {
	p = clone(p)
	for i := range p.Choices {
		choice := &p.Choices[i]
		switch choice.Value = 0; {
		case choice.Name.What == "hold":
			last(p, choice, hold)
		case choice.Name.What == "think" && choice.Name.N == 1:
			last(p, choice, later*time.Duration(slices.Index(p.Clients, choice.Name.Who)))
		}
	}
	for i := range p.Faults {
		stretch(&p.Faults[i], at, length)
	}
	return p
}

// times are what there is to try for when faults strike, or for how long they
// last; one, where there is nothing to choose.
func times(p *harness.Plan, least, most time.Duration, chosen func(faults.Injection) bool) []time.Duration {
	list := []time.Duration{least}
	if slices.ContainsFunc(p.Faults, chosen) {
		tenth := p.Lease / 10
		for d := (least/tenth + 1) * tenth; d <= most; d += tenth {
			list = append(list, d)
		}
	}
	return list
}

func atATime(in faults.Injection) bool { return in.Point == nil }
func lasting(in faults.Injection) bool { return in.For > 0 || in.Amount != 0 }

// stretch lets a fault strike and last for other times than it does.
func stretch(in *faults.Injection, at, length time.Duration) {
	if in.Point == nil {
		in.At = at
	}
	switch {
	case in.Amount > 0:
		in.Amount = length
	case in.Amount < 0:
		in.Amount = -length
	case in.For > 0:
		in.For = length
	}
}

// last sets how long a client thinks or holds.
func last(p *harness.Plan, choice *env.Choice, d time.Duration) {
	choice.Value = d.Microseconds()
	longest := &p.Shape.Hold
	if choice.Name.What == "think" {
		longest = &p.Shape.Think
	}
	*longest = max(*longest, d+time.Microsecond) // what is drawn stays below
}

// inOrder names the clients c1, c2, … in the order in which they are granted
// the lock.
func (s *shrinker) inOrder(c *candidate) *candidate {
	order := slices.Clone(c.order)
	for _, name := range c.plan.Clients {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	names := clientNames(len(order))
	if slices.Equal(order, names) && slices.Equal(c.plan.Clients, names) {
		return c
	}
	renamed := func(name string) string {
		if i := slices.Index(order, name); i >= 0 {
			return names[i]
		}
		return name
	}
	p := clone(c.plan)
	p.Clients = names
	if p.Sections != nil {
		for i, name := range order {
			p.Sections[i] = c.plan.Sections[slices.Index(c.plan.Clients, name)]
		}
	}
	for i := range p.Faults {
		in := &p.Faults[i]
		in.On = slices.Clone(in.On)
		for j := range in.On {
			in.On[j] = renamed(in.On[j])
		}
		if in.Point != nil {
			in.Point.Client = renamed(in.Point.Client)
		}
	}
	for i := range p.Choices {
		who := &p.Choices[i].Name.Who
		client, server, link := strings.Cut(*who, "→")
		*who = renamed(client)
		if link {
			*who += "→" + server
		}
	}
	c, _ = s.rounder(c, p)
	return c
}

// roundFaults gives faults round times: tenths of T, or halves where that is
// not much more.
func (s *shrinker) roundFaults(c *candidate) *candidate {
	tenth := c.plan.Lease / 10
	for i := range c.plan.Faults {
		for _, field := range []func(*harness.Plan) *time.Duration{
			func(p *harness.Plan) *time.Duration { return &p.Faults[i].At },
			func(p *harness.Plan) *time.Duration { return &p.Faults[i].For },
			func(p *harness.Plan) *time.Duration { return &p.Faults[i].Amount },
		} {
			now := *field(c.plan)
			if now == 0 {
				continue
			}
			sign := now / max(now, -now)
			set := func(to time.Duration) (ok bool) {
				p := clone(c.plan)
				*field(p) = to * sign
				c, ok = s.rounder(c, p)
				return ok
			}
			for to := tenth; to < now*sign+tenth; to += tenth {
				if set(to) {
					break
				}
			}
			now = *field(c.plan) * sign
			if half := (now + 5*tenth - 1) / (5 * tenth) * 5 * tenth; half > now && half <= 2*now {
				set(half)
			}
		}
	}
	return c
}

// visibleHolds makes critical sections last for a while, all alike if possible.
func (s *shrinker) visibleHolds(c *candidate) *candidate {
	for _, hold := range []time.Duration{c.plan.Lease / 5, c.plan.Lease / 10, c.plan.Lease / 20} {
		var ok bool
		if c, ok = s.rounder(c, setTo(c.plan, hold, func(choice env.Choice) bool { return choice.Name.What == "hold" })); ok {
			return c
		}
	}
	for i := range c.plan.Choices {
		if i < len(c.plan.Choices) && c.plan.Choices[i].Name.What == "hold" {
			name := c.plan.Choices[i].Name
			c, _ = s.rounder(c, setTo(c.plan, c.plan.Lease/10, func(choice env.Choice) bool { return choice.Name == name }))
		}
	}
	return c
}

// roundThinking lets clients come at round times, and the later ones visibly
// after the first.
func (s *shrinker) roundThinking(c *candidate) *candidate {
	tenth := c.plan.Lease / 10
	for _, choice := range slices.Clone(c.plan.Choices) {
		if choice.Name.What != "think" || choice.Value == 0 && (choice.Name.N > 1 || choice.Name.Who == c.plan.Clients[0]) {
			continue
		}
		now := time.Duration(choice.Value) * time.Microsecond
		for to := tenth; to <= now+tenth; to += tenth {
			var ok bool
			if c, ok = s.rounder(c, setTo(c.plan, to, func(o env.Choice) bool { return o.Name == choice.Name })); ok {
				break
			}
		}
	}
	return c
}

// setTo sets what clients think or hold; nil: it is so.
func setTo(p *harness.Plan, d time.Duration, which func(env.Choice) bool) *harness.Plan {
	p = clone(p)
	some := false
	for i := range p.Choices {
		c := &p.Choices[i]
		if !which(*c) || c.Value == d.Microseconds() {
			continue
		}
		last(p, c, d)
		some = true
	}
	if !some {
		return nil
	}
	return p
}

// tidy writes what a plan does as simply as it can be written.
func tidy(p *harness.Plan) *harness.Plan {
	p = clone(p)
	if p.Sections != nil && slices.Min(p.Sections) == slices.Max(p.Sections) {
		p.Acquires, p.Sections = p.Sections[0], nil
	}
	if p.Sections != nil {
		p.Acquires = 0
	}
	longest := time.Duration(0)
	for _, c := range p.Choices {
		if c.Name.What == "think" {
			longest = max(longest, time.Duration(c.Value+1)*time.Microsecond)
		}
	}
	if longest > 0 {
		p.Shape.Think = min(p.Shape.Think, longest)
	}
	return p
}
