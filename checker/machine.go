package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// On real servers a slow machine may do what no lock can help. It is the reason only before
// the first fault: a fault may have the same effects.

// calm returns the position of the first fault where a slow machine may be a reason, and none
// in virtual time.
func (t *timeline) calm() int32 {
	if !t.head.RealTime() {
		return none
	}
	if i := slices.IndexFunc(t.faults, func(f fault) bool { return f.kind != stall }); i >= 0 {
		return t.faults[i].start
	}
	return t.size()
}

// stoodStill returns why the machine may be the reason for w, which began at from and came
// about at to; "": it cannot be. A stall of T/2 or more may outlast what is left of a lease, or
// of a session.
func (t *timeline) stoodStill(from, to int32, w *Witness) string {
	if to >= t.calm() {
		return ""
	}
	still := t.excused(t.at(from), t.at(to), byStall)
	if still == 0 || still < t.lease/2 {
		return ""
	}
	return fmt.Sprintf("the machine stood still for %s between %s and %s, and no fault had struck, so it may be the reason: %s",
		seconds(still), t.when(from), t.when(to), w.Sentence)
}

// silence returns why a slow machine, and not the lock, may be the reason for the wait in g,
// where bound is allowed; "": it cannot be. An acquire or a release may get
// no answer although no fault has struck. Its entry then stays for up to T.
func (t *timeline) silence(g *gap, bound time.Duration) string {
	free, _ := t.freeFrom(g)
	calm := t.calm()
	for i := range t.ops {
		o := &t.ops[i]
		if o.invoke >= min(calm, g.end) {
			break
		}
		if o.lock != g.lock || o.verb != acquire && o.verb != release || o.outcome != history.Info || o.done >= calm || t.entry(o.done).Error == history.ErrCrashed {
			continue
		}
		// One that asked in vain for longer than the bound is itself a client that waited.
		if asked, over := t.at(o.invoke), t.at(o.done); over+t.lease > free && over-max(asked, free) <= bound {
			return fmt.Sprintf("%s's %s at %s got no answer although no fault had struck, so a slow machine may be the reason for the wait for %s between %s and %s",
				t.procName(o.proc), t.entry(o.invoke).F, seconds(asked), t.lockName(o.lock), seconds(g.from), seconds(g.to))
		}
	}
	return ""
}

// unless returns valid, or unknown if there is a doubt.
func unless(doubt string, p Property) Verdict {
	if doubt != "" {
		return unknown(p, doubt)
	}
	return valid(p)
}
