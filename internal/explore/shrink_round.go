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

// Rounding makes a shrunk run readable: round durations, visible holds, and clients in
// the order of their grants. It must not increase the clients, faults, acquires,
// operations and violated properties.

func (s *shrinker) round(c *candidate) *candidate {
	c = s.inOrder(c)
	alone, anything := c.measure, c.measure
	alone[otherViolations], anything[otherViolations] = 1, int64(len(checker.Properties))
	// The best result violates nothing else. But an overlap should be visible, and if
	// something else is violated anyway, more may be.
	for _, wanted := range []struct {
		limit measure
		shows bool
	}{{alone, true}, {c.measure, true}, {anything, true}, {alone, false}, {c.measure, false}} {
		if !s.overlaps() && (!wanted.shows || wanted.limit == anything && c.measure[otherViolations] == 1) {
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

// overlaps reports whether the property is about two clients that hold at once.
func (s *shrinker) overlaps() bool {
	return s.property == checker.Exclusion || s.property == checker.LeaseExclusion
}

// shows reports whether the violation is visible in 80 columns.
func (s *shrinker) shows(c *candidate) bool {
	return !s.overlaps() || c.together(s.property == checker.LeaseExclusion) >= c.plan.Lease/20
}

// rounder tries a change, and keeps it if nothing gets longer or harder to see.
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
	for part := range throughViolations {
		if n.measure[part] > limit[part] {
			return c, false
		}
	}
	return n, true
}

// fromTheBook tries the run as a textbook would draw it.
func (s *shrinker) fromTheBook(c *candidate, limit measure, shows bool) (*candidate, bool) {
	tenth := c.plan.Lease / 10
	for _, hold := range []time.Duration{2 * tenth, tenth} {
		for _, later := range []time.Duration{tenth, 0} {
			for _, at := range times(c.plan, 0, 10*tenth, atATime) {
				for _, length := range times(c.plan, tenth/2, 25*tenth, hasDuration) {
					if s.stopped() != "" {
						return c, false
					}
					if n, ok := s.within(c, textbookPlan(c.plan, hold, later, at, length), limit, shows); ok {
						return n, true
					}
				}
			}
		}
	}
	return c, false
}

// textbookPlan returns a plan with latencies of 0. The first client comes at once, each of the
// others later than the one before. Each holds for a while, and the faults have a round
// duration.
func textbookPlan(p *harness.Plan, hold, later, at, length time.Duration) *harness.Plan {
	p = clone(p)
	for i := range p.Choices {
		choice := &p.Choices[i]
		switch choice.Value = 0; {
		case choice.Name.What == "hold":
			setChoice(p, choice, hold)
		case choice.Name.What == "think" && choice.Name.N == 1:
			setChoice(p, choice, later*time.Duration(slices.Index(p.Clients, choice.Name.Who)))
		}
	}
	for i := range p.Faults {
		stretch(&p.Faults[i], at, length)
	}
	return p
}

// times returns the values to try for the times or the durations of faults; only one if
// no fault has any.
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

func atATime(in faults.Injection) bool     { return in.Point == nil }
func hasDuration(in faults.Injection) bool { return in.For > 0 || in.Amount != 0 }

// stretch sets the time and the duration of a fault.
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

// setChoice sets the think time or the hold of a choice, or any choice to 0.
func setChoice(p *harness.Plan, choice *env.Choice, d time.Duration) {
	if choice.Value = d.Microseconds(); d == 0 {
		return
	}
	longest := &p.Shape.Hold
	if choice.Name.What == "think" {
		longest = &p.Shape.Think
	}
	*longest = max(*longest, d+time.Microsecond) // draws stay below it
}

// inOrder names the clients c1, c2, … in the order of their grants.
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

// roundFaults gives faults round times: tenths of T, or halves if these are not much
// more.
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

// visibleHolds gives critical sections a visible duration, the same for all if
// possible.
func (s *shrinker) visibleHolds(c *candidate) *candidate {
	for _, hold := range []time.Duration{c.plan.Lease / 5, c.plan.Lease / 10, c.plan.Lease / 20} {
		var ok bool
		if c, ok = s.rounder(c, setTo(c.plan, hold, func(n env.Name) bool { return n.What == "hold" })); ok {
			return c
		}
	}
	for i := range c.plan.Choices {
		if i < len(c.plan.Choices) && c.plan.Choices[i].Name.What == "hold" {
			name := c.plan.Choices[i].Name
			c, _ = s.rounder(c, setTo(c.plan, c.plan.Lease/10, func(n env.Name) bool { return n == name }))
		}
	}
	return c
}

// roundThinking makes clients come at round times, the later ones visibly after the
// first.
func (s *shrinker) roundThinking(c *candidate) *candidate {
	tenth := c.plan.Lease / 10
	for _, choice := range slices.Clone(c.plan.Choices) {
		if choice.Name.What != "think" || choice.Value == 0 && (choice.Name.N > 1 || choice.Name.Who == c.plan.Clients[0]) {
			continue
		}
		now := time.Duration(choice.Value) * time.Microsecond
		for to := tenth; to <= now+tenth; to += tenth {
			var ok bool
			if c, ok = s.rounder(c, setTo(c.plan, to, func(n env.Name) bool { return n == choice.Name })); ok {
				break
			}
		}
	}
	return c
}

// setTo sets think times or holds, or any choices to 0; nil: nothing changes.
func setTo(p *harness.Plan, d time.Duration, which func(env.Name) bool) *harness.Plan {
	p = clone(p)
	some := false
	for i := range p.Choices {
		c := &p.Choices[i]
		if !which(c.Name) || c.Value == d.Microseconds() {
			continue
		}
		setChoice(p, c, d)
		some = true
	}
	if !some {
		return nil
	}
	return p
}

// tidy writes a plan in its simplest form.
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
