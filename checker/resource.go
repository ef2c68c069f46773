package checker

import "github.com/lockcheck/lockcheck/history"

// resource: every accepted write was computed from the value in place just before it:
// one critical section is one read-modify-write.
//
// The resource's own lines decide, because they stand where the accesses took effect.
// Without them the clients' lines are judged. Nested holds know the same value. A write
// of a grant that has neither read nor written is not judged. A read without an answer
// gives its grant no value. A write that takes effect late was computed from what its
// grant knew at its invoke.
func resource(t *timeline) Verdict {
	if len(t.accesses) == 0 {
		return resourceByClients(t)
	}
	known := t.unknown()
	last := t.scratch.zeros(len(t.locks.list)) // by lock: 1 + the position of the last write
	latest := t.scratch.zeros(len(t.holds))    // by grant: 1 + its last access
	before := t.scratch.zeros(len(t.accesses)) // by access: 1 + the one of its grant before it
	written, compared, doubt := false, false, ""
	for i, a := range t.accesses {
		e := t.entry(a.pos)
		if t.teachesNothing(e) {
			continue
		}
		if a.hold != none {
			nest := t.holds[a.hold].nest
			before[i], latest[nest] = latest[nest], int32(i)+1
			now, b := t.learns(a.pos), &known[nest]
			from := *b
			if now.since < from.since && now.wrote { // it was under way for long
				from = t.knewBefore(before, before[i], now.since)
			}
			if now.wrote && from.value.Set && e.Was.Set {
				if compared = true; from.value.V != e.Was.V {
					w := t.lostUpdate(&from, last[a.lock]-1, a.pos, a.hold)
					if why := t.stoodStill(t.holds[a.hold].begin, a.pos, w); why != "" {
						doubt = why
					} else if !t.goesOn(a.lock) {
						return violated(Resource, w)
					}
				}
			}
			if now.since >= b.since {
				*b = now
			}
		}
		if e.F == history.Write {
			written = true
			last[a.lock] = a.pos + 1
		}
	}
	switch {
	case compared || t.grants == 0:
		return unless(doubt, Resource)
	case written:
		return unknown(Resource, "of no write is it known both what its grant had read or written before and what it replaced")
	default:
		return notApplicable(Resource, "the resource was never written")
	}
}

// learns returns what a grant knows from its access at pos: the value that it wrote, from the
// invoke on, or the value that it read, from the answer on.
func (t *timeline) learns(pos int32) basis {
	e := t.entry(pos)
	b := basis{value: e.Value, pos: pos, since: pos, wrote: e.F == history.Write}
	if o := t.opOf(e.By); o != none && b.wrote {
		b.since = t.ops[o].invoke
	} else if o != none {
		b.since = t.ops[o].done
	}
	return b
}

// knewBefore returns what a grant knew just before pos, from its accesses up to the access up.
// up, and before, which chains them, count from 1; 0 means none.
func (t *timeline) knewBefore(before []int32, up, pos int32) (last basis) {
	for ; up > 0; up = before[up-1] {
		if b := t.learns(t.accesses[up-1].pos); b.since < pos && b.since > last.since {
			last = b
		}
	}
	return last
}

// teachesNothing reports whether nobody learns a value from a line of the resource.
func (t *timeline) teachesNothing(e *history.Entry) bool {
	return e.F == history.Refuse || e.F == history.Read && t.unanswered(e)
}

// unanswered reports whether the operation had no ok for which e, a line of the
// resource, was done.
func (t *timeline) unanswered(e *history.Entry) bool {
	o := t.opOf(e.By)
	return o != none && t.ops[o].outcome != history.OK
}
