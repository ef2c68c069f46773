package explore

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// measure is how long a run is for a reader. The first number that differs decides.
type measure [numMeasures]int64

const (
	clients    = iota
	injections // faults
	grants
	operations        // that clients invoked
	plannedSections   // critical sections in the plan
	otherViolations   // violated properties beside the one in question
	points            // how hard it is to describe where the faults strike
	disturbingChoices // choices that are not 0
	values            // their sum, with all durations of the faults
	numMeasures       = iota

	throughViolations = otherViolations + 1 // the parts that rounding must not increase
)

// compare returns a negative number if m is shorter than o.
func (m measure) compare(o *candidate) int { return slices.Compare(m[:], o.measure[:]) }

func (m measure) size() harness.Size {
	return harness.Size{Clients: int(m[clients]), Faults: int(m[injections]), Acquisitions: int(m[grants]), Operations: int(m[operations])}
}

func measureRun(plan *harness.Plan, h *history.History, verdicts []checker.Verdict) (m measure) {
	m[clients], m[injections], m[plannedSections] = int64(len(plan.Clients)), int64(len(plan.Faults)), int64(total(plan))
	for i := range h.Entries {
		switch e := &h.Entries[i]; {
		case e.Client == "":
		case e.Type == history.Invoke:
			m[operations]++
		case e.Type == history.OK && e.F == history.Acquire:
			m[grants]++
		}
	}
	for _, v := range verdicts {
		if v.Outcome == checker.Violated {
			m[otherViolations]++
		}
	}
	for _, in := range plan.Faults {
		m[points] += rank(in)
		m[values] += int64(in.At + in.For + max(in.Amount, -in.Amount))
	}
	for _, c := range plan.Choices {
		if c.Value != 0 {
			m[disturbingChoices]++
		}
		m[values] += c.Value
	}
	return m
}

// plain are the points that are easy to describe, the plainest first.
var plain = []faults.Point{
	{Op: history.Acquire, OK: true, After: true},
	{Op: history.Release, Last: true},
	{Op: history.Release, Request: 1},
	{Op: history.Write, Request: 1},
	{Op: history.Acquire, Request: 1},
	{Op: history.Acquire, Request: 1, After: true},
}

// rank returns how hard it is to describe where a fault strikes. A time is hardest.
func rank(in faults.Injection) int64 {
	if in.Point == nil {
		return 1000
	}
	p := *in.Point
	p.Client, p.Acquisition = "", 0
	i := slices.Index(plain, p)
	if i < 0 {
		i = len(plain)
	}
	return int64(100*in.Point.Acquisition + i)
}

// course is what the clients of a random run did when.
type course struct {
	began map[string][]time.Duration // when a client first asked in each of its critical sections
	order []string                   // the clients in the order of their first grants, then of their first requests
	held  []hold
}

// hold is a grant, from its ok to its end.
type hold struct {
	client          string
	from, to, until time.Duration // until: the end of its lease, as its client sees it; 0: none
}

func courseOf(h *history.History) course {
	c := course{began: map[string][]time.Duration{}}
	t := checker.ReadTimeline(h)
	var asked []string
	got := map[string]bool{} // clients that have been granted the lock in their section
	for _, o := range t.Operations {
		e := &h.Entries[o.Invoke]
		if e.F != history.Acquire {
			continue
		}
		first := c.began[o.Client] == nil
		if first {
			asked = append(asked, o.Client)
		}
		if first || got[o.Client] {
			c.began[o.Client] = append(c.began[o.Client], e.Time)
		}
		got[o.Client] = o.Hold >= 0
	}
	for _, x := range t.Holds {
		client, begin, end := t.Operations[x.Acquire].Client, &h.Entries[x.Begin], x.End
		if end < 0 {
			end = len(h.Entries) - 1
		}
		c.held = append(c.held, hold{client, begin.Time, h.Entries[end].Time, begin.ValidUntil})
		if !slices.Contains(c.order, client) {
			c.order = append(c.order, client)
		}
	}
	for _, name := range asked {
		if !slices.Contains(c.order, name) {
			c.order = append(c.order, name)
		}
	}
	return c
}

// together returns the longest time for which two clients held at once, within their
// leases or not.
func (c course) together(leases bool) (longest time.Duration) {
	for i, a := range c.held {
		for _, b := range c.held[:i] {
			to := min(a.to, b.to)
			for _, h := range []hold{a, b} {
				if leases && h.until > 0 {
					to = min(to, h.until)
				}
			}
			if a.client != b.client {
				longest = max(longest, to-max(a.from, b.from))
			}
		}
	}
	return longest
}
