package checker

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// update is a write that a client reports, computed from a value that its grant had
// read or written before.
type update struct {
	op       int32
	basis    basis // its value is not Set if the grant had neither read nor written
	value    int64
	was      history.Opt // the value that it replaced, if the line has it
	accepted bool        // it was accepted; else it may have happened
}

// resourceByClients judges the resource from the clients' lines. If the ok of a write
// has the value that it replaced, that is compared. Otherwise values are followed
// from write to write:
//
//   - a value that was in place once cannot be the basis of two accepted writes, and
//     only one value can have been there before all writes;
//   - if every accepted write has a basis and no value was written twice, the values
//     give the one order in which the writes can have happened, and it must not
//     contradict the order of the lines.
//
// If neither decides, the verdict is Unknown.
func resourceByClients(t *timeline) Verdict {
	list := t.updates()
	if len(list) == 0 {
		if t.grants == 0 {
			return valid(Resource)
		}
		return notApplicable(Resource, "the resource was never written")
	}
	if told, w := t.replaced(list); w != nil { // even if not all lines have it
		return violated(Resource, w)
	} else if told {
		return valid(Resource)
	}
	if !slices.ContainsFunc(list, func(u update) bool { return u.accepted }) {
		return unknown(Resource, "no write is known to have happened")
	}
	verdict := valid(Resource)
	guarded := make([][]update, len(t.locks.list)) // by lock
	for _, u := range list {
		l := t.ops[u.op].lock
		guarded[l] = append(guarded[l], u)
	}
	for lock, list := range guarded {
		if v := t.follow(list); v.Outcome == Violated && !t.goesOn(int32(lock)) {
			return v
		} else if v.Outcome == Unknown {
			verdict = v
		}
	}
	return verdict
}

// follow judges the writes to one lock's resource by their values.
func (t *timeline) follow(list []update) Verdict {
	if w := t.forked(list); w != nil {
		return violated(Resource, w)
	}
	chain, ok := inOrder(list)
	if !ok || t.seenBlind(list) {
		return unknown(Resource, "values were written twice or without having been read, so the order of the writes is not certain; record what each write replaced")
	}
	if w := t.outOfOrder(chain); w != nil {
		return violated(Resource, w)
	}
	return valid(Resource)
}

// seenBlind reports whether a read returned the value of a write that had no answer, and no
// basis: it may have replaced anything.
func (t *timeline) seenBlind(list []update) bool {
	blind := map[int64]bool{}
	for i := range list {
		if u := &list[i]; !u.accepted && !u.basis.value.Set {
			blind[u.value] = true
		}
	}
	if len(blind) == 0 {
		return false
	}
	lock := t.ops[list[0].op].lock
	return slices.ContainsFunc(t.ops, func(o op) bool {
		if o.verb != read || o.lock != lock || o.outcome != history.OK {
			return false
		}
		v := t.entry(o.done).Value
		return v.Set && blind[v.V]
	})
}

// updates lists the writes that were or may have been accepted.
func (t *timeline) updates() []update {
	known := t.unknown()
	var list []update
	for i := range t.ops {
		o := &t.ops[i]
		if (o.verb != read && o.verb != write) || o.outcome == history.Fail {
			continue
		}
		e, was := t.entry(o.invoke), history.Opt{}
		accepted := o.outcome == history.OK
		if accepted {
			was = t.entry(o.done).Was
			if t.entry(o.done).Value.Set {
				e = t.entry(o.done)
			}
		}
		if o.verb == write && e.Value.Set {
			u := update{op: int32(i), value: e.Value.V, was: was, accepted: accepted}
			if o.hold != none {
				u.basis = known[t.holds[o.hold].nest]
			}
			list = append(list, u)
		}
		if o.hold == none {
			continue
		}
		switch b := &known[t.holds[o.hold].nest]; {
		case accepted:
			*b = basis{value: e.Value, pos: o.done, wrote: o.verb == write}
		case o.verb == write: // it may or may not have happened
			*b = basis{}
		}
	}
	return list
}

// replaced compares the basis of each write with the value that it replaced. told is
// true if that is known for every accepted write with a basis, and for at least one.
// w is a witness if they differ.
func (t *timeline) replaced(list []update) (told bool, w *Witness) {
	based, compared := 0, 0
	for i := range list {
		u := &list[i]
		if !u.accepted || !u.basis.value.Set {
			continue
		}
		based++
		if !u.was.Set {
			continue
		}
		compared++
		if o := &t.ops[u.op]; u.basis.value.V != u.was.V && !t.goesOn(o.lock) {
			return true, t.lostUpdate(&u.basis, none, o.done, o.hold)
		}
	}
	return compared > 0 && compared == based, nil
}

// forked returns the witness that a value was replaced more often than it was in
// place, or nil.
func (t *timeline) forked(list []update) *Witness {
	made := map[int64]int{} // how often a value was put in place
	for i := range list {
		made[list[i].value]++
	}
	var first *update         // an update whose basis has no writer: it was there from the start
	other := map[int64]bool{} // values that an uncertain write put in place if another one was there from the start
	used := map[int64][]*update{}
	for i := range list {
		u := &list[i]
		if !u.basis.value.Set {
			continue
		}
		unmade := made[u.basis.value.V] == 0
		switch {
		case !u.accepted:
			other[u.value] = other[u.value] || unmade
			continue
		case unmade && first == nil:
			first = u
		case unmade && first.basis.value.V != u.basis.value.V:
			return t.twoStarts(first, u)
		}
		used[u.basis.value.V] = append(used[u.basis.value.V], u)
	}
	for i := range list {
		u := &list[i]
		all, times := used[u.basis.value.V], made[u.basis.value.V]
		if first == nil && !other[u.basis.value.V] || first != nil && first.basis.value.V == u.basis.value.V {
			times++ // it may have been there from the start
		}
		if u.accepted && u.basis.value.Set && len(all) > times {
			return t.fork(all)
		}
	}
	return nil
}

