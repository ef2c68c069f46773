package checker

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// update is a write that a client reports, computed from a value that its
// grant had read or written before.
type update struct {
	op       int32
	basis    history.Opt // not Set: the grant had neither read nor written
	basisPos int32
	value    int64
	accepted bool // else it may have happened
}

// resourceByClients judges the resource on what its clients say. Where the ok
// of a write tells what it replaced, that is compared; otherwise values are
// followed from write to write:
//
//   - a value that was in place once cannot be the basis of two accepted
//     writes, and only one value can have been there before all writes;
//   - where every accepted write has a basis and no value was written twice,
//     the values give the one order in which the writes can have happened, and
//     it must not contradict the order of the lines.
//
// What neither decides is unknown.
func resourceByClients(t *timeline) Verdict {
	list, verdict := t.updates()
	if verdict != nil {
		return *verdict
	}
	if len(list) == 0 {
		if t.grants == 0 {
			return valid(Resource)
		}
		return notApplicable(Resource, "the resource was never written")
	}
	if w := t.forked(list); w != nil {
		return violated(Resource, w)
	}
	chain, ok := inOrder(list)
	if !ok {
		return Verdict{Property: Resource, Outcome: Unknown,
			Reason: "values were written twice or without having been read, so the order of the writes is not certain; record what each write replaced"}
	}
	if w := t.outOfOrder(chain); w != nil {
		return violated(Resource, w)
	}
	return valid(Resource)
}

// updates lists the writes that were or may have been accepted. Those whose ok
// says what they replaced are judged on the way, and the verdict is not nil as
// soon as one convicts, or when all of them do say it.
func (t *timeline) updates() ([]update, *Verdict) {
	known := make([]basis, len(t.holds))
	var list []update
	told := 0
	for i := range t.ops {
		o := &t.ops[i]
		if (o.verb != read && o.verb != write) || o.outcome == history.Fail {
			continue
		}
		accepted := o.outcome == history.OK
		e := &t.entries[o.invoke]
		if accepted && t.entries[o.done].Value.Set {
			e = &t.entries[o.done]
		}
		if o.verb == write && e.Value.Set {
			u := update{op: int32(i), value: e.Value.V, accepted: accepted, basisPos: none}
			if o.hold != none {
				u.basis, u.basisPos = known[o.hold].value, known[o.hold].pos
			}
			list = append(list, u)
			if accepted && t.entries[o.done].Was.Set {
				told++
				if u.basis.Set && u.basis.V != t.entries[o.done].Was.V {
					v := violated(Resource, t.lostUpdate(&known[o.hold], none, o.done, o.hold))
					return nil, &v
				}
			}
		}
		if accepted && o.hold != none {
			known[o.hold] = basis{value: e.Value, pos: o.done, wrote: o.verb == write}
		}
	}
	if told > 0 {
		v := valid(Resource)
		return list, &v
	}
	return list, nil
}

// forked is the witness that a value was replaced more often than it was in
// place, or nil.
func (t *timeline) forked(list []update) *Witness {
	made := map[int64]int{} // how often a value was put in place
	for i := range list {
		made[list[i].value]++
	}
	var first *update // whose basis nobody wrote: that value was there from the start
	used := map[int64][]*update{}
	for i := range list {
		u := &list[i]
		if !u.accepted || !u.basis.Set {
			continue
		}
		if made[u.basis.V] == 0 {
			if first != nil && first.basis.V != u.basis.V {
				return witness([]int32{first.basisPos, t.ops[first.op].done, u.basisPos, t.ops[u.op].done},
					"%s wrote %d over %d and %s wrote %d over %d, and nobody ever wrote %d or %d.",
					t.procName(t.ops[first.op].proc), first.value, first.basis.V,
					t.procName(t.ops[u.op].proc), u.value, u.basis.V, first.basis.V, u.basis.V)
			}
			first = u
		}
		used[u.basis.V] = append(used[u.basis.V], u)
	}
	for i := range list {
		u := &list[i]
		if !u.accepted || !u.basis.Set {
			continue
		}
		times := made[u.basis.V]
		if first == nil || first.basis.V == u.basis.V {
			times++ // it may have been there from the start
		}
		if all := used[u.basis.V]; len(all) > times {
			return t.fork(all)
		}
	}
	return nil
}

func (t *timeline) fork(all []*update) *Witness {
	a, b := all[0], all[1]
	entries := make([]int32, 0, 2*len(all))
	for _, u := range all {
		entries = append(entries, u.basisPos, t.ops[u.op].done)
	}
	x, y := t.pair(t.ops[a.op].proc, t.ops[b.op].proc)
	more := ""
	if len(all) > 2 {
		more = fmt.Sprintf(" (and %d more)", len(all)-2)
	}
	return witness(entries, "%s and %s%s both computed their writes (%d, ok at %s, and %d, ok at %s) from %d, which was not in place that often.",
		x, y, more, a.value, t.when(t.ops[a.op].done), b.value, t.when(t.ops[b.op].done), a.basis.V)
}

// inOrder puts the updates in the order that their values dictate. An update
// that may have happened is left out unless another one presupposes it. It
// returns false where the values dictate none.
func inOrder(list []update) ([]*update, bool) {
	maker := map[int64]*update{} // of a value
	next := map[int64]*update{}  // by basis: the accepted update
	for i := range list {
		u := &list[i]
		if maker[u.value] != nil || (u.accepted && !u.basis.Set) {
			return nil, false
		}
		maker[u.value] = u
		if u.accepted {
			next[u.basis.V] = u
		}
	}
	// An uncertain update whose value an accepted one builds on happened.
	for i := range list {
		for u := maker[list[i].basis.V]; list[i].accepted && u != nil && !u.accepted; u = maker[u.basis.V] {
			if !u.basis.Set || (next[u.basis.V] != nil && next[u.basis.V] != u) {
				return nil, false
			}
			if next[u.basis.V] == u {
				break
			}
			next[u.basis.V] = u
		}
	}
	var chain []*update
	for _, u := range next {
		if p := maker[u.basis.V]; p == nil || next[p.basis.V] != p {
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

// outOfOrder is the witness that a write was over before another one was
// invoked whose value it must follow, or nil.
func (t *timeline) outOfOrder(chain []*update) *Witness {
	if len(chain) == 0 {
		return nil
	}
	latest := chain[0] // of those so far, the one that was invoked last
	for _, u := range chain[1:] {
		o, l := &t.ops[u.op], &t.ops[latest.op]
		if u.accepted && o.done < l.invoke {
			return witness([]int32{o.done, latest.basisPos, l.invoke},
				"%s's write of %d was ok at %s, before %s invoked its write of %d at %s, but the values say that it came after it.",
				t.procName(o.proc), u.value, t.when(o.done), t.procName(l.proc), latest.value, t.when(l.invoke))
		}
		if o.invoke > l.invoke {
			latest = u
		}
	}
	return nil
}
