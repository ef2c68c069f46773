package harness

import (
	"errors"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// A brokenError reports that a run or its environment failed. The first whole entries
// were recorded while the environment is known to have worked.
//
// A server that dies by itself is a fault without an injection. Its effects, such as a
// replica that takes over, can break any promise. So whole is 0 unless all servers are
// known to have lived.
type brokenError struct {
	error
	intact int
}

func (e *brokenError) Unwrap() error { return e.error }

// A CloseError reports that the environment of a finished run could not be removed. The
// history is complete.
type CloseError struct{ Err error }

func (e *CloseError) Error() string { return e.Err.Error() }

func (e *CloseError) Unwrap() error { return e.Err }

// liveEnvironment is an environment whose servers may die by themselves. Alive returns an error
// if one has died without a fault.
type liveEnvironment interface{ Alive() error }

// intactEntries returns how many entries of a run that has just ended were recorded while its
// environment worked. alive is the result of Alive.
func (r *recorder) intactEntries(alive error) int {
	if alive != nil {
		return 0
	}
	r.injector.mu.Lock()
	defer r.injector.mu.Unlock()
	if r.injector.err != nil {
		return r.injector.intact
	}
	return r.count()
}

// finalProperties are the properties whose violation is final. A wait may have been for the
// environment, and an excess entry in a store may still go.
var finalProperties = []checker.Property{
	checker.Exclusion, checker.LeaseExclusion, checker.Ownership, checker.Fencing, checker.Resource,
}

// JudgeEarly judges a run that failed with why. It reports only violations that no
// later line could undo; everything else is unknown. After a CloseError it judges as
// usual.
func JudgeEarly(plan *Plan, h *history.History, why error) *Judged {
	if closed := (*CloseError)(nil); errors.As(why, &closed) {
		return Judge(plan, h)
	}
	begun := *h
	if broken := (*brokenError)(nil); errors.As(why, &broken) {
		begun.Entries = begun.Entries[:broken.intact]
	}
	j := Judge(plan, &begun)
	j.History = h
	for i, v := range j.Verdicts {
		if v.Outcome != checker.Violated || !slices.Contains(finalProperties, v.Property) {
			j.Verdicts[i] = checker.Verdict{Property: v.Property, Outcome: checker.Unknown, Reason: "the run ended early"}
		}
	}
	return j
}
