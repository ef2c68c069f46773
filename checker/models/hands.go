package models

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// hand is the holds of one client on one lock, in the order in which it got them.
// Holds that left a list are removed from it when the list is next read.
type hand struct {
	sure   []int32 // its client knows that it has them
	unsure []int32 // acquires without an answer; holds lost, or released without an answer

	client, lock int32
	doubts
}

// meaning is the grant that an operation is about.
type meaning struct {
	hold  int32 // the hold, or none
	named bool  // the operation names it
	open  bool  // it may also be about another grant of its client
}

// held returns the hold that e acts on. If e names a grant, it is the client's hold
// with that grant. Otherwise it is the last hold of its process, else the last one of
// the client, else one that the client may have.
func (j *Judge) held(e *history.Entry, id int32) meaning {
	p := &j.procs[id]
	if h := j.grants.get(e.Grant); h != none {
		if j.procs[j.holds[h].proc].client != p.client && j.model.kind == holding {
			h = none // it belongs to another client
		}
		return meaning{hold: h, named: true}
	}
	l, ok := j.lockOf[e.Lock]
	if !ok {
		return meaning{hold: none, named: e.Grant != 0}
	}
	hand := j.hand(p.client, l)
	m := meaning{hold: none, named: e.Grant != 0}
	reading := j.choices != nil && j.choices.lock == l
	most := 2
	if reading {
		most = len(j.holds)
	}
	var grants []int32 // the grants that it may be about, the likeliest first
	if e.Grant == 0 {
		for i := len(hand.sure) - 1; i >= 0; i-- {
			if h := &j.holds[hand.sure[i]]; h.owner == p.first && h.certain() {
				return meaning{hold: hand.sure[i], open: j.clouded(hand, hand.sure[i])}
			}
		}
		grants = j.last(&hand.sure, (*hold).certain, most)
	} // else it names a grant without an answer
	grants = append(grants, j.last(&hand.unsure, (*hold).uncertain, most)...)
	asking := j.asking(p.client, l, id)
	m.open = len(grants)+len(asking) > 1 || hand.doubtful()
	for _, a := range asking {
		if len(grants) > 0 && !reading {
			break
		}
		grants = append(grants, j.asked(a, hand)) // it may have had its turn, with the answer still to come
	}
	switch {
	case len(grants) == 0:
	case reading && m.open:
		m.hold, m.open = j.choices.pick(grants), false
	default:
		m.hold = grants[0]
	}
	return m
}

// asked returns the hold that a process asks for.
func (j *Judge) asked(id int32, h *hand) int32 {
	a := &j.procs[id]
	if a.hold == none {
		a.hold = j.add(hold{lock: h.lock, proc: id, call: a.call, ret: never, queued: none, shared: a.shared})
		h.mine = append(h.mine, a.hold)
	}
	return a.hold
}

// last returns up to most entries of the list for which is holds, from its end, and
// removes the others it meets there.
func (j *Judge) last(list *[]int32, is func(*hold) bool, most int) (found []int32) {
	n := len(*list)
	for ; n > 0 && len(found) < most; n-- {
		if id := (*list)[n-1]; is(&j.holds[id]) {
			found = append(found, id)
		}
	}
	*list = (*list)[:n]
	for _, id := range slices.Backward(found) {
		*list = append(*list, id)
	}
	return found
}

// certain reports whether the owner of h knows that it has it.
func (h *hold) certain() bool { return h.known && h.end == never && h.gone == never }

// uncertain reports whether the owner of h may have it without knowing.
func (h *hold) uncertain() bool { return h.gone == never && !h.certain() && !h.void }

// hand returns the hand of a client for a lock.
func (j *Judge) hand(c, l int32) *hand {
	key := uint64(c)<<32 | uint64(l)
	i, ok := j.handOf[key]
	if !ok {
		i = int32(len(j.hands))
		j.hands = append(j.hands, hand{client: c, lock: l})
		j.handOf[key] = i
		j.clients[c].hands = append(j.clients[c].hands, i)
	}
	return &j.hands[i]
}

// asking returns the other processes of a client with an open acquire of a lock.
func (j *Judge) asking(c, l, but int32) (list []int32) {
	for _, p := range j.clients[c].asking {
		if p != but && j.procs[p].lock == l {
			list = append(list, p)
		}
	}
	return list
}

