package models

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// hand is what a client has of one lock, what it got last at the end. What is
// no longer what the list says is taken out when somebody looks.
type hand struct {
	sure   []int32 // it knows that it has them
	unsure []int32 // acquires without an answer; what it lost, or let go without an answer
}

// held is the hold of its client that e acts on: that of the grant that it
// names. Where it names none it is the last one of its process, else the last
// one of the client, else one that the client may have. Where it might as well
// be another one, the lock is marked.
func (j *Judge) held(e *history.Entry, id int32) int32 {
	p := &j.procs[id]
	if h := j.grants.get(e.Grant); h != none {
		if j.procs[j.holds[h].proc].client != p.client && j.model.kind == holding {
			return none // it is somebody else's
		}
		return h
	}
	l, ok := j.lockOf[e.Lock]
	if !ok {
		return none
	}
	hand := j.hand(p.client, l)
	sure := 0
	if e.Grant == 0 {
		for i := len(hand.sure) - 1; i >= 0; i-- {
			if h := &j.holds[hand.sure[i]]; h.proc == id && h.certain() {
				if j.model.rule.shared && j.mixed(hand.sure, id) {
					j.doubt(l, e)
				}
				return hand.sure[i]
			}
		}
		sure = j.few(&hand.sure, (*hold).certain)
	} // else it names one that nobody had an answer to
	unsure := j.few(&hand.unsure, (*hold).uncertain)
	asking := j.asking(p.client, l, id)
	if n := sure + unsure + len(asking); n > 1 || n > sure && e.F == history.Extend {
		j.doubt(l, e)
	}
	switch {
	case sure > 0:
		return hand.sure[len(hand.sure)-1]
	case unsure > 0:
		return hand.unsure[len(hand.unsure)-1]
	case len(asking) > 0:
		// Its acquire may have had its turn, and the answer is yet to come.
		a := &j.procs[asking[0]]
		if a.hold == none {
			a.hold = j.add(hold{lock: l, proc: asking[0], call: a.call, ret: never, queued: a.queued, shared: a.shared})
		}
		return a.hold
	}
	return none
}

// few counts up to two that still are what the list says, from its end, and
// takes the others there out.
func (j *Judge) few(list *[]int32, is func(*hold) bool) int {
	var found []int32
	n := len(*list)
	for ; n > 0 && len(found) < 2; n-- {
		if id := (*list)[n-1]; is(&j.holds[id]) {
			found = append(found, id)
		}
	}
	slices.Reverse(found)
	*list = append((*list)[:n], found...)
	return len(found)
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
		j.hands = append(j.hands, hand{})
		j.handOf[key] = i
		j.clients[c].hands = append(j.clients[c].hands, i)
	}
	return &j.hands[i]
}

// mixed tells whether a process has both kinds of holds of one lock.
func (j *Judge) mixed(sure []int32, id int32) bool {
	var kinds [2]bool
	for _, n := range sure {
		if h := &j.holds[n]; h.proc == id && h.certain() {
			kinds[side(h.shared)] = true
		}
	}
	return kinds[0] && kinds[1]
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

// doubt marks a lock: which grant an operation is about is not certain.
func (j *Judge) doubt(l int32, e *history.Entry) {
	if j.locks[l].doubt == "" {
		j.locks[l].doubt = fmt.Sprintf("it is not certain which of its grants %s means in line %d (%s)", e.Client, j.lines.of(j.size-1), e.F)
	}
}

// add notes a hold, which nothing has ended yet.
func (j *Judge) add(h hold) int32 {
	h.end, h.gone, h.floor = never, never, none
	id := int32(len(j.holds))
	if n := len(j.holds); n == cap(j.holds) { // append alone would copy long lists five times
		j.holds = slices.Grow(j.holds, n+64)
	}
	j.holds = append(j.holds, h)
	return id
}

// over notes that from pos on the owner of a hold does not know that it has it.
func (j *Judge) over(id, pos int32) {
	h := &j.holds[id]
	if h.certain() {
		hand := j.hand(j.procs[h.proc].client, h.lock)
		hand.unsure = append(hand.unsure, id)
		if j.model.kind == anonymous {
			j.event(h.lock, h.proc, pos, pos, history.Info, true)
		}
	}
	h.end = min(h.end, pos)
}

// refute takes back a hold whose acquire failed. Who said that it was released,
// or extended, said it of nothing.
func (j *Judge) refute(id int32) {
	h := &j.holds[id]
	if h.gone != never {
		j.stray(stray{proc: h.proc, call: h.end, ret: h.gone, release: true, hold: none}, h.lock)
	} else if h.known {
		j.stray(stray{proc: h.proc, call: max(h.floor, h.call), ret: h.ret, hold: none}, h.lock)
	}
	h.void, h.known, h.ret, h.end, h.gone, h.floor = true, false, never, never, never, none
}

// told notes that an acquire did happen.
func (j *Judge) told(id, pos int32) {
	h := &j.holds[id]
	h.ret = min(h.ret, pos)
	if !h.known {
		h.known = true
		if hand := j.hand(j.procs[h.proc].client, h.lock); h.certain() {
			hand.sure = append(hand.sure, id)
		}
	}
}

// lost ends what a process learns that it has lost: all that rests on one entry
// of the store.
func (j *Judge) lost(id, pos int32) {
	if id == none {
		return
	}
	h := j.holds[id]
	hand := j.hand(j.procs[h.proc].client, h.lock)
	sure := hand.sure[:0]
	for _, n := range hand.sure {
		switch o := &j.holds[n]; {
		case o.proc == h.proc && o.certain():
			j.over(n, pos)
		case o.certain():
			sure = append(sure, n)
		}
	}
	hand.sure = sure
	j.over(id, pos)
}

// die ends what clients hold: at pos, or at the start of the pause in which
// they died; at their last sign of life if they died by themselves.
func (j *Judge) die(names []string, pos int32, itself bool) {
	for _, name := range names {
		id, ok := j.nameOf[name]
		if !ok {
			continue
		}
		c, at := &j.clients[id], pos
		if itself {
			at = c.heard
		}
		for _, p := range j.pauses {
			if slices.Contains(p.on, name) {
				at = min(at, p.pos)
			}
		}
		for _, p := range c.asking {
			if j.procs[p].struck == none {
				j.procs[p].struck = at
			}
		}
		for _, i := range c.hands {
			// What seemed to end later, by a release that the recorder wrote, ended then, too.
			for _, h := range j.hands[i].unsure {
				j.holds[h].end = min(j.holds[h].end, at)
			}
			for _, h := range j.hands[i].sure {
				if j.holds[h].certain() {
					j.over(h, at)
				}
			}
			j.hands[i].sure = j.hands[i].sure[:0]
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
