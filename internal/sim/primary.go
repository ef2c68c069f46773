package sim

import (
	"slices"
	"time"
)

// databases are a MySQL primary and the replicas that copy it.
//
// A monitor with an operator's tools watches them. It finds out at once whether
// it reaches a server, and it controls the address that clients connect to. If
// the primary is silent for downShare, an election follows, as with Sentinels:
// the reachable replica with the longest log becomes the primary. The address
// moves to it, and all connections to other servers are reset. The old primary
// becomes a replica when the monitor reaches it. The monitor does not reach
// isolated servers.
type databases struct {
	net      *network
	members  []*database
	primary  *database
	entries  entries       // of locks on the primary, as reported
	silent   time.Duration // since when the primary is unreachable; never: it is reachable
	electing bool
}

// addDatabases adds the MySQL servers of the run's layout.
func (n *network) addDatabases(names []string) {
	g := &n.memory.group
	*g = databases{net: n, members: g.members[:0], silent: never}
	for _, name := range names {
		d := n.memory.databases.next()
		d.reset(g, n.addServer(name, nil))
		g.members = append(g.members, d)
	}
	g.primary = g.members[0]
	if g.hasReplicas() {
		g.entries = entries{}
	}
	for _, d := range g.members[1:] {
		d.relay.follow()
	}
	n.databases = g
}

// hasReplicas reports whether there are replicas.
func (g *databases) hasReplicas() bool { return len(g.members) > 1 }

// reaches reports whether the monitor reaches d.
func (g *databases) reaches(d *database) bool {
	for i := range g.net.isolations {
		if g.net.isolations[i].has(d.server) {
			return false
		}
	}
	return d.server.runs()
}

// look makes the monitor and the replicas notice which servers are reachable.
func (g *databases) look() {
	if !g.hasReplicas() {
		return
	}
	w := g.net
	g.flow()
	switch {
	case g.reaches(g.primary):
		g.silent = never
	case g.silent == never:
		g.silent = w.now
		w.After(w.cfg.Lease/downShare, g.elect)
	}
	for _, d := range g.members {
		if d != g.primary && !d.relay.follows && g.reaches(d) {
			w.After(w.delay("reconfigure", d.server.name, configShare), func() { g.reconfigure(d) })
		}
	}
}

// elect starts an election if the primary has been silent for long enough.
func (g *databases) elect() {
	w := g.net
	if g.electing || g.silent == never || w.now-g.silent < w.cfg.Lease/downShare {
		return
	}
	g.electing = true
	w.After(w.delay("election", g.primary.server.name, electionShare), func() {
		g.electing = false
		g.failover()
	})
}

// failover replaces the primary if it is still silent.
func (g *databases) failover() {
	if g.silent == never {
		return
	}
	var best *database
	for _, d := range g.members {
		if d.relay.follows && g.reaches(d) && (best == nil || d.model.Committed() > best.model.Committed()) {
			best = d
		}
	}
	if best == nil {
		g.net.After(g.net.cfg.Lease/downShare, g.elect)
		return
	}
	g.promote(best)
}

// promote makes d the primary.
func (g *databases) promote(d *database) {
	old := g.primary
	d.server.reportPromotion(old.server)
	old.server.hangUp()
	old.before = g.entries
	g.primary, g.silent = d, never
	d.relay.cut()
	d.relay.follows, d.before = false, nil
	d.model.Lead(d.clock())
	d.passOutputs()
	g.settle()
	for _, o := range g.members {
		o.relay.cut()
		o.relay.apart = o.relay.apart || o.model.Committed() > d.model.Committed()
	}
	g.net.look()
}

// reconfigure makes d, an old primary, a replica of the present one.
func (g *databases) reconfigure(d *database) {
	if d == g.primary || d.relay.follows || !g.reaches(d) {
		return
	}
	d.cutOff()
	d.model.Crash(d.clock(), d.model.Committed()) // its open transactions existed nowhere else
	d.passOutputs()
	d.relay.follow()
	d.relay.apart = true
	g.flow()
}

// settle reports changed entries of locks after another server has become the
// primary, or the primary has come back.
func (g *databases) settle() {
	now := g.primary.rows()
	g.primary.server.settle(g.entries, now)
	g.entries = now
}

// flow sends every replica the primary's commits.
func (g *databases) flow() {
	for _, d := range g.members {
		d.relay.flow()
	}
}

// relay sends a replica the primary's commits, in order and some time later. The
// primary never waits for it.
type relay struct {
	to      *database
	links   []link // from each member
	follows bool
	apart   bool          // it has commits that the primary lacks, and must get everything again
	copying bool          // that copy is under way
	sent    int64         // the part of the log that is there or under way
	turn    int           // messages of an earlier turn are void
	arrives time.Duration // when the last message arrives
}

// follow starts the relay.
func (r *relay) follow() {
	r.follows = true
	r.to.model.Follow()
	r.cut()
}

// cut voids everything under way. It will be sent again.
func (r *relay) cut() {
	r.turn++
	r.copying = false
	r.sent = r.to.model.Committed()
}

// open reports whether messages can pass now.
func (r *relay) open() bool {
	p := r.to.group.primary.server
	return r.follows && p.runs() && r.to.server.runs() && !p.net.isSeparated(p, r.to.server)
}

// flow sends the part of the log that the replica lacks.
func (r *relay) flow() {
	if !r.open() {
		return
	}
	p := r.to.group.primary
	if r.apart {
		if !r.copying {
			r.copying = true
			r.send("a copy of everything", func() {
				r.to.model.CopyFrom(r.to.clock(), &p.model)
				r.apart = false
				r.cut()
				r.flow()
			})
		}
		return
	}
	for _, t := range p.model.Transactions(r.sent) {
		r.sent++
		r.send("a transaction", func() { r.to.model.Replicate(r.to.clock(), t) })
	}
}

// send calls f when a message that is sent now arrives.
func (r *relay) send(text string, f func()) {
	w := r.to.server.net
	g, turn := r.to.group, r.turn
	if len(r.links) == 0 {
		for _, d := range g.members {
			r.links = append(r.links, link{name: w.text.join(d.server.name, "→", r.to.server.name)})
		}
	}
	l := &r.links[slices.Index(g.members, g.primary)]
	r.arrives = max(w.now+w.latency(l), r.arrives)
	noted := w.between(g.primary.server, r.to.server, text)
	w.push(event{at: r.arrives, what: action(func() {
		switch {
		case r.turn != turn:
			w.lost(noted)
		case !r.open():
			w.lost(noted)
			r.cut()
		default:
			w.reached(noted)
			f()
			r.to.passOutputs()
		}
	})})
}
