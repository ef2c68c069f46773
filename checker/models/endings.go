package models

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

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

// cease notes that a hold may have ended at pos, by a loss or a death.
func (j *Judge) cease(id, pos int32) {
	j.over(id, pos)
	if h := &j.holds[id]; j.model.kind == anonymous && h.gone > pos {
		at, ok := j.ceased[id]
		if !ok {
			at = [2]int32{never, never}
		}
		k := 0
		if pos > h.ret {
			k = 1
		}
		at[k] = min(at[k], pos)
		j.ceased[id] = at
	}
}

// refute takes back a hold whose acquire failed. A release or an extend of it that
// was ok becomes a stray.
func (j *Judge) refute(id int32) {
	h := &j.holds[id]
	s := stray{proc: h.by, hold: none, over: none}
	if j.reading(id) != nil {
		s.doubt = seems
	}
	if h.gone != never {
		s.call, s.ret, s.release = h.end, h.gone, true
		j.stray(s, h.lock)
	} else if h.extended != none { // a line valid is about nothing then
		s.call, s.ret = max(h.floor, h.call), h.extended
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
	if j.model.kind != anonymous {
		h.ret = min(h.ret, pos)
	}
	if !h.known {
		h.known, h.late = true, true
		if hand := j.hand(j.procs[h.proc].client, h.lock); h.certain() {
			hand.sure = append(hand.sure, id)
		}
	}
}

// lose ends the hold of lock l that process id loses at pos: that of the named grant.
// In a reentrant lock it also ends the owner's other holds, which rest on the same
// entry of the store, unless the owner no longer held the named grant. Without a name
// the process loses all that it has got; if it has nothing but what it is releasing, or
// has reported as lost, it loses all holds that its client may have. again: the loss is
// also about what it has reported as lost before.
func (j *Judge) lose(m meaning, id, l, pos int32, again bool) {
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
	asks := none // the hold that the process asks for, unless it lost that by the name by which it asked
	if p := &j.procs[id]; (p.f == history.Acquire || p.f == history.Try) && (p.hold != m.hold || p.hold != none && !j.holds[p.hold].named) {
		asks = p.hold
	}
	about := m.named || j.reportLoss(hand, owner, asks, again)
	if m.named && m.hold != none {
		j.holds[m.hold].reported = true
	}
	switch {
	case m.hold != none && m.hold == asks:
	case m.named && m.hold != none && j.model.rule.reentrant && j.holds[m.hold].lost: // with its entry, which was lost before
	case m.named && j.model.rule.reentrant && j.holds[m.hold].mayBeLeft():
		if !j.drop(hand, owner, asks, pos, pos) {
			j.vanish(m.hold, pos)
		}
		if m.open {
			j.others(hand, m, asks, id, pos)
		}
	case m.named && !m.open:
		j.vanish(m.hold, pos)
	case !m.named && about:
		j.drop(hand, owner, asks, pos, pos)
	default:
		if !m.named { // else it is a grant without an answer
			j.drop(hand, none, asks, pos, pos)
		}
		j.others(hand, m, asks, id, pos)
	}
}

// reportLoss notes that an owner reports the loss of all that it has got and not released. It
// returns false if there is nothing of this that it has not reported as lost before, or,
// with again, nothing at all. It leaves out the hold that its process asks for.
func (j *Judge) reportLoss(hand *hand, owner, asks int32, again bool) (found bool) {
	for _, list := range [][]int32{hand.sure, hand.unsure} {
		for _, id := range list {
			if h := &j.holds[id]; h.owner == owner && id != asks && h.known && h.gone == never && !h.unanswered && !h.void {
				found = found || h.releasing == 0 && (again || !h.reported)
				h.reported = true
			}
		}
	}
	return found
}

// others ends the holds of a client that a loss at pos may have been about, beside the one
// that it seems to mean: process id has reported it, and asks for the hold asks.
func (j *Judge) others(hand *hand, m meaning, asks, id, pos int32) {
	for _, n := range slices.Concat(hand.sure, hand.unsure) {
		h := &j.holds[n]
		may := h.uncertain() || m.named && h.certain() && (!h.named || slices.Contains(m.asked, n) || j.restsOn(h, m.asked))
		if may && n != asks && h.joint == 0 {
			j.vanish(n, pos)
		}
	}
	asking := j.asking(hand.client, hand.lock, id)
	if m.named { // not those that were asked for later
		asking = slices.DeleteFunc(asking, func(p int32) bool { return !slices.Contains(m.asked, j.procs[p].hold) })
	}
	j.strike(asking, pos)
}

// restsOn reports whether a hold may be one entry of a reentrant lock with one of those that
// are asked for.
func (j *Judge) restsOn(h *hold, asked []int32) bool {
	return j.model.rule.reentrant && slices.ContainsFunc(asked, func(a int32) bool { return j.holds[a].owner == h.owner })
}

// failRelease notes that a release of p, which failed at pos, may have found its hold gone, and
// in a reentrant lock the entry.
func (j *Judge) failRelease(p *proc, pos int32) {
	h := &j.holds[p.hold]
	hand := j.hand(j.procs[h.proc].client, h.lock)
	entry := j.model.rule.reentrant && p.means.left && !p.means.open
	found := entry && j.drop(hand, h.owner, none, p.call, pos)
	for _, n := range hand.unsure { // their entry was already gone then
		if x := &j.holds[n]; x.joint != 0 && (n == p.hold || entry && x.owner == h.owner) {
			l := &j.losses[x.joint-1]
			l.pos, l.least, x.end = min(l.pos, p.call), min(l.least, p.call), min(x.end, p.call)
		}
	}
	if h.joint == 0 && !found {
		j.cease(p.hold, p.call)
	}
	if entry && !found {
		j.takeAlong(p.hold, p.call)
	}
}

// vanish notes that a hold was lost at pos that its owner may not have had, and what may
// have rested on the same entry.
func (j *Judge) vanish(id, pos int32) {
	j.cease(id, pos)
	if !j.holds[id].lost { // else its entry is gone already
		j.takeAlong(id, pos)
	}
}

// takeAlong notes that the owner's acquires without an answer may have used the entry of a
// hold in a reentrant lock, and been lost with it at pos.
func (j *Judge) takeAlong(id, pos int32) {
	h := &j.holds[id]
	if !j.model.rule.reentrant || !h.uncertain() {
		return
	}
	client := j.procs[h.proc].client
	for _, n := range j.hand(client, h.lock).unsure {
		if x := &j.holds[n]; x.owner == h.owner && !x.known && x.uncertain() {
			j.cease(n, pos)
		}
	}
	for _, p := range j.asking(client, h.lock, none) {
		if q := &j.procs[p]; q.first == h.owner && q.hold != id {
			j.strike([]int32{p}, pos)
		}
	}
}

// drop ends, from a position on, the holds that an owner certainly has at pos, or
// those of the whole hand if owner is none, but not the one that its process asks
// for. It returns false if there is no such hold, or only holds under release.
func (j *Judge) drop(hand *hand, owner, asks, from, pos int32) (found bool) {
	if owner == none && j.model.rule.reentrant {
		for _, h := range slices.Clone(hand.sure) { // all holds of one process rest on one entry
			found = j.drop(hand, j.holds[h].owner, asks, from, pos) || found
		}
	}
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
		if joint && h.ret > from { // it may have been granted after the loss
			j.cease(n, from)
			continue
		}
		h.lost = h.lost || from == pos && h.releasing == 0 // else a release may have been first, or only may have found it gone
		if found = found || h.releasing == 0; joint {
			j.doubted(n, from)
			h.joint, joined = int32(len(j.losses))+1, true
			token = max(token, h.token)
		} else {
			j.cease(n, from)
		}
	}
	if joined {
		j.losses = append(j.losses, loss{owner, from, from, from, token})
	}
	for _, n := range hand.unsure { // uncertain holds may have rested on the entry, too
		h := &j.holds[n]
		if has := h.known && h.mayBeLeft(); joint && h.owner == owner && h.uncertain() && (joined && h.joint == 0 || has && n != asks) {
			j.vanish(n, from)
			h.lost = h.lost || has && from == pos && h.releasing == 0
		}
	}
	if !joined {
		return found
	}
	for _, p := range j.clients[hand.client].asking {
		if q := &j.procs[p]; q.first == owner && q.lock == hand.lock && q.joint == 0 && !j.gone(q.hold) {
			q.joint = int32(len(j.losses))
		}
	}
	return found
}