// add notes a hold without an end.
func (j *Judge) add(h hold) int32 {
	h.end, h.gone, h.alone, h.floor, h.owner = never, never, never, none, j.procs[h.proc].first
	id := int32(len(j.holds))
	if n := len(j.holds); n == cap(j.holds) { // append alone would copy long lists five times
		j.holds = slices.Grow(j.holds, n+64)
	}
	j.holds = append(j.holds, h)
	return id
}

// over notes that from pos on the owner of a hold does not know whether it has it.
func (j *Judge) over(id, pos int32) {
	j.doubted(id, pos)
	j.holds[id].close(pos)
}

// doubted does the same as over for a hold that does not end without a release.
func (j *Judge) doubted(id, pos int32) {
	h := &j.holds[id]
	if h.certain() {
		hand := j.hand(j.procs[h.proc].client, h.lock)
		hand.unsure = append(hand.unsure, id)
	}
	h.end = min(h.end, pos)
}

// close notes that h may end at pos without a release.
func (h *hold) close(pos int32) { h.end, h.alone = min(h.end, pos), min(h.alone, pos) }

// cease notes that a hold may have ended at pos, by a loss or a death.
func (j *Judge) cease(id, pos int32) {
	j.over(id, pos)
	if j.model.kind == anonymous && j.holds[id].gone > pos {
		if at, ok := j.ceased[id]; ok {
			pos = min(pos, at)
		}
		j.ceased[id] = pos
	}
}

// refute takes back a hold whose acquire failed. A release or an extend of it that
// was ok becomes a stray.
func (j *Judge) refute(id int32) {
	h := &j.holds[id]
	s := stray{proc: h.proc, hold: none, over: none}
	if j.reading(id) != nil {
		s.doubt = seems
	}
	if h.gone != never {
		s.call, s.ret, s.release = h.end, h.gone, true
		j.stray(s, h.lock)
	} else if h.known {
		s.call, s.ret = max(h.floor, h.call), h.ret
		j.stray(s, h.lock)
	}
	h.void, h.known, h.ret, h.end, h.gone, h.floor = true, false, never, never, never, none
	h.alone, h.joint = never, 0
	if r := j.reading(id); r != nil {
		r.ret, r.floor = never, none
	}
}

// voided reports whether the acquire of hold id failed: what a line says of it later
// is about no hold.
func (j *Judge) voided(id int32) bool { return id != none && j.holds[id].void }

// told notes that an acquire did happen. open: the line may be about another grant.
func (j *Judge) told(id, pos int32, open bool) {
	h := &j.holds[id]
	if r := j.reading(id); r != nil && !open {
		r.ret = min(r.ret, pos)
	}
	h.ret = min(h.ret, pos)
	if !h.known {
		h.known = true
		if hand := j.hand(j.procs[h.proc].client, h.lock); h.certain() {
			hand.sure = append(hand.sure, id)
		}
	}
}

// lose ends the hold of lock l that process id loses at pos: that of the named grant.
// In a reentrant lock it also ends the owner's other holds, which rest on the same
// entry of the store, unless the owner no longer held the named grant. Without a name
// the process loses all its holds; if it has none but those that it is releasing, it
// loses all holds that its client may have.
func (j *Judge) lose(m meaning, id, l, pos int32) {
	if m.named && m.hold == none {
		return
	}
	owner := j.procs[id].first
	if m.named {
		owner, l = j.holds[m.hold].owner, j.holds[m.hold].lock
	}
	client := j.procs[owner].client
	hand := j.hand(client, l)
	if hand.doubtful() {
		j.mark(hand, pos)
	}
	asks := none // the hold that the process asks for
	if p := &j.procs[id]; p.f == history.Acquire || p.f == history.Try {
		asks = p.hold
	}
	switch {
	case m.hold != none && m.hold == asks:
	case m.named && m.hold != none && j.holds[m.hold].joint != 0: // with its entry, which was lost before
	case m.named && j.model.rule.reentrant && j.holds[m.hold].certain():
		j.drop(hand, owner, asks, pos, pos)
	case m.named && !m.open:
		j.cease(m.hold, pos)
	case m.named || !j.drop(hand, owner, asks, pos, pos):
		if !m.named { // else it is a grant without an answer
			j.drop(hand, none, asks, pos, pos)
		}
		for _, n := range hand.unsure {
			if n != asks && j.holds[n].joint == 0 {
				j.cease(n, pos)
			}
		}
		j.strike(j.asking(client, l, id), pos)
	}
}

