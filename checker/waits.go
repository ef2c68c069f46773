package checker

import "github.com/lockcheck/lockcheck/history"

// waitOf returns where the id of client's last wait for lock is kept.
func (t *timeline) waitOf(client, lock int32) *int32 {
	c := &t.clients[client]
	for int(lock) >= len(c.wait) {
		c.wait = append(c.wait, none)
	}
	return &c.wait[lock]
}

// ask notes the invoke of an acquire.
func (t *timeline) ask(client, lock, pos int32) {
	now := t.at(pos)
	last := t.waitOf(client, lock)
	if *last != none {
		if w := &t.waits[*last]; !w.over && (w.asking > 0 || now-w.to <= t.grace) {
			w.again = w.again || w.asking == 0
			w.asking++
			return
		}
	}
	*last = t.newWait(client, lock, pos, 1)
}

func (t *timeline) newWait(client, lock, pos, asking int32) int32 {
	t.waits = append(t.waits, wait{
		lock: lock, client: client, begin: pos, end: pos,
		from: t.at(pos), to: t.at(pos), asking: asking,
	})
	return int32(len(t.waits)) - 1
}

// answered notes the completion of an acquire.
func (t *timeline) answered(client, lock, pos int32, granted bool) {
	last := t.waitOf(client, lock)
	if *last == none {
		return
	}
	w := &t.waits[*last]
	if w.over {
		return
	}
	w.asking--
	w.end, w.to = pos, t.at(pos)
	if w.over = granted; granted && w.asking > 0 {
		*last = t.newWait(client, lock, pos, w.asking) // another process of the client still asks
	}
}

// endWaits ends all waits of a client that has done nothing since pos.
func (t *timeline) endWaits(client, pos int32) {
	for _, id := range t.clients[client].wait {
		if id == none || t.waits[id].over {
			continue
		}
		w := &t.waits[id]
		if w.asking > 0 || w.end > pos {
			w.end = max(w.begin, pos)
			w.to = t.at(w.end)
		}
		w.asking, w.over = 0, true
	}
}

// settleWaits ends the waits that the history leaves open: at its end. For a client
// that was stopped for good, the wait ends when it was stopped, or when it asked
// after that. A client that never runs again cannot be granted the lock.
func (t *timeline) settleWaits() {
	var stopped map[int32]int32
	for i := range t.waits {
		w := &t.waits[i]
		if w.over || w.asking == 0 {
			continue
		}
		w.end, w.to = t.size()-1, t.end
		if stopped == nil {
			stopped = t.stoppedForGood()
		}
		if f, ok := stopped[w.client]; ok && t.faults[f].start < w.end {
			x := &t.faults[f]
			w.end, w.to = max(x.start, w.begin), max(x.from, w.from)
		}
	}
}

// stoppedForGood returns by client the first fault that stops it and never ends.
func (t *timeline) stoppedForGood() map[int32]int32 {
	first := map[int32]int32{}
	for i := range t.faults {
		f := &t.faults[i]
		if !f.kind.stopsClient() || f.ended {
			continue
		}
		for c := range t.clientsOf(f) {
			if _, ok := first[c]; !ok {
				first[c] = int32(i)
			}
		}
	}
	return first
}

// queue notes the line that gives an acquire of process p a place. Its former place
// was lost.
func (t *timeline) queue(pos int32, e *history.Entry, p int32) {
	x := &t.procs[p]
	if x.open == none || t.ops[x.open].verb != acquire || e.Op.Set && t.opOf(e.Op) != x.open || t.clients[x.client].dead {
		return
	}
	t.leave(p, pos)
	x.place = int32(len(t.places))
	c := &t.clients[x.client]
	t.places = append(t.places, place{op: x.open, from: pos, to: t.size(), before: c.placed, number: e.Value})
	c.placed = x.place
}

// leave ends the place of process p.
func (t *timeline) leave(p, pos int32) {
	if id := t.procs[p].place; id != none {
		t.places[id].to = pos
		t.procs[p].place = none
	}
}

// endPlaces ends the places of a client that died.
func (t *timeline) endPlaces(client, pos int32) {
	c := &t.clients[client]
	for id := c.placed; id != none; id = t.places[id].before {
		x := &t.places[id]
		x.to = min(x.to, pos)
		if p := &t.procs[t.ops[x.op].proc]; p.place == id {
			p.place = none
		}
	}
	c.placed = none
}
