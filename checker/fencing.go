package checker

// fencing: if one acquire completed before another was invoked, its token is smaller,
// and no two grants of a lock share a token. Acquires that overlap may get their
// tokens in any order. A nested acquire, whose process holds when its ok comes, may
// get the token of its nest.
func fencing(t *timeline) Verdict {
	var tokens bool
	for i := range t.holds {
		tokens = tokens || t.holds[i].token != 0
	}
	if !tokens && t.grants > 0 {
		return notApplicable(Fencing, "no grant has a token")
	}
	// Two passes side by side: over holds by their begins, and over acquires by their
	// invokes, to know the largest token that was out when each was invoked.
	floor := t.scratch.zeros(len(t.ops)) // by acquire: 1 + that hold
	top := t.scratch.zeros(len(t.locks.list))
	next := 0
	for i := range t.ops {
		o := &t.ops[i]
		if o.verb != acquire || o.hold == none {
			continue
		}
		for ; next < len(t.holds) && t.holds[next].begin < o.invoke; next++ {
			h := &t.holds[next]
			if l := &top[h.lock]; h.token != 0 && (*l == 0 || t.holds[*l-1].token < h.token) {
				*l = int32(next) + 1
			}
		}
		floor[i] = top[o.lock]
	}
	return t.compareTokens(floor)
}

// compareTokens checks each token when its grant comes back.
func (t *timeline) compareTokens(floor []int32) Verdict {
	type key struct {
		lock  int32
		token uint64
	}
	var seen map[key]int32 // only once a token was not the largest so far
	top := make([]uint64, len(t.locks.list))
	for i := range t.holds {
		h := &t.holds[i]
		if h.token == 0 {
			continue
		}
		if f := floor[h.op]; f != 0 && t.holds[f-1].token >= h.token && !t.sameToken(&t.holds[f-1], h) && !t.goesOn(h.lock) {
			return violated(Fencing, t.staleToken(&t.holds[f-1], h))
		}
		if seen == nil && h.token <= top[h.lock] {
			seen = make(map[key]int32, len(t.holds))
			for j := range i {
				seen[key{t.holds[j].lock, t.holds[j].token}] = int32(j)
			}
		}
		if seen != nil {
			k := key{h.lock, h.token}
			if j, ok := seen[k]; ok && !t.sameToken(&t.holds[j], h) && !t.goesOn(h.lock) {
				return violated(Fencing, t.staleToken(&t.holds[j], h))
			}
			seen[k] = int32(i)
		}
		top[h.lock] = max(top[h.lock], h.token)
	}
	return valid(Fencing)
}

// sameToken reports whether a and b may share their token, because one entry of the
// store has both.
func (t *timeline) sameToken(a, b *hold) bool {
	return a.token == b.token && t.entryOf(a) == t.entryOf(b)
}

// entryOf returns the outermost hold on the entry of h. A client may get h while it is
// being killed. Then the hold around h has ended with the kill, but the client has
// neither released nor lost it.
func (t *timeline) entryOf(h *hold) int32 {
	for id := h.before; h.stillborn() && id != none && t.holds[id].end == h.end; id = t.holds[id].before {
		if a := &t.holds[id]; a.proc == h.proc && a.lock == h.lock && h.begin < a.released && !a.lost {
			return t.entryOf(a)
		}
	}
	return h.nest
}

func (t *timeline) staleToken(a, b *hold) *Witness {
	first, second := t.pair(a.proc, b.proc)
	if a.token == b.token {
		return witness([]int32{a.begin, b.begin}, "%s was granted %s at %s with token %d, and %s at %s with the same token.",
			first, t.lockName(a.lock), t.when(a.begin), a.token, second, t.when(b.begin))
	}
	invoke := t.ops[b.op].invoke
	return witness([]int32{a.begin, invoke, b.begin},
		"%s was granted %s at %s with token %d; %s asked after that, at %s, and got the smaller token %d at %s.",
		first, t.lockName(a.lock), t.when(a.begin), a.token, second, t.when(invoke), b.token, t.when(b.begin))
}