// drop ends, from a position on, the holds that an owner certainly has at pos, or
// those of the whole hand if owner is none, but not the one that its process asks
// for. It returns false if there is no such hold, or only holds under release.
func (j *Judge) drop(hand *hand, owner, asks, from, pos int32) (found bool) {
	joint, joined, token := owner != none && j.model.rule.reentrant, false, uint64(0)
	list := hand.sure
	hand.sure = hand.sure[:0]
	for _, n := range list {
		h := &j.holds[n]
		if !h.certain() {
			continue
		}
		if owner != none && h.owner != owner || n == asks || joint && h.ret > pos {
			hand.sure = append(hand.sure, n)
			continue
		}
		if found = found || h.releasing == 0; joint {
			j.doubted(n, from)
			h.joint, joined = int32(len(j.losses))+1, true
			token = max(token, h.token)
		} else {
			j.cease(n, from)
		}
	}
	if !joined {
		return found
	}
	j.losses = append(j.losses, loss{owner, from, from, from, token})
	for _, n := range hand.unsure { // uncertain holds may have rested on the entry, too
		if h := &j.holds[n]; h.owner == owner && h.uncertain() && h.joint == 0 {
			j.cease(n, from)
		}
	}
	for _, p := range j.clients[hand.client].asking {
		if q := &j.procs[p]; q.first == owner && q.lock == hand.lock && q.joint == 0 {
			q.joint = int32(len(j.losses))
		}
	}
	return found
}

// strike notes that the holds that processes ask for may end at pos, once granted.
func (j *Judge) strike(procs []int32, pos int32) {
	for _, p := range procs {
		if at := &j.procs[p].struck; *at == none || pos < *at {
			*at = pos
		}
	}
}

// early ends a hold that may have been granted, and ended, before its acquire of p was
// answered. If its token is that of an entry that was lost by then, it rested on it, and
// ended with all else that did.
func (j *Judge) early(id int32, p *proc) {
	if p.joint != 0 {
		if l := &j.losses[p.joint-1]; l.token != 0 && j.holds[id].token == l.token {
			j.doubted(id, l.told)
			j.holds[id].joint = p.joint
		} else {
			j.cease(id, l.told)
		}
	}
	if p.struck != none {
		j.cease(id, p.struck)
	}
}

// die ends the holds of clients: at pos, or at the start of the pause in which they
// died. If they died without a fault, it is right after their last sign of life. A
// client that was killed before and has not come back does not die again.
func (j *Judge) die(names []string, pos int32, itself bool) {
	for _, name := range names {
		id, ok := j.nameOf[name]
		if !ok {
			continue
		}
		c, at := &j.clients[id], pos
		if itself {
			at = c.alive
		}
		at = min(at, int32(j.pauses.Since(name, int(pos))))
		c.alive = max(c.alive, at)
		j.strike(c.asking, at)
		for _, i := range c.hands {
			// A hold that seemed to end later, by a release that the recorder wrote,
			// ended then.
			for _, h := range j.hands[i].unsure {
				j.cease(h, at)
			}
			if hand := &j.hands[i]; j.model.rule.reentrant {
				for _, h := range slices.Clone(hand.sure) { // what one process has rests on one entry
					j.drop(hand, j.holds[h].owner, none, at, at)
				}
			}
			j.drop(&j.hands[i], none, none, at, at)
		}
	}
}

// grants finds holds by their grants. If the recorder counts its grants, they are
// looked up in a slice.
type grants struct {
	dense  []int32 // hold+1; 0: none
	sparse map[int]int32
}

func (g *grants) get(n int) int32 {
	if n > 0 && n < len(g.dense) && g.dense[n] != 0 {
		return g.dense[n] - 1
	}
	if h, ok := g.sparse[n]; ok {
		return h
	}
	return none
}

func (g *grants) put(n int, hold int32) {
	switch {
	case n == 0:
	case n > 0 && n < 2*len(g.dense)+1024:
		for n >= len(g.dense) {
			g.dense = append(g.dense, 0)
		}
		g.dense[n] = hold + 1
	default:
		if g.sparse == nil {
			g.sparse = map[int]int32{}
		}
		g.sparse[n] = hold
	}
}
