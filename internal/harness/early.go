package harness

import (
	"errors"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// A brokenError is that a run did not come to its end, or its place did not. Of
// its entries the first ones, so many, were recorded while nothing is known to
// have been the matter with the place.
//
// A server that dies of itself is a fault that nobody injected, and what others
// make of that, as a replica that takes its place, can break any promise. So
// where it is not known that all servers lived none of the entries are.
type brokenError struct {
	error
	whole int
}

func (e *brokenError) Unwrap() error { return e.error }

// A CloseError is that a run has come to its end, and what its place has made
// could not be removed. It takes nothing from what the run has shown.
type CloseError struct{ Err error }

func (e *CloseError) Error() string { return e.Err.Error() }

func (e *CloseError) Unwrap() error { return e.Err }

// living is a place whose servers may die though nobody makes them. Alive is nil
// where none has died that no fault has ended.
type living interface{ Alive() error }

// alive is the place's, of a run that has just ended.
func (r *recorder) alive() error {
	if p, ok := r.place.(living); ok {
		return p.Alive()
	}
	return nil
}

// whole is how many of the entries of a run that has just ended were recorded
// while nothing was the matter with its place, whose servers are so alive.
func (r *recorder) whole(alive error) int {
	if alive != nil {
		return 0
	}
	r.injector.mu.Lock()
	defer r.injector.mu.Unlock()
	if r.injector.err != nil {
		return r.injector.whole
	}
	return r.count()
}

// lasting are the properties whose violation nothing that follows can undo. A
// wait may have been for the place, and what a store has too much may go yet.
var lasting = []checker.Property{
	checker.Exclusion, checker.LeaseExclusion, checker.Ownership, checker.Fencing, checker.Resource,
}

// JudgeEarly judges a run that did not come to its end, as why says: only what
// convicts without the rest of it is a violation, and nothing is valid. After a
// CloseError it judges all of it.
func JudgeEarly(plan *Plan, h *history.History, why error) *Judged {
	if closed := (*CloseError)(nil); errors.As(why, &closed) {
		return Judge(plan, h)
	}
	begun := *h
	if broken := (*brokenError)(nil); errors.As(why, &broken) {
		begun.Entries = begun.Entries[:broken.whole]
	}
	j := Judge(plan, &begun)
	j.History = h
	for i, v := range j.Verdicts {
		if v.Outcome != checker.Violated || !slices.Contains(lasting, v.Property) {
			j.Verdicts[i] = checker.Verdict{Property: v.Property, Outcome: checker.Unknown, Reason: "the run ended early"}
		}
	}
	return j
}
