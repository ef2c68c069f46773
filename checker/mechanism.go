package checker

import (
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// Mechanism names the way in which a property was violated:
//
//	property:cause:fault
//
// The cause is the step that went wrong, what it did and to whose entry, such as
// "release-removed-others-entry". The fault is the one that led to it, or "none". A
// Mechanism has letters, digits, - and : only. It contains no name of a client, a server
// or a lock, no time and no seed, so runs that fail in the same way have the same one.
// docs/shrinking.md lists the causes.
type Mechanism string

// Property returns the violated property.
func (m Mechanism) Property() Property {
	p, _, _ := strings.Cut(string(m), ":")
	return Property(p)
}

// MechanismOf returns the mechanism of a verdict on h, or "" if the verdict is no
// violation.
func MechanismOf(h *history.History, v Verdict) Mechanism { return newTimeline(h).mechanism(v) }

// Mechanism returns the mechanism of a verdict of the last Examine.
func (x *Examiner) Mechanism(v Verdict) Mechanism { return x.timeline.mechanism(v) }

func (t *timeline) mechanism(v Verdict) Mechanism {
	if v.Outcome != Violated || v.Witness == nil {
		return ""
	}
	c := t.causeOf(v)
	return Mechanism(string(v.Property) + ":" + c.did + ":" + t.blame(&c))
}

// causeOf returns the cause of a violation.
func (t *timeline) causeOf(v Verdict) cause {
	lines := make([]int32, len(v.Witness.Entries))
	for i, pos := range v.Witness.Entries {
		lines[i] = int32(pos)
	}
	b := blamer{t.stored()}
	last := lines[len(lines)-1]
	switch v.Property {
	case Exclusion, LeaseExclusion:
		if a, o := b.begun(lines); o != none {
			return b.overlap(a, o)
		}
	case Ownership:
		for _, pos := range lines {
			if a := b.actAt(pos); a != nil && b.victim(a) != nil {
				return b.trespass(a, b.victim(a))
			}
		}
	case Resource:
		return b.lostUpdate(lines)
	case Fencing:
		if a, o := b.begun(lines); o != none {
			return b.tokens(a, o)
		}
	case Answers:
		return b.untrueAnswer(lines)
	case Liveness, Handover:
		return b.waitedFor(lines)
	case Fairness:
		did := "starved"
		if t.overtaking() != nil {
			did = "overtaken"
		}
		return b.about(cause{did: did, from: lines[0], to: last, at: last}, lines)
	}
	return b.about(cause{did: "unknown", to: last, at: last}, lines)
}

// blame returns the name of the fault that led to a cause, or "none": one that struck
// the client or the server whose step it was, else another client or server
// concerned, else any server. Of several it is the one that was active at the decisive
// event, and of these the last one.
func (t *timeline) blame(c *cause) string {
	best, rank := none, 0
	for i := range t.faults {
		f := &t.faults[i]
		e := t.entry(f.start)
		if f.kind == stall || f.start > c.to || f.end < c.from || f.hits.Set && f.hits.V == 0 {
			continue
		}
		r := t.concerns(e.On, c, f.kind.onServers())
		if r == 0 {
			continue
		}
		if r *= 2; f.start <= c.at && f.end >= c.at {
			r++
		}
		if r >= rank {
			best, rank = int32(i), r
		}
	}
	if best == none {
		return "none"
	}
	return t.entry(t.faults[best].start).F
}

// concerns returns how closely a fault on some clients and servers concerns a cause; 0:
// not at all.
func (t *timeline) concerns(on []string, c *cause, onServers bool) int {
	rank := 0
	if onServers {
		rank = 1
	}
	for _, name := range on {
		for _, server := range c.servers {
			if server == name {
				rank = 3
			}
		}
		for _, id := range c.clients {
			if t.names.list[id] == name {
				return 3
			}
		}
		for _, id := range c.others {
			if t.names.list[id] == name {
				rank = max(rank, 2)
			}
		}
	}
	return rank
}