func (t *timeline) twoStarts(a, b *update) *Witness {
	return witness([]int32{a.basis.pos, t.ops[a.op].done, b.basis.pos, t.ops[b.op].done},
		"%s wrote %d over %d and %s wrote %d over %d, and nobody ever wrote %d or %d.",
		t.procName(t.ops[a.op].proc), a.value, a.basis.value.V,
		t.procName(t.ops[b.op].proc), b.value, b.basis.value.V, a.basis.value.V, b.basis.value.V)
}

func (t *timeline) fork(all []*update) *Witness {
	a, b := all[0], all[1]
	entries := make([]int32, 0, 2*len(all))
	for _, u := range all {
		entries = append(entries, u.basis.pos, t.ops[u.op].done)
	}
	who := t.procName(t.ops[a.op].proc) + " computed both its"
	if x, y := t.pair(t.ops[a.op].proc, t.ops[b.op].proc); x != y {
		who = x + " and " + y + " both computed their"
	}
	more := ""
	if len(all) > 2 {
		more = fmt.Sprintf(", and %d more", len(all)-2)
	}
	return witness(entries, "%s writes (%d, ok at %s, and %d, ok at %s%s) from %d, which was not in place that often.",
		who, a.value, t.when(t.ops[a.op].done), b.value, t.when(t.ops[b.op].done), more, a.basis.value.V)
}

// inOrder sorts the updates in the order that their values dictate. An uncertain
// update is left out unless another one requires it. It returns false if the values
// dictate no order.
func inOrder(list []update) ([]*update, bool) {
	maker := map[int64]*update{} // of a value
	next := map[int64]*update{}  // by basis: the accepted update
	for i := range list {
		u := &list[i]
		if maker[u.value] != nil || (u.accepted && (!u.basis.value.Set || next[u.basis.value.V] != nil)) {
			return nil, false
		}
		maker[u.value] = u
		if u.accepted {
			next[u.basis.value.V] = u
		}
	}
	// An uncertain update happened if an accepted one builds on its value.
	for i := range list {
		for u := maker[list[i].basis.value.V]; list[i].accepted && u != nil && !u.accepted; u = maker[u.basis.value.V] {
			if !u.basis.value.Set || (next[u.basis.value.V] != nil && next[u.basis.value.V] != u) {
				return nil, false
			}
			if next[u.basis.value.V] == u {
				break
			}
			next[u.basis.value.V] = u
		}
	}
	var chain []*update
	for _, u := range next {
		if p := maker[u.basis.value.V]; p == nil || next[p.basis.value.V] != p {
			if chain != nil {
				return nil, false
			}
			chain = append(chain, u)
		}
	}
	if chain == nil {
		return nil, len(next) == 0
	}
	for u := next[chain[0].value]; u != nil; u = next[u.value] {
		chain = append(chain, u)
	}
	return chain, len(chain) == len(next)
}

// outOfOrder returns the witness that a write was over before the write whose value
// it follows was invoked, or nil.
func (t *timeline) outOfOrder(chain []*update) *Witness {
	if len(chain) == 0 {
		return nil
	}
	latest := 0 // index of the update so far that was invoked last
	for i := 1; i < len(chain); i++ {
		o, l := &t.ops[chain[i].op], &t.ops[chain[latest].op]
		if chain[i].accepted && o.done < l.invoke {
			return t.tooEarly(chain[latest : i+1])
		}
		if o.invoke > l.invoke {
			latest = i
		}
	}
	return nil
}

// tooEarly returns the witness that the last write of a chain was over before the
// first one was invoked: each builds on the value of the one before it.
func (t *timeline) tooEarly(chain []*update) *Witness {
	first, last := chain[0], chain[len(chain)-1]
	f, l := &t.ops[first.op], &t.ops[last.op]
	entries := []int32{f.invoke, l.done}
	for _, u := range chain[1:] {
		entries = append(entries, u.basis.pos)
		if u != last {
			entries = append(entries, t.ops[u.op].invoke)
		}
	}
	return witness(entries,
		"%s's write of %d, computed from %d, was ok at %s, before %s invoked its write of %d at %s, but the values say that it came after it.",
		t.procName(l.proc), last.value, last.basis.value.V, t.when(l.done), t.procName(f.proc), first.value, t.when(f.invoke))
}

// unknown returns an empty basis for each hold.
func (t *timeline) unknown() []basis {
	n := len(t.holds)
	t.bases = room(t.bases, n)[:n]
	clear(t.bases)
	return t.bases
}

// lostUpdate returns the witness that the write at pos replaced a value that its
// grant had not seen. between is the last write before it, and is named if it put
// that value there; none: unknown.
func (t *timeline) lostUpdate(b *basis, between, pos, hold int32) *Witness {
	did := "read"
	if b.wrote {
		did = "had written"
	}
	e := t.entry(pos)
	put := ""
	if between > b.pos && t.entry(between).Value == e.Was {
		put = fmt.Sprintf(", put there at %s", t.when(between))
	} else {
		between = none
	}
	return witness([]int32{b.pos, between, pos}, "%s %s %d at %s, and its write of %d at %s replaced %d%s.",
		t.procName(t.holds[hold].proc), did, b.value.V, t.when(b.pos), e.Value.V, t.when(pos), e.Was.V, put)
}
