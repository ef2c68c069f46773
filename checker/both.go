package checker

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// How far the reference is asked.
const (
	referenceTimeout = 200 * time.Millisecond // for each property
	smallEnough      = 2000                   // operations of a history that is searched whole
)

// JudgeBoth is Judge, confirmed by Porcupine where that can be done in a short
// time: violations on the operations around their witness, everything on
// histories that are small enough. Where the two judges disagree the verdict
// is Unknown, and the reason begins with "the judges disagree".
func JudgeBoth(h *history.History) []Verdict {
	t := newTimeline(h)
	verdicts := t.judge()
	for i := range verdicts {
		verdicts[i] = t.confirm(verdicts[i])
	}
	return verdicts
}

func (t *timeline) confirm(v Verdict) Verdict {
	operations := t.operations(v.Property)
	if operations == nil || (v.Outcome != Valid && v.Outcome != Violated) {
		return v
	}
	if v.Outcome == Violated {
		if window := operations(around(v.Witness)); len(window) <= smallEnough {
			if out, _ := linearizable(window, referenceTimeout); out == Valid {
				return disagree(v, "Porcupine finds an order for the operations around it")
			}
		}
	}
	if len(t.holds)+len(t.accesses) > smallEnough { // not even listed: there may be a million
		return v
	}
	whole := operations(nil)
	if len(whole) > smallEnough {
		return v
	}
	switch out, _ := linearizable(whole, referenceTimeout); {
	case out == Valid && v.Outcome == Violated:
		return disagree(v, "Porcupine finds an order for all operations")
	case out == Violated && v.Outcome == Valid:
		return disagree(v, "Porcupine finds no order for the operations")
	default:
		return v
	}
}

// around keeps the holds that begin between the first and the last entry of a
// witness. Leaving out whole holds makes no violation: what is impossible for
// some of them is impossible for all.
func around(w *Witness) func(*hold) bool {
	first, last := int32(w.Entries[0]), int32(w.Entries[len(w.Entries)-1])
	return func(h *hold) bool { return first <= h.begin && h.begin <= last }
}

func disagree(v Verdict, why string) Verdict {
	said := "valid"
	if v.Witness != nil {
		said = v.Outcome.String() + ": " + v.Witness.Sentence
	}
	return Verdict{
		Property: v.Property, Outcome: Unknown,
		Reason: fmt.Sprintf("the judges disagree: %s; the direct check says %s", why, said),
	}
}
