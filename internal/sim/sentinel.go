package sim

import "time"

// Delays of Sentinels are shares of T, because a failover that takes longer than
// the leases would show nothing.
const (
	downShare     = 10 // down-after-milliseconds is T/10
	electionShare = 4  // an election takes up to T/4
	configShare   = 10 // to reconfigure a server takes up to T/10
)

// isolation separates servers from all other servers.
type isolation struct {
	id      int
	servers []string
}

// Isolate separates servers from the others until Restore.
func (w *World) Isolate(id int, servers []string) error {
	for _, name := range servers {
		if s := w.server(name); s == nil || s == w.resource || s == w.tokens {
			_, err := w.process(name)
			return err
		}
	}
	w.isolations = append(w.isolations, isolation{id, servers})
	w.look()
	return nil
}

// isSeparated reports whether an isolation separates two servers.
func (w *World) isSeparated(a, b *server) bool {
	for _, is := range w.isolations {
		if is.has(a) != is.has(b) {
			return true
		}
	}
	return false
}

func (is *isolation) has(s *server) bool {
	for _, name := range is.servers {
		if name == s.name {
			return true
		}
	}
	return false
}

// look makes all servers and monitors notice which servers they reach, after that
// has changed.
func (w *World) look() {
	if w.ensemble != nil {
		w.ensemble.look()
	}
	if w.databases != nil {
		w.databases.look()
	}
	for _, n := range w.nodes {
		if n.hasReplicas() {
			n.flow()
			n.watch()
		}
	}
}

// watch makes the Sentinels react to the state of the servers.
func (n *node) watch() {
	w := n.world
	if len(n.unseen) == 0 {
		for range w.monitors {
			n.unseen, n.knows = append(n.unseen, never), append(n.knows, true)
		}
	}
	for i, s := range w.monitors {
		switch {
		case n.master.runs() && !w.isSeparated(s, n.master):
			n.unseen[i] = never
		case n.unseen[i] == never:
			n.unseen[i] = w.now
			w.After(w.cfg.Lease/downShare, n.elect)
		}
	}
	n.spread()
	n.elect()
	for _, m := range n.members {
		if m != n.master && m.source != n.master && m.runs() && n.reaches(m) {
			w.After(w.delay("reconfigure", m.name, configShare), func() { n.reconfigure(m) })
		}
	}
}

// spread makes Sentinels that know the master tell the Sentinels that they reach,
// and the clients.
func (n *node) spread() {
	w := n.world
	for more := true; more; {
		more = false
		for i, s := range w.monitors {
			for j, o := range w.monitors {
				if n.knows[i] && !n.knows[j] && !w.isSeparated(s, o) {
					n.learnMaster(j)
					more = true
				}
			}
		}
	}
}

// learnMaster makes Sentinel i know the master and tell the clients.
func (n *node) learnMaster(i int) {
	n.knows[i] = true
	for _, c := range n.world.clients {
		m := n.world.newMessage(c.conns[n.world.monitors[i].n], notice, false)
		m.master = n.master
		n.world.send(m)
	}
}

// elect looks for a Sentinel that, with a majority, considers the master dead.
// That Sentinel replaces the master.
func (n *node) elect() {
	if n.electing {
		return
	}
	if leader := n.leader(); leader >= 0 {
		n.electing = true
		n.world.After(n.world.delay("election", n.name, electionShare), func() {
			n.electing = false
			n.failover()
		})
	}
}

// leader returns the first Sentinel that may replace the master, or -1.
func (n *node) leader() int {
	w := n.world
	for i, s := range w.monitors {
		votes := 0
		for j, o := range w.monitors {
			if n.considersDead(j) && !w.isSeparated(s, o) {
				votes++
			}
		}
		if n.considersDead(i) && 2*votes > len(w.monitors) {
			return i
		}
	}
	return -1
}

// considersDead reports whether Sentinel i considers the master dead.
func (n *node) considersDead(i int) bool {
	return n.unseen[i] != never && n.world.now-n.unseen[i] >= n.world.cfg.Lease/downShare
}

// failover replaces the master, unless it is back.
func (n *node) failover() {
	leader := n.leader()
	if leader < 0 {
		return
	}
	var best *server
	for _, m := range n.members {
		if m.source == n.master && m.runs() && !n.world.isSeparated(n.world.monitors[leader], m) && (best == nil || m.got > best.got) {
			best = m
		}
	}
	if best == nil {
		n.world.After(n.world.cfg.Lease/downShare, n.elect)
		return
	}
	n.promote(best, leader)
}

// delay returns a random duration of up to T/share.
func (w *World) delay(what, who string, share int64) time.Duration {
	most := int64(w.cfg.Lease) / share / int64(time.Microsecond)
	return time.Duration(w.Rand(who, what, max(1, most))) * time.Microsecond
}
