// Package checker judges histories: a history in, a verdict for each property
// out. Pure functions: no clock, no network, and no knowledge of how the
// history came to be.
package checker

import "github.com/lockcheck/lockcheck/history"

// Property is something that a lock may promise.
type Property string

// The properties, in the order in which they are shown.
const (
	Exclusion      Property = "exclusion"
	LeaseExclusion Property = "lease-exclusion"
	Ownership      Property = "ownership"
	Fencing        Property = "fencing"
	Resource       Property = "resource"
	Answers        Property = "answers"
	Liveness       Property = "liveness"
	Handover       Property = "handover"
	Fairness       Property = "fairness"
)

// Properties lists them all.
var Properties = [...]Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover, Fairness}

// Outcome of judging one property.
type Outcome uint8

// The outcomes. Unknown is never valid.
const (
	Valid Outcome = iota + 1
	Violated
	Unknown
	NA // does not apply; Verdict.Reason says why
)

// Outcomes are all of them, with the one that decides first.
var Outcomes = [...]Outcome{Violated, Unknown, Valid, NA}

// Worst is the one that decides of the outcomes that came; NA: none did.
func Worst(came func(Outcome) bool) Outcome {
	for _, out := range Outcomes {
		if came(out) {
			return out
		}
	}
	return NA
}

func (o Outcome) String() string {
	return [...]string{"?", "valid", "violated", "unknown", "n/a"}[o]
}

// Verdict on one property.
type Verdict struct {
	Property Property
	Outcome  Outcome
	Reason   string   // of Unknown and NA
	Witness  *Witness // of Violated
}

// Witness is what convicts: facts that no choice for the rest of the history
// can explain.
type Witness struct {
	Sentence string // one English sentence
	Entries  []int  // positions in History.Entries, in order
}

// judges are the judges of Properties, in their order.
var judges = [len(Properties)]func(*timeline) Verdict{
	exclusion, leaseExclusion, ownership, fencing, resource, answers, liveness, handover, fairness,
}

// Judge gives a verdict on each of Properties, in their order. The work is
// O(n log n) in the number of entries for histories as locks produce them.
//
// It expects a history that history.Check accepts. Where no acquire succeeded
// nothing is valid: what is not violated is unknown.
func Judge(h *history.History) []Verdict { return newTimeline(h).judge() }

func (t *timeline) judge() []Verdict {
	t.verdicts = room(t.verdicts, len(judges))
	for _, judge := range judges {
		v := judge(t)
		if v.Outcome == Valid && t.grants == 0 {
			v = Verdict{Property: v.Property, Outcome: Unknown, Reason: "no acquire succeeded: there is nothing to judge"}
		}
		t.verdicts = append(t.verdicts, v)
	}
	return t.verdicts
}
