// Package checker judges histories: a history in, a verdict for each property
// out. Pure functions: no clock, no network, and no knowledge of how the
// history came to be.
package checker

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

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
	// Porcupine is what the second judge says; "": it was not asked, or has no model
	// of the property.
	Porcupine Opinion
}

// Witness is what convicts: facts that no choice for the rest of the history
// can explain.
type Witness struct {
	Sentence string // one English sentence
	Entries  []int  // positions in History.Entries, in order
}

// CutOff is the reason for Unknown where the end of a run is missing.
const CutOff = "the history is incomplete: its end is missing, so the run was cut off"

// Incomplete says why nothing is valid in a history with this header and this last
// entry; nil: it has no entries. "": it is complete.
func Incomplete(head *history.Header, last *history.Entry) string {
	switch {
	case last != nil && last.Process.Name == history.Nemesis && last.F == history.Budget:
		return "the run used up its budget: " + last.Text
	case head.CutOff(last):
		return CutOff
	}
	return ""
}

// judges are the judges of Properties, in their order.
var judges = [len(Properties)]func(*timeline) Verdict{
	exclusion, leaseExclusion, ownership, fencing, resource, answers, liveness, handover, fairness,
}

// Judge gives a verdict on each of Properties, in their order. The work is
// O(n log n) in the number of entries for histories as locks produce them.
//
// It expects a history that history.Check accepts. Where no acquire succeeded
// nothing is valid, and where no server granted anything either nothing is
// violated: both are unknown. Nor is it valid where lockcheck recorded the run
// and the line with its end is missing.
func Judge(h *history.History) []Verdict { return newTimeline(h).judge() }

func (t *timeline) judge() []Verdict {
	t.verdicts = room(t.verdicts, len(judges))
	for v := range t.verdict {
		t.verdicts = append(t.verdicts, v)
	}
	return t.verdicts
}

// verdict yields the verdicts, one after the other.
func (t *timeline) verdict(yield func(Verdict) bool) {
	why := t.incomplete()
	if t.grants == 0 && (why == "" || why == CutOff) {
		why = "no acquire succeeded: there is nothing to judge"
	}
	someGrant := t.granted()
	for _, judge := range judges {
		v := judge(t)
		if v.Outcome == Valid && why != "" || v.Outcome == Violated && !someGrant {
			v = Verdict{Property: v.Property, Outcome: Unknown, Reason: why}
		}
		if !yield(v) {
			return
		}
	}
}

// incomplete says why nothing of the history is valid; "": something may be.
func (t *timeline) incomplete() string {
	if n := t.size(); n > 0 {
		return Incomplete(t.head, t.entry(n-1))
	}
	return Incomplete(t.head, nil)
}

// granted reports whether somebody was granted the lock: a client says so, or a
// server of a client that died before its answer came.
func (t *timeline) granted() bool {
	return t.grants > 0 || len(t.confirmed) > 0 || slices.ContainsFunc(t.acts, func(a act) bool { return a.deed == granted || a.deed == takenOver })
}