// strike notes that the holds that processes ask for may end at pos, once granted, but
// for those that were released already.
func (j *Judge) strike(procs []int32, pos int32) {
	for _, p := range procs {
		if q := &j.procs[p]; !j.gone(q.hold) && (q.struck == none || pos < q.struck) {
			q.struck = pos
		}
	}
}

// gone reports whether a release of hold id was ok.
func (j *Judge) gone(id int32) bool { return id != none && j.holds[id].gone != never }

// early ends a hold that may have been granted, and ended, before its acquire of p was
// answered. If its token is that of an entry that was lost by then, it rested on it, and
// ended with all else that did.
func (j *Judge) early(id int32, p *proc) {
	if p.joint != 0 {
		l := &j.losses[p.joint-1]
		if l.token != 0 && j.holds[id].token == l.token {
			j.doubted(id, l.told)
			j.holds[id].joint = p.joint
			return
		}
		j.cease(id, l.told)
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
		c.alive, c.died = max(c.alive, at), max(c.died, pos)
		j.perish(c, at, never)
		for _, i := range c.hands {
			j.drop(&j.hands[i], none, none, at, at)
		}
	}
}

// perish ends at a position what a client that died may have, or asks for: what it asked
// for before another position.
func (j *Judge) perish(c *client, at, before int32) {
	for _, p := range c.asking {
		if j.procs[p].call < before {
			j.strike([]int32{p}, at)
		}
	}
	for _, i := range c.hands {
		// A hold that seemed to end later, by a release that the recorder wrote,
		// ended then.
		for _, id := range j.hands[i].unsure {
			h := &j.holds[id]
			if h.call < before && h.uncertain() && (h.joint == 0 || j.losses[h.joint-1].told > at) { // else it goes with its entry
				j.cease(id, at)
			}
		}
		for _, id := range j.hands[i].freed {
			if r := j.waver(id); j.holds[id].call < before {
				r.end = min(r.end, at)
			}
		}
	}
}

// killed notes that a kill whose first line is at from may have ended what its clients
// asked for after that line, and released before the second one.
func (j *Judge) killed(names []string, from int32) {
	for id := j.began[from]; id < int32(len(j.holds)); id++ {
		h := &j.holds[id]
		if h.call > from && j.gone(id) && slices.Contains(names, j.clients[j.procs[h.proc].client].name) {
			j.cease(id, from)
		}
	}
}
