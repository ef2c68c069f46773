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
	written, compared, doubt := false, false, ""
	for i, a := range t.accesses {
		e := t.entry(a.pos)
		if t.teachesNothing(e) {
			continue
		}
		if a.hold != none {
			now, b := t.learns(a.pos), &known[t.holds[a.hold].nest]
			from := *b
			if now.since < from.since && now.wrote { // it was under way for long
				from = t.knewBefore(i, now.since)
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

// knewBefore returns what the grant of access i knew just before pos, from its earlier
// accesses.
func (t *timeline) knewBefore(i int, pos int32) (last basis) {
	nest := t.holds[t.accesses[i].hold].nest
	for _, a := range t.accesses[:i] {
		if a.hold == none || t.holds[a.hold].nest != nest || t.teachesNothing(t.entry(a.pos)) {
			continue
		}
		if b := t.learns(a.pos); b.since < pos && b.since >= last.since {
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
