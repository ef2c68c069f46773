package checker

import (
	"slices"
	"sort"

	"github.com/lockcheck/lockcheck/history"
)

// Reach counts what h went through. A fault on a client touches somebody when
// the client had an operation or a hold open while it lasted; one on a server,
// when anybody had; one on a link, when it hit a message, or, where it does
// not say, when an operation of the client was open.
func Reach(h *history.History) Counts { return newTimeline(h).reach() }

// Examine is Judge and Reach at the price of little more than one of them.
func Examine(h *history.History) ([]Verdict, Counts) {
	return new(Examiner).Examine(h)
}

// Examiner examines one history after another in the same memory. The zero
// Examiner is ready.
type Examiner struct{ timeline timeline }

// Examine is as the function. The verdicts are good until the next call.
func (x *Examiner) Examine(h *history.History) ([]Verdict, Counts) {
	x.timeline.read(h)
	return x.timeline.judge(), x.timeline.reach()
}

func (t *timeline) reach() Counts {
	var c Counts
	c[Grants], c[Renewed], c[LostNoticed] = t.grants, t.renewals, t.losses
	c[Promotions] = len(t.promotions)
	for _, pos := range t.promotions {
		if t.someHold(pos) {
			c[FailoverWithHolder]++
		}
	}
	t.reachOps(&c)
	t.reachActs(&c)
	t.reachAccesses(&c)
	for i := range t.faults {
		if t.faults[i].kind != stall {
			t.reachFault(&c, &t.faults[i])
		}
	}
	return c
}

// someHold tells whether somebody held something at pos.
func (t *timeline) someHold(pos int32) bool {
	return slices.ContainsFunc(t.holds, func(h hold) bool { return h.covers(pos) })
}

func (t *timeline) reachOps(c *Counts) {
	furthest := t.scratch.zeros(len(t.holds)) // the last end of the holds up to here
	var end int32
	for i := range t.holds {
		end = max(end, t.holds[i].end)
		furthest[i] = end
	}
	for i := range t.ops {
		o := &t.ops[i]
		if o.verb == release && t.entries[o.invoke].Grant == 0 && o.hold == none {
			c[ReleasedUnheld]++
		}
		switch {
		case o.verb == acquire:
			if t.contended(o, furthest) {
				c[Contended]++
			}
			if o.outcome == history.Info {
				c[AmbiguousAcquires]++
			}
		case o.verb == release && o.outcome == history.Info:
			c[AmbiguousReleases]++
		case o.outcome == history.Fail && len(t.accesses) == 0 && t.entries[o.done].Error == history.ErrStaleToken:
			c[StaleRefused]++
		}
	}
}

// contended tells whether somebody else held at some time while o was open.
func (t *timeline) contended(o *op, furthest []int32) bool {
	done := o.done
	if done == none {
		done = t.size()
	}
	i := sort.Search(len(t.holds), func(i int) bool { return t.holds[i].begin >= done }) - 1
	for ; i >= 0 && furthest[i] > o.invoke; i-- {
		if h := &t.holds[i]; h.lock == o.lock && h.proc != o.proc && h.end > o.invoke {
			return true
		}
	}
	return false
}

func (t *timeline) reachActs(c *Counts) {
	for i := range t.acts {
		a := &t.acts[i]
		if a.deed == removed && t.victim(a) != nil {
			c[ReleasedUnowned]++
		}
		h := t.resting(a)
		if h == nil {
			continue
		}
		switch a.deed {
		case expired:
			if h.covers(a.pos) {
				c[LeaseExpiredWhileHeld]++
				if t.wantedByOthers(h, a.pos) {
					c[LeaseExpiredWhileHeldAndWaited]++
				}
			} else if t.releasing(h, a.pos) {
				c[LeaseExpiredWhileReleasing]++
			}
		case lost:
			if h.covers(a.pos) {
				c[EntryLostWhileHeld]++
			}
		}
	}
}

