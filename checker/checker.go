// Package checker judges histories: a history in, a verdict for each property out.
// Its functions are pure: they use no clock and no network, and do not know how the
// history was made.
package checker

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// To read this package, begin with its values and go up: no file needs one that stands
// later in this list.
//   - values: ids, kinds, overlaps, heap, journal, counts, property, promise;
//   - a history as the judges see it: memory, records, timeline; waits, holds, faults
//     and servers, which fill it; read;
//   - tools of the judges: sentence, finders, gaps, stored, places;
//   - a judge for each property, in files named after it;
//   - the situations that a run reached: reach, exposure, hazards_reach, hazards;
//   - why a property was violated: cause, mechanism;
//   - entry points: this file, reading, longest.
//
// Two other judges share only small things with this one: lines and reference are the
// second opinion, which both and picture ask for; the monitor files judge a run while
// it goes on.

// CutOff is the reason for Unknown if the end of a run is missing.
const CutOff = "the history is incomplete: its end is missing, so the run was cut off"

// Incomplete returns why no property of a history with this header and last entry is
// valid, or "" if the history is complete. last is nil if it has no entries.
func Incomplete(head *history.Header, last *history.Entry) string {
	switch {
	case last != nil && last.Process.Name == history.Nemesis && last.F == history.Budget:
		return "the run used up its budget: " + last.Text
	case head.CutOff(last):
		return CutOff
	}
	return ""
}

// judges are the functions that judge Properties, in the same order.
var judges = [len(Properties)]func(*timeline) Verdict{
	exclusion, leaseExclusion, ownership, fencing, resource, answers, liveness, handover, fairness,
}

// Judge returns a verdict on each of Properties, in their order. The work is O(n log
// n) in the number of entries for histories as locks produce them.
//
// It expects a history that history.Check accepts. If no acquire succeeded, no
// property is valid. If no server granted anything either, no property is violated.
// The verdicts are then Unknown. If lockcheck recorded the run and the line with its
// end is missing, no property is valid either.
func Judge(h *history.History) []Verdict { return newTimeline(h).judge() }

func (t *timeline) judge() []Verdict {
	t.verdicts = room(t.verdicts, len(judges))
	for v := range t.verdict {
		t.verdicts = append(t.verdicts, v)
	}
	return t.verdicts
}

// verdict yields the verdicts in order.
func (t *timeline) verdict(yield func(Verdict) bool) {
	why := t.incomplete()
	if t.grants == 0 && (why == "" || why == CutOff) {
		why = "no acquire succeeded: there is nothing to judge"
	}
	someGrant := t.granted()
	for _, judge := range judges {
		v := judge(t)
		if v.Outcome == Valid && why != "" || v.Outcome == Violated && !someGrant {
			v = unknown(v.Property, why)
		}
		if !yield(v) {
			return
		}
	}
}

// violatedLocks names the locks that violate a property, in the order in which the
// history names them.
func (t *timeline) violatedLocks(p Property) (list []string) {
	t.violated = make([]bool, len(t.locks.list))
	judges[slices.Index(Properties[:], p)](t)
	for l, is := range t.violated {
		if is {
			list = append(list, t.locks.list[l])
		}
	}
	t.violated = nil
	return list
}

// incomplete returns why no property of the history is valid, or "" if some may be.
func (t *timeline) incomplete() string {
	if n := t.size(); n > 0 {
		return Incomplete(t.head, t.entry(n-1))
	}
	return Incomplete(t.head, nil)
}

// granted reports whether any client was granted the lock: by its own line, or by a
// server's line if the client died before its answer came.
func (t *timeline) granted() bool {
	return t.grants > 0 || len(t.confirmed) > 0 || slices.ContainsFunc(t.acts, func(a act) bool { return a.deed == granted || a.deed == takenOver })
}

// Reach counts the situations that h reached. A fault on a client touches it if the
// client had an operation or a hold open while the fault lasted; a fault on a server,
// if any client had. A fault on a link touches if it hit a message, or, if its line
// does not show that, if the client had an operation open.
func Reach(h *history.History) Counts { return newTimeline(h).reach() }

// ReachLog is Reach of a long history.
func ReachLog(l *history.Log) Counts { return newLogTimeline(l).reach() }

// ReachHazards is Reach, and also returns the hazards that h reached.
func ReachHazards(h *history.History) (Counts, HazardSet) {
	t := newTimeline(h)
	c := t.reach()
	return c, t.hazards(&c)
}

// Examiner examines one history after another in the same memory. The zero
// Examiner is ready.
type Examiner struct{ timeline timeline }

// Examine does the work of Judge, Reach and ReachHazards for little more than the
// price of one of them. The verdicts are valid until the next call.
func (x *Examiner) Examine(h *history.History) ([]Verdict, Counts, HazardSet) {
	x.timeline.read(h)
	verdicts, reached := x.timeline.judge(), x.timeline.reach()
	return verdicts, reached, x.timeline.hazards(&reached)
}
