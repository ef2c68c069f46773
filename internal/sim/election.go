package sim

import "time"

// isLinked reports whether messages can pass between x and the leader now.
func (e *ensemble) isLinked(x *member) bool {
	l := e.leader
	return l != nil && x.server.runs() && l.server.runs() && !e.net.isSeparated(x.server, l.server)
}

// look makes all members notice which others they reach, after that has changed.
func (e *ensemble) look() {
	for _, x := range e.members {
		if !x.serves || x == e.leader {
			continue
		}
		switch limit := limitTicks * e.tick(); {
		case e.isLinked(x):
			x.unheard = never
			x.up.flow()
			x.down.flow()
		case x.unheard == never:
			x.unheard = e.net.now
			e.net.After(limit, e.look)
		case e.net.now-x.unheard >= limit:
			e.separate(x)
		}
	}
	e.elect()
}

func (e *ensemble) tick() time.Duration { return e.net.cfg.Lease / tickShare }

// separate makes x and the leader give each other up.
func (e *ensemble) separate(x *member) {
	x.retire()
	following := 1
	for _, o := range e.members {
		if o.serves && o != e.leader {
			following++
		}
	}
	if e.leader != nil && !e.isMajority(following) {
		e.depose()
	}
}

// depose ends a leadership: no member serves clients now.
func (e *ensemble) depose() {
	e.leader = nil
	e.syncs = e.syncs[:0]
	for _, x := range e.members {
		if x.serves {
			x.retire()
		}
	}
}

func (e *ensemble) isMajority(n int) bool { return 2*n > len(e.members) }

// elect makes members follow the leader, or elects one.
func (e *ensemble) elect() {
	w := e.net
	if e.leader != nil {
		for _, x := range e.members {
			if x.serves || x.joining || !e.isLinked(x) {
				continue
			}
			x.joining = true
			w.After(w.delay("join", x.server.name, joinShare), func() {
				x.joining = false
				if !x.serves && e.isLinked(x) {
					e.join(x)
				}
				e.elect()
			})
		}
		return
	}
	if e.electing || e.candidate() == nil {
		return
	}
	e.electing = true
	w.After(w.cfg.Lease/ballotShare+w.delay("election", "ensemble", talkShare), func() {
		e.electing = false
		if x := e.candidate(); x != nil && e.leader == nil {
			e.lead(x)
		}
		e.elect()
	})
}

// candidate returns the member with the longest log among those that reach a
// majority, or nil.
func (e *ensemble) candidate() (best *member) {
	for _, x := range e.members {
		if e.isMajority(e.countReachable(x)) && (best == nil || x.lastZxid() >= best.lastZxid()) {
			best = x
		}
	}
	return best
}

// countReachable returns how many members x reaches, itself included.
func (e *ensemble) countReachable(x *member) (n int) {
	for _, o := range e.members {
		if x.server.runs() && o.server.runs() && !e.net.isSeparated(x.server, o.server) {
			n++
		}
	}
	return n
}

// lead makes x the leader of the members that it reaches. Its whole log is
// committed. Some of it may have been committed before; nothing shows which part.
func (e *ensemble) lead(x *member) {
	e.leader = x
	e.lastReported = min(e.lastReported, x.lastZxid()) // less after a loss: the effects are then reported again
	if e.last != nil && e.last != x {
		x.server.reportPromotion(e.last.server)
	}
	e.last = x
	x.serves, x.unheard = true, never
	for _, l := range x.log {
		x.commit(l)
	}
	x.log = x.log[:0]
	e.settle()
	for _, o := range e.members {
		if o == x || e.isLinked(o) {
			x.epoch = max(x.epoch, o.epoch)
		}
	}
	if x.epoch++; x.epoch <= e.epoch {
		e.life++
	}
	e.epoch = x.epoch
	clear(e.owners)
	e.decides.Lead(x.mono(), e.tick(), x.epoch, &x.copy)
	for _, o := range e.members {
		if o != x && e.isLinked(o) {
			e.join(o)
		}
	}
	for _, session := range e.closing {
		e.close(session)
	}
	e.closing = e.closing[:0]
	e.arm()
}

// join makes x a follower, which gets everything that the leader has.
func (e *ensemble) join(x *member) {
	l := e.leader
	if x.copy.Zxid() != l.copy.Zxid() {
		x.copy.CopyFrom(&l.copy)
		x.copy.Effects()
	}
	x.log, x.epoch = append(x.log[:0], l.log...), l.epoch
	x.serves, x.unheard, x.acked = true, never, 0
	x.up.restart(x, l)
	x.down.restart(l, x)
	x.acknowledge()
}
