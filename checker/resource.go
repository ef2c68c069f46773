package checker

import "github.com/lockcheck/lockcheck/history"

// resource: every accepted write was computed from the value in place just before it:
// one critical section is one read-modify-write.
//
// The resource's own lines decide, because they stand where the accesses took effect.
// Without them the clients' lines are judged. Nested holds know the same value. A write
// of a grant that has neither read nor written is not judged. A read without an answer
// gives its grant no value.
func resource(t *timeline) Verdict {
	if len(t.accesses) == 0 {
		return resourceByClients(t)
	}
	known := t.unknown()
	last := t.scratch.zeros(len(t.locks.list)) // by lock: 1 + the position of the last write
	written, compared := false, false
	for _, a := range t.accesses {
		e := t.entry(a.pos)
		if e.F == history.Refuse || e.F == history.Read && t.unanswered(e) {
			continue
		}
		if a.hold != none {
			b := &known[t.holds[a.hold].nest]
			if e.F == history.Write && b.value.Set && e.Was.Set {
				if compared = true; b.value.V != e.Was.V && !t.goesOn(a.lock) {
					return violated(Resource, t.lostUpdate(b, last[a.lock]-1, a.pos, a.hold))
				}
			}
			*b = basis{value: e.Value, pos: a.pos, wrote: e.F == history.Write}
		}
		if e.F == history.Write {
			written = true
			last[a.lock] = a.pos + 1
		}
	}
	switch {
	case compared || t.grants == 0:
		return valid(Resource)
	case written:
		return unknown(Resource, "of no write is it known both what its grant had read or written before and what it replaced")
	default:
		return notApplicable(Resource, "the resource was never written")
	}
}

// unanswered reports whether the operation had no ok for which e, a line of the
// resource, was done.
func (t *timeline) unanswered(e *history.Entry) bool {
	o := t.opOf(e.By)
	return o != none && t.ops[o].outcome != history.OK
}
