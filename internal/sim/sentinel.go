package sim

// Delays of Sentinels are shares of T, because a failover that takes longer than
// the leases would show nothing.
const (
	downShare     = 10 // down-after-milliseconds is T/10
	electionShare = 4  // an election takes up to T/4
	configShare   = 10 // to reconfigure a server takes up to T/10
)

// watch makes the Sentinels react to the state of the servers.
func (n *node) watch() {
	w := n.net
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
	w := n.net
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
	if o := n.net.outside; o != nil && n.before != nil {
		o.Switched(n.net.monitors[i].name, n.before.name, n.master.name)
	}
	for _, c := range n.net.endpoints {
		m := n.net.newMessage(c.conns[n.net.monitors[i].n], notice, false)
		m.master = n.master
		n.net.send(m)
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
		n.net.After(n.net.delay("election", n.name, electionShare), func() {
			n.electing = false
			n.failover()
		})
	}
}

// leader returns the first Sentinel that may replace the master, or -1.
func (n *node) leader() int {
	w := n.net
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
	return n.unseen[i] != never && n.net.now-n.unseen[i] >= n.net.cfg.Lease/downShare
}

// failover replaces the master, unless it is back.
func (n *node) failover() {
	leader := n.leader()
	if leader < 0 {
		return
	}
	var best *server
	for _, m := range n.members {
		if m.source == n.master && m.runs() && !n.net.isSeparated(n.net.monitors[leader], m) && (best == nil || m.got > best.got) {
			best = m
		}
	}
	if best == nil {
		n.net.After(n.net.cfg.Lease/downShare, n.elect)
		return
	}
	n.promote(best, leader)
}
