package checker

import "fmt"

// exclusion: holds of one lock never overlap, unless both are shared.
//
// Holds come in the order of their begins. Before the first violation, the holds of a
// lock that are open at one moment belong to one process, or all are shared. So it is
// enough to keep the writer's hold that ends last, the reader's hold that ends last,
// and the last one of another reading process.
func exclusion(t *timeline) Verdict {
	open := make([]struct{ writer, reader, other *hold }, len(t.locks.list)) // by lock
	doubt := ""
	for i := range t.holds {
		h := &t.holds[i]
		if h.stillborn() {
			continue
		}
		l := &open[h.lock]
		before := [...]*hold{l.writer, l.reader, l.other}
		if t.shared(h) == 1 {
			before[1], before[2] = nil, nil
		}
		for _, o := range before {
			if o == nil || o.end <= h.begin || o.proc == h.proc {
				continue
			}
			w := t.overlap(o, h)
			if why := t.stoodStill(o.begin, h.begin, w); why != "" {
				doubt = why
			} else if !t.goesOn(h.lock) {
				return violated(Exclusion, w)
			}
		}
		switch {
		case t.shared(h) == 0:
			l.writer = later(l.writer, h)
		case l.reader == nil || l.reader.proc == h.proc:
			l.reader = later(l.reader, h)
		case h.end > l.reader.end:
			l.reader, l.other = h, l.reader
		default:
			l.other = later(l.other, h)
		}
	}
	return unless(doubt, Exclusion)
}

// later returns the hold that ends later; a may be nil.
func later(a, b *hold) *hold {
	if a == nil || b.end > a.end {
		return b
	}
	return a
}

// overlap returns the witness that b began while a was open.
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
