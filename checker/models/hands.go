package models

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// hand is what a client has of one lock, what it got last at the end. What is
// no longer what the list says is taken out when somebody looks.
type hand struct {
	sure   []int32 // it knows that it has them
	unsure []int32 // acquires without an answer; what it lost, or let go without an answer

	client, lock int32
	doubts
}

// meaning is the grant that an operation is about.
type meaning struct {
	hold  int32 // or none
	named bool  // the operation names it
	open  bool  // it may as well be another one of its client
}

// held finds the hold of its client that e acts on: that of the grant that it
// names. Where it names none it is the last one of its process, else the last
// one of the client, else one that the client may have.
func (j *Judge) held(e *history.Entry, id int32) meaning {
	p := &j.procs[id]
	if h := j.grants.get(e.Grant); h != none {
		if j.procs[j.holds[h].proc].client != p.client && j.model.kind == holding {
			h = none // it is somebody else's
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
	var grants []int32 // that it may be about, the likeliest first
	if e.Grant == 0 {
		for i := len(hand.sure) - 1; i >= 0; i-- {
			if h := &j.holds[hand.sure[i]]; h.owner == p.first && h.certain() {
				return meaning{hold: hand.sure[i], open: j.clouded(hand, hand.sure[i])}
			}
		}
		grants = j.last(&hand.sure, (*hold).certain, most)
	} // else it names one that nobody had an answer to
	grants = append(grants, j.last(&hand.unsure, (*hold).uncertain, most)...)
	asking := j.asking(p.client, l, id)
	m.open = len(grants)+len(asking) > 1 || hand.doubtful()
	for _, a := range asking {
		if len(grants) > 0 && !reading {
			break
		}
		grants = append(grants, j.asked(a, hand)) // it may have had its turn, and the answer is yet to come
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

// asked is what a process asks for.
func (j *Judge) asked(id int32, h *hand) int32 {
	a := &j.procs[id]
	if a.hold == none {
		a.hold = j.add(hold{lock: h.lock, proc: id, call: a.call, ret: never, queued: none, shared: a.shared})
		h.mine = append(h.mine, a.hold)
	}
	return a.hold
}

// last returns up to so many that still are what the list says, from its end, and
// takes the others there out.
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

// certain tells whether the owner of h knows that it has it.
func (h *hold) certain() bool { return h.known && h.end == never && h.gone == never }

// uncertain tells whether the owner of h may have it, and does not know.
func (h *hold) uncertain() bool { return h.gone == never && !h.certain() && !h.void }

// hand is what a client has of a lock.
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

// asking are the other processes of a client with an open acquire of a lock.
func (j *Judge) asking(c, l, but int32) (list []int32) {
	for _, p := range j.clients[c].asking {
		if p != but && j.procs[p].lock == l {
			list = append(list, p)
		}
	}
	return list
}

// add notes a hold, which nothing has ended yet.
func (j *Judge) add(h hold) int32 {
	h.end, h.gone, h.alone, h.floor, h.owner = never, never, never, none, j.procs[h.proc].first
	id := int32(len(j.holds))
	if n := len(j.holds); n == cap(j.holds) { // append alone would copy long lists five times
		j.holds = slices.Grow(j.holds, n+64)
	}
	j.holds = append(j.holds, h)
	return id
}

// over notes that from pos on the owner of a hold does not know that it has it.
func (j *Judge) over(id, pos int32) {
	j.doubted(id, pos)
	j.holds[id].close(pos)
}

// doubted notes the same of a hold that does not end by itself.
func (j *Judge) doubted(id, pos int32) {
	h := &j.holds[id]
	if h.certain() {
		hand := j.hand(j.procs[h.proc].client, h.lock)
		hand.unsure = append(hand.unsure, id)
	}
	h.end = min(h.end, pos)
}

// close notes that h may end at pos by itself.
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

// refute takes back a hold whose acquire failed. Who said that it was released,
// or extended, said it of nothing.
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

// told notes that an acquire did happen. open: by what may be about another grant.
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

// lose ends what process id learns at pos that it has lost of lock l: the grant
// that it names; in a lock that can be taken again also the others that the owner
// holds, which rest on the same entry of the store, unless it held that one no
// longer. Without a name all that the process holds is lost, or, if it holds
// nothing but what it is releasing, all that its client may have.
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
	asks := none // what the process asks for itself
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
		if !m.named { // else it is one that nobody had an answer to
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

// drop ends, from a position on, what an owner holds for certain at pos, or all of a
// hand (none), but not what its process asks for. It returns false if that is nothing,
// or is being released.
func (j *Judge) drop(hand *hand, owner, asks, from, pos int32) (found bool) {
	joint, joined := owner != none && j.model.rule.reentrant, false
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
		} else {
			j.cease(n, from)
		}
	}
	if !joined {
		return found
	}
	j.losses = append(j.losses, loss{owner, from, from})
	for _, n := range hand.unsure { // what it has no answer to may have rested on the entry, too
		if h := &j.holds[n]; h.owner == owner && h.uncertain() && h.joint == 0 {
			j.cease(n, from)
		}
	}
	for _, p := range j.clients[hand.client].asking {
		if j.procs[p].first == owner && j.procs[p].lock == hand.lock {
			j.strike([]int32{p}, from)
		}
	}
	return found
}

// strike notes that what processes ask for may be over at pos, once they have it.
func (j *Judge) strike(procs []int32, pos int32) {
	for _, p := range procs {
		if at := &j.procs[p].struck; *at == none || pos < *at {
			*at = pos
		}
	}
}

// die ends what clients hold: at pos, or at the start of the pause in which
// they died; right after their last sign of life if they died by themselves. Who
// was killed before and has not come back did not.
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
			// What seemed to end later, by a release that the recorder wrote, ended then, too.
			for _, h := range j.hands[i].unsure {
				j.cease(h, at)
			}
			j.drop(&j.hands[i], none, none, at, at)
		}
	}
}

// grants finds holds by their grants. Those of a recorder that counts are
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
