package checker

// leaseExclusion: holds of one lock, each cut at its valid_until, never overlap,
// unless both are shared. Grants without a valid_until are left out.
//
// A renewal may come after the deadline that it replaces. Between the two, the holder
// did not believe that it held.
func leaseExclusion(t *timeline) Verdict {
	if len(t.deadlines) == 0 && t.grants > 0 {
		return notApplicable(LeaseExclusion, "no grant reports how long it is valid")
	}
	if len(t.deadlines) > 0 && t.end == 0 {
		return notApplicable(LeaseExclusion, "the history has no times")
	}
	// By lock: deadlines that are not over. Before the first violation they are all
	// of one process, or of readers.
	active := make([][]int32, len(t.locks.list))
	for l := range active {
		active[l] = t.scratch.zeros(4)[:0]
	}
	for i := range t.deadlines {
		d := &t.deadlines[i]
		h, now := &t.holds[d.hold], t.at(d.pos)
		if h.end < d.pos || t.violated != nil && t.violated[h.lock] {
			continue
		}
		list := active[h.lock][:0]
		for _, j := range active[h.lock] {
			o := &t.deadlines[j]
			if o.hold == d.hold || t.holds[o.hold].end <= d.pos || o.until <= now {
				continue
			}
			other := &t.holds[o.hold]
			if other.proc != h.proc && d.until > now && t.shared(other)+t.shared(h) < 2 && !t.goesOn(h.lock) {
				return violated(LeaseExclusion, t.bothValid(o, d))
			}
			list = append(list, j)
		}
		if d.until > now && h.end > d.pos {
			list = append(list, int32(i))
		}
		active[h.lock] = list
	}
	return valid(LeaseExclusion)
}

// bothValid returns the witness that a was not over when b began.
func (t *timeline) bothValid(a, b *deadline) *Witness {
	x, y := &t.holds[a.hold], &t.holds[b.hold]
	first, second := t.pair(x.proc, y.proc)
	return witness([]int32{x.begin, a.pos, y.begin, b.pos},
		"at %s %s held %s (%s, valid until %s), and so did %s (%s, valid until %s).",
		seconds(t.at(b.pos)), first, t.lockName(x.lock), t.since(x), seconds(a.until), second, t.since(y), seconds(b.until))
}
