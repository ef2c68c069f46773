package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// spans calls try for each span of n things to leave out: half of them, a quarter, …,
// one. try returns how many remain.
func (s *shrinker) spans(n int, try func(from, to int) int) {
	for size := (n + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < n && s.stopped() == ""; {
			if left := try(from, min(from+size, n)); left < n {
				n = left
			} else {
				from += size
			}
		}
	}
}

func (s *shrinker) dropFaults(c *candidate) *candidate {
	s.spans(len(c.plan.Faults), func(from, to int) int {
		p := clone(c.plan)
		p.Faults = slices.Delete(p.Faults, from, to)
		c, _ = s.improve(c, p)
		return len(c.plan.Faults)
	})
	return c
}

func (s *shrinker) dropClients(c *candidate) *candidate {
	for i := 0; i < len(c.plan.Clients) && len(c.plan.Clients) > 1; {
		p := clone(c.plan)
		dropClient(p, i)
		var ok bool
		if c, ok = s.improve(c, p); !ok {
			i++
		}
	}
	return c
}

// dropClient removes a client, with the faults that strike it or wait for it.
func dropClient(p *harness.Plan, i int) {
	name := p.Clients[i]
	p.Clients = slices.Delete(p.Clients, i, i+1)
	if p.Sections != nil {
		p.Sections = slices.Delete(p.Sections, i, i+1)
	}
	p.Faults = slices.DeleteFunc(p.Faults, func(in faults.Injection) bool {
		return slices.Contains(in.On, name) || in.Point != nil && in.Point.Client == name
	})
}

// nth is one critical section of one client, from 1.
type nth struct {
	client string
	n      int
}

// dropSections leaves out critical sections. Later ones either move up or stay at their
// time.
func (s *shrinker) dropSections(c *candidate) *candidate {
	for _, stay := range []bool{false, true} {
		list := begunSections(c)
		s.spans(len(list), func(from, to int) int {
			drop := map[nth]bool{}
			for _, x := range list[from:to] {
				drop[x] = true
			}
			c, _ = s.improve(c, withoutSections(c, drop, stay))
			list = begunSections(c)
			return len(list)
		})
	}
	return c
}

// dropRest leaves out the critical sections that no client began.
func (s *shrinker) dropRest(c *candidate) *candidate {
	p := clone(c.plan)
	p.Sections = make([]int, len(p.Clients))
	for i, name := range p.Clients {
		p.Sections[i] = max(1, len(c.began[name]))
	}
	c, _ = s.improve(c, p)
	return c
}

// begunSections returns the critical sections that clients began, in order of time.
func begunSections(c *candidate) (list []nth) {
	for client, times := range c.began {
		for i := range times {
			list = append(list, nth{client, i + 1})
		}
	}
	slices.SortFunc(list, func(a, b nth) int {
		if d := c.began[a.client][a.n-1] - c.began[b.client][b.n-1]; d != 0 {
			return int(d)
		}
		return strings.Compare(a.client, b.client)
	})
	return list
}

// withoutSections leaves out critical sections with their choices, and renames the
// choices of later sections. stay: the client thinks during the time that has become
// free. It returns nil if it cannot be done.
func withoutSections(c *candidate, drop map[nth]bool, stay bool) *harness.Plan {
	p := clone(c.plan)
	if p.Shape.Think < time.Microsecond {
		return nil // no choice marks the beginning of a section
	}
	left := map[string][]int{} // the remaining sections, by client
	for _, name := range p.Clients {
		for n := range c.began[name] {
			if !drop[nth{name, n + 1}] {
				left[name] = append(left[name], n+1)
			}
		}
	}
	for i := len(p.Faults) - 1; i >= 0; i-- {
		point := p.Faults[i].Point
		if point == nil {
			continue
		}
		at := slices.Index(left[point.Client], point.Acquisition)
		if at < 0 {
			p.Faults = slices.Delete(p.Faults, i, i+1)
			continue
		}
		point.Acquisition = at + 1
	}
	p.Choices = nil
	in := map[string]int{} // the present section of each client
	thought := map[nth]time.Duration{}
	counts := map[env.Name]int{}
	for _, choice := range c.plan.Choices {
		name := choice.Name
		client, _, _ := strings.Cut(name.Who, "→")
		if name.What == "think" {
			in[client] = name.N
			thought[nth{client, name.N}] = time.Duration(choice.Value) * time.Microsecond
		}
		at := slices.Index(left[client], in[client])
		if at < 0 {
			continue
		}
		if name.What == "think" && stay {
			after := 0 // the remaining section before this one
			if at > 0 {
				after = left[client][at-1]
			}
			if after+1 < name.N { // it thinks after that section, and asks at its old time
				free := c.began[client][after] - thought[nth{client, after + 1}]
				choice.Value = (c.began[client][name.N-1] - free).Microseconds()
			}
		}
		counts[env.Name{What: name.What, Who: name.Who}]++
		choice.Name.N = counts[env.Name{What: name.What, Who: name.Who}]
		p.Choices = append(p.Choices, choice)
		if name.What == "think" {
			p.Shape.Think = min(max(p.Shape.Think, time.Duration(choice.Value+1)*time.Microsecond), 10*p.Lease)
		}
	}
	p.Sections = make([]int, len(p.Clients))
	for i := len(p.Clients) - 1; i >= 0; i-- {
		p.Sections[i] = len(left[p.Clients[i]])
		if p.Sections[i] == 0 {
			dropClient(p, i)
		}
	}
	if len(p.Clients) == 0 {
		return nil
	}
	return p
}