// resting is the hold that rests on the entry that a acts on: of several one that
// is open, if there is one; nil: none.
func (t *timeline) resting(a *act) *hold {
	if a.made == none {
		return nil
	}
	var resting *hold
	if id := t.ops[a.made].hold; id != none {
		resting = &t.holds[id]
	}
	for id := t.guestOf(a.made); id != none && (resting == nil || !resting.covers(a.pos)); id = t.holds[id].fellow {
		if h := &t.holds[id]; h.covers(a.pos) {
			resting = h
		}
	}
	return resting
}

func (t *timeline) wantedByOthers(h *hold, pos int32) bool {
	for i := range t.waitsUntil(pos) {
		if w := &t.waits[i]; w.lock == h.lock && w.client != t.procs[h.proc].client && pos < w.end {
			return true
		}
	}
	return false
}

func (t *timeline) releasing(h *hold, pos int32) bool {
	if h.released >= pos {
		return false
	}
	o := &t.ops[t.opAt[h.released]]
	return o.done == none || o.done > pos || o.outcome == history.Info
}

func (t *timeline) reachAccesses(c *Counts) {
	for _, a := range t.accesses {
		if t.entries[a.pos].F == history.Refuse {
			c[StaleRefused]++
		}
		if a.hold == none {
			continue
		}
		until := t.validUntil(&t.holds[a.hold], a.pos)
		if t.holds[a.hold].end <= a.pos || (until != 0 && until <= t.at(a.pos)) {
			c[LateAccess]++
		}
	}
}

// hit is what a fault found: whom it acts on, in the middle of what.
type hit struct {
	holder    bool // a client that it acts on held when it struck
	acquirer  bool // a client that it acts on had an acquire open when it struck
	client    bool // a client that it acts on had an operation or a hold open while it lasted
	operation bool // the same, operations only
	anyHolder bool // anybody held when it struck
	held      bool // anybody held at some time while it lasted
	anybody   bool // anybody had an operation or a hold open while it lasted
}

func (t *timeline) reachFault(c *Counts, f *fault) {
	x := t.hits(f)
	touched := false
	switch kinds[f.kind].on {
	case onClient:
		touched = x.client
	case onServer:
		touched = x.anybody
	case onLink:
		touched = x.operation
		if f.hits.Set {
			touched = f.hits.V > 0
		}
	}
	count := func(reached bool, counter Counter) {
		if reached {
			c[counter]++
		}
	}
	c[FaultInjected]++
	count(touched, FaultTouched)
	count(touched, firstTouched+Counter(f.kind))
	switch f.kind {
	case pause:
		count(x.holder, PauseHitHolder)
		count(x.acquirer, PauseHitWaiter)
	case kill, poweroff:
		count(x.holder, KillHitHolder)
		count(x.acquirer, KillHitAcquirer)
	case restart, restartLost:
		count(x.anyHolder, RestartWithHolder)
	case hang:
		count(x.holder, HangHitHolder)
	case serverPause:
		count(x.held, ServerPausedWithHolder)
	case skew, jump:
		count(x.holder, JumpWithHolder)
		count(x.held, ClockOffWithHolder)
	case serverSkew, serverJump:
		count(x.anyHolder, JumpWithHolder)
		count(x.held, ClockOffWithHolder)
	case rate, serverRate:
		count(x.held, RateWithHolder)
	case dropReply:
		count(touched, ReplyDropped)
	}
}

func (t *timeline) hits(f *fault) hit {
	var x hit
	for i := range t.holds {
		h := &t.holds[i]
		if h.begin > f.end {
			break
		}
		// A hold that f ended was open when f struck.
		if h.end < f.struck {
			continue
		}
		mine, already := t.on(f, t.procs[h.proc].client), h.begin < f.struck
		x.anybody, x.held = true, true
		x.client = x.client || mine
		x.anyHolder = x.anyHolder || already
		x.holder = x.holder || (mine && already)
	}
	for i := range t.ops {
		o := &t.ops[i]
		if o.invoke > f.end {
			break
		}
		if o.done != none && o.done < f.start {
			continue
		}
		mine, already := t.on(f, t.clientOf(int32(i))), o.invoke < f.start
		x.anybody = true
		x.client = x.client || mine
		x.operation = x.operation || mine
		x.acquirer = x.acquirer || (mine && already && o.verb == acquire)
	}
	return x
}
