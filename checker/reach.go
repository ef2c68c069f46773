package checker

import (
	"sort"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

func (t *timeline) reach() Counts {
	var c Counts
	c[Grants], c[Renewed], c[LostNoticed] = t.grants, t.renewals, t.losses
	c[Promotions] = len(t.promotions)
	for _, pos := range t.promotions {
		if t.met(anyHold, 0, pos+1, pos) { // any client held
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

func (t *timeline) reachOps(c *Counts) {
	for i := range t.ops {
		o := &t.ops[i]
		if o.verb == release && o.hold == none && t.entry(o.invoke).Grant == 0 {
			c[ReleasedUnheld]++
		}
		switch {
		case o.verb == acquire:
			if t.contended(o) {
				c[Contended]++
			}
			if o.outcome == history.Info {
				c[AmbiguousAcquires]++
			}
		case o.verb == release && o.outcome == history.Info:
			c[AmbiguousReleases]++
		case o.outcome == history.Fail && len(t.accesses) == 0 && t.entry(o.done).Error == history.ErrStaleToken:
			c[StaleRefused]++
		}
	}
}

// contended reports whether another client held at some time while o was open.
func (t *timeline) contended(o *op) bool {
	return t.spans(holdsOn).some(o.lock, o.invoke+1, t.endOf(o)-1, func(id int32) bool { return t.holds[id].proc != o.proc })
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
				if t.wantedByOther(h.lock, t.procs[h.proc].client, a.pos, a.pos) {
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

// resting returns the hold on the entry that a acts on, or nil. If there are several,
// it prefers an open one.
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

// wantedByOther reports whether another client waited for a lock at some time from one
// position to another.
func (t *timeline) wantedByOther(lock, client, from, to int32) bool {
	return t.spans(waitsOn).some(lock, from+1, to-1, func(i int32) bool { return t.waits[i].client != client })
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
		if t.entry(a.pos).F == history.Refuse {
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

func (t *timeline) reachFault(c *Counts, f *fault) {
	x := t.hits(f)
	f.met = x
	touched := x.touched
	count := func(reached bool, counter Counter) {
		if reached {
			c[counter]++
		}
	}
	c[FaultInjected]++
	count(touched, FaultTouched)
	count(touched, firstTouched+Counter(f.kind))
	switch kinds[f.kind].Name {
	case "pause":
		count(x.holder, PauseHitHolder)
		count(x.acquirer, PauseHitWaiter)
		count(x.acquirer && t.voted(f), PauseHitVoted)
	case "kill", "poweroff":
		count(x.holder, KillHitHolder)
		count(x.acquirer, KillHitAcquirer)
	case "restart", "restart-lost":
		count(x.anyHolder, RestartWithHolder)
	case "hang":
		count(x.holder, HangHitHolder)
	case "server-pause":
		count(x.held, ServerPausedWithHolder)
	case "skew", "jump":
		count(x.holder, JumpWithHolder)
		count(x.held, ClockOffWithHolder)
	case "server-skew", "server-jump":
		count(x.anyHolder, JumpWithHolder)
		count(x.held, ClockOffWithHolder)
	case "rate", "server-rate":
		count(x.held, RateWithHolder)
	case "drop-reply":
		count(touched, ReplyDropped)
	}
}

// voted reports whether most of the servers of a lock that needs a majority had an entry
// of an open acquire of f's client when f struck.
func (t *timeline) voted(f *fault) bool {
	if t.head.Nodes == 0 {
		return false
	}
	for c := range t.clientsOf(f) {
		entries := map[int32]int{} // by acquire
		for i := range t.acts {
			a := &t.acts[i]
			if a.pos >= f.start || a.made == none || t.clientOf(a.made) != c || t.endOf(&t.ops[a.made]) < f.start {
				continue
			}
			switch a.deed {
			case granted:
				entries[a.made]++
			case removed, expired, lost, takenOver:
				entries[a.made]--
			}
		}
		for _, n := range entries {
			if 2*n > t.head.Nodes {
				return true
			}
		}
	}
	return false
}

// hits counts only what f certainly met: operations and holds that were open when it
// began to start and still were when it had its effect.
func (t *timeline) hits(f *fault) hit {
	open, under := f.sure, f.sure
	if f.kind.ends() { // dead clients have nothing open when the death is certain
		open, under = f.struck, f.start
	}
	struck := min(f.struck-1, f.heals)
	// A hold that f ended was open when f struck.
	x := hit{held: t.met(anyHold, 0, open, f.heals), anyHolder: t.met(anyHold, 0, open, struck)}
	var operation, held bool // of a client that f acts on, while it lasted
	for c := range t.clientsOf(f) {
		operation = operation || t.met(opsOf, c, under, f.heals)
		held = held || t.met(holdsOf, c, open, f.heals)
		x.holder = x.holder || t.met(holdsOf, c, open, struck)
		x.acquirer = x.acquirer || t.met(acquiresOf, c, under, f.start-1)
	}
	switch kinds[f.kind].On {
	case faults.OnClient:
		x.touched = operation || held
	case faults.OnServer, faults.OnServers:
		x.touched = x.held || t.met(anyOp, 0, under, f.heals)
	case faults.OnLink:
		x.touched = operation
		if f.hits.Set {
			x.touched = f.hits.V > 0
		}
	}
	return x
}

// grantBetween reports whether another client was granted a lock between two
// positions, by a server's line or by its ok.
func (t *timeline) grantBetween(lock, client, from, to int32) bool {
	first := sort.Search(len(t.acts), func(i int) bool { return t.acts[i].pos > from })
	for i := first; i < len(t.acts) && t.acts[i].pos < to; i++ {
		if op := t.acts[i].grants(); op != none && t.ops[op].lock == lock && t.clientOf(op) != client {
			return true
		}
	}
	return t.spans(holdsOn).some(lock, from+1, to-1, func(id int32) bool {
		h := &t.holds[id]
		return h.begin > from && t.procs[h.proc].client != client
	})
}

// coveredByOther reports whether another client held a lock throughout two positions.
func (t *timeline) coveredByOther(lock, client, from, to int32) bool {
	return t.spans(holdsOn).some(lock, from, to, func(id int32) bool {
		h := &t.holds[id]
		return t.procs[h.proc].client != client && h.begin <= from && h.end >= to
	})
}
