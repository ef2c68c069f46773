package models

// input is an operation as Porcupine's model gets it.
type input struct {
	opID
	optional bool
}

// step changes s by x, or returns false if x is not allowed.
func (o *object) step(s *state, x input) bool {
	switch x.kind {
	case acquireOp:
		return o.grant(s, x.n, x.optional)
	case releaseOp:
		rest, ok := without(s.held, x.n)
		s.keep(rest)
		if !ok { // it confirms a loss
			_, ok = without(s.over, x.n)
			return ok && o.holds[x.n].joint != 0
		}
		if ok && o.loose() {
			s.over = pack(s.over, x.n)
		}
		return ok
	case lossOp:
		return o.lose(s, x.n+1)
	case queueOp:
		s.queue = pack(s.queue, x.n)
		return true
	case strayOp:
		t := o.strays[x.n]
		_, holds := without(s.held, t.hold)
		return !t.release && holds
	case refusedOp:
		r := o.refused[x.n]
		if o.model.kind == anonymous {
			return s.locked
		}
		return !o.admits(s, r.proc, r.shared)
	case eventOp:
		e := &o.events[x.n]
		if e.release && e.hold != none && s.held != pack("", e.hold) {
			return false
		}
		if e.once {
			if _, spent := without(s.spent, e.about); spent {
				return false
			}
			s.spent = pack(s.spent, e.about)
		}
		was := s.locked
		s.locked, s.held = !e.release, ""
		if e.silent() && e.asked {
			s.over = pack(s.over, x.n)
		}
		if e.tied {
			s.held = pack("", e.hold)
		}
		return was != s.locked
	case accessOp:
		return o.access(s, &o.accesses[x.n])
	}
	return false
}

// lose ends the holds that rest on an entry.
func (o *object) lose(s *state, joint int32) bool {
	rest := ""
	for _, n := range unpack(s.held) {
		switch h := &o.holds[n]; {
		case h.joint != joint:
			rest = pack(rest, n)
		case h.gone != never || o.loose():
			s.over = pack(s.over, n)
		}
	}
	was := s.held
	s.keep(rest)
	s.lost = pack(s.lost, joint)
	return rest != was
}

// admits reports whether the lock may be granted to a process.
func (o *object) admits(s *state, proc int32, shared bool) bool {
	r, limit := o.model.rule, o.model.N
	held := unpack(s.held)
	for _, n := range held {
		h := &o.holds[n]
		switch {
		case r.permits:
		case r.shared && h.shared && shared:
		case r.reentrant && h.owner == o.procs[proc].first:
		default:
			return false
		}
	}
	return limit == 0 || len(held) < limit
}

func (o *object) grant(s *state, n int32, optional bool) bool {
	h := &o.holds[n]
	if !o.admits(s, h.proc, h.shared) {
		return false
	}
	if _, lost := without(s.lost, h.joint); lost { // the grant used that entry, so it came before its loss
		return false
	}
	r := o.model.rule
	if r.fifo && !o.turn(s, n, optional) {
		return false
	}
	if r.tokens && h.token != 0 {
		switch {
		case s.held != "" && s.nest != 0:
			if h.token != s.nest {
				return false
			}
		case h.token <= s.highest:
			return false
		default:
			s.nest, s.highest = h.token, h.token
		}
	}
	s.held = pack(s.held, n)
	return true
}

// turn removes n from the queue if it may be granted now. Indeterminate acquires
// before it may have left. An optional one may take its place at the last moment.
func (o *object) turn(s *state, n int32, optional bool) bool {
	for i, k := range unpack(s.queue) {
		if k == n {
			s.queue = s.queue[4*i+4:]
			return true
		}
		if o.holds[k].presupposed() {
			return false
		}
	}
	if optional {
		s.queue = ""
	}
	return optional
}

// access applies an access to a register.
func (o *object) access(s *state, a *access) bool {
	if o.model.rule.fenced && a.token != 0 {
		switch {
		case a.what == refuse:
			return a.token < s.highest
		case a.token < s.highest:
			return false
		}
		s.highest = a.token
	}
	switch {
	case a.what == refuse, a.what == read && !a.known:
		return true
	case a.what == read && s.known && s.value != a.value:
		return false
	case a.what == cas && s.known && a.based && s.value != a.from:
		return false
	}
	if s.value, s.known = a.value, a.known; !s.known {
		s.value = 0
	}
	return true
}

// choices returns the states that a loose operation can lead to from s: it is about a
// grant that its client has, or one that may have been released before without an
// answer.
func (o *object) choices(s state, t *stray) (list []any) {
	for _, n := range unpack(s.held) {
		if h := &o.holds[n]; !o.mine(t, h) {
			continue
		}
		if !t.release {
			return []any{s}
		}
		next := s
		rest, _ := without(s.held, n)
		next.keep(rest)
		next.spent = pack(s.spent, n)
		list = append(list, next)
	}
	for _, n := range unpack(s.over) {
		if _, spent := without(s.spent, n); t.release && !spent && o.mine(t, &o.holds[n]) && o.holds[n].gone == never {
			next := s
			next.spent = pack(s.spent, n)
			list = append(list, next)
		}
	}
	return list
}

// mine reports whether a loose operation may be about h.
func (o *object) mine(t *stray, h *hold) bool {
	return o.procs[h.proc].client == o.procs[t.proc].client && h.call < t.call
}

// releases returns the states that an ok release can lead to from s: it ends the
// present hold, or confirms an event that ended the hold that it is about.
func (o *object) releases(s state, e *event) (list []any) {
	if s.locked {
		next := s
		next.locked, next.held = false, ""
		list = append(list, next)
	}
	for _, n := range unpack(s.over) {
		if o.sameHold(&o.events[n], e) {
			next := s
			next.over, _ = without(s.over, n)
			list = append(list, next)
		}
	}
	return list
}
