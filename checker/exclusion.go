package checker

import "fmt"

// exclusion: holds of one lock never overlap.
//
// Holds come in the order of their begins. As long as nothing is wrong, the
// holds of a lock that are open at one moment belong to one process, so the
// one that ends last stands for all.
func exclusion(t *timeline) Verdict {
	last := t.scratch.zeros(len(t.locks.list)) // by lock: 1 + the hold that ends last
	for i := range t.holds {
		h := &t.holds[i]
		if h.stillborn() {
			continue
		}
		l := &last[h.lock]
		if *l != 0 {
			o := &t.holds[*l-1]
			if o.end > h.begin && o.proc != h.proc {
				return violated(Exclusion, t.overlap(o, h))
			}
			if o.end >= h.end {
				continue
			}
		}
		*l = int32(i) + 1
	}
	return valid(Exclusion)
}

// overlap is the witness that b began while a was open.
func (t *timeline) overlap(a, b *hold) *Witness {
	first, second := t.pair(a.proc, b.proc)
	until := "was still holding it"
	entries := []int32{a.begin, b.begin}
	if a.end < t.size() {
		until = fmt.Sprintf("held it until %s", t.when(a.end))
		entries = append(entries, a.end)
	}
	return witness(entries, "%s %s %s at %s and %s, and %s %s it at %s.",
		first, t.got(a), t.lockName(a.lock), t.when(a.begin), until, second, t.got(b), t.when(b.begin))
}
