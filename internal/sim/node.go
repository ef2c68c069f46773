package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// node is one server in a lock's eyes: a master, and replicas that may replace
// it.
//
// Sentinels watch it. They find out at once whether they reach a server: pings
// and messages between Sentinels are left out. The model has the facts that locks
// depend on:
//
//   - A failover needs a majority of Sentinels that reach each other and have not
//     reached the master for downAfter.
//   - An election takes time.
//   - The leader promotes the reachable replica that has received the most.
//   - The old master goes on until a Sentinel that knows the new one reaches it.
//   - Every Sentinel that knows the new master tells the clients.
type node struct {
	net     *network
	name    string
	members []*server
	master  *server        // according to the Sentinels
	entries map[string]int // the known entries of locks: the acquire that made each one

	unseen   []time.Duration // by Sentinel: since when it does not reach the master; never: it does
	knows    []bool          // by Sentinel: it knows the master
	electing bool
	before   *server // the master before the last promotion; nil: there was none
}

func (n *node) reset(net *network, name string) {
	*n = node{net: net, name: name, members: n.members[:0], entries: n.entries, unseen: n.unseen[:0], knows: n.knows[:0]}
	clear(n.entries)
}

// add makes s a member: the first is the master, the others follow it.
func (n *node) add(s *server) {
	n.members = append(n.members, s)
	s.node = n
	if n.master == nil {
		n.master = s
		return
	}
	if n.entries == nil {
		n.entries = map[string]int{}
	}
	s.redis.Follow()
	s.follow(n.master).synced = true // all are still empty
}

// hasReplicas reports whether the node has replicas.
func (n *node) hasReplicas() bool { return len(n.members) > 1 }

// note updates the known entries of locks.
func (n *node) note(s *server, f *model.Effect) {
	if !n.hasReplicas() || s != n.master {
		return
	}
	switch f.Kind {
	case model.Created:
		n.entries[f.Key] = f.Maker
	case model.Overwritten:
		n.entries[f.Key] = f.By
	case model.Removed, model.Expired, model.Lost, model.Evicted:
		delete(n.entries, f.Key)
	}
}

// settle reports changed entries of locks after s has become the master or has
// come back as the master.
func (n *node) settle(s *server) {
	now := s.lockEntries(s.redis.Entries)
	s.settle(n.entries, now)
	n.entries = now
}

// settle reports how the entries of locks differ from those reported before.
func (s *server) settle(before, now map[string]int) {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if now[key] != before[key] {
			s.report(history.Lose, s.net.lockOf(key), key, before[key], 0)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if before[key] != now[key] {
			s.report(history.Granted, s.net.lockOf(key), key, now[key], 0)
		}
	}
}

// promote makes s the master on behalf of a Sentinel.
func (n *node) promote(s *server, leader int) {
	net, old := n.net, n.master
	old.before = maps.Clone(n.entries)
	s.unfollow()
	s.before = nil
	s.reportPromotion(old)
	n.before, n.master = old, s
	s.redis.Lead(s.wall())
	s.reportExpired()
	s.replicate()
	n.settle(s)
	s.arm()
	s.hangUp()
	for i := range n.knows {
		n.knows[i] = false
		n.unseen[i] = never
	}
	n.learnMaster(leader)
	net.look()
}

// reconfigure makes m a replica of the master if it is not one yet.
func (n *node) reconfigure(m *server) {
	if m == n.master || m.source == n.master || !m.runs() || !n.reaches(m) {
		return
	}
	if m.source == nil {
		m.redis.Follow()
		m.hangUp()
	} else {
		m.unfollow()
	}
	m.follow(n.master)
	n.net.look()
}

// reaches reports whether a Sentinel that knows the master reaches m.
func (n *node) reaches(m *server) bool {
	for i, s := range n.net.monitors {
		if n.knows[i] && !n.net.isSeparated(s, m) {
			return true
		}
	}
	return false
}

// hangUp resets the clients' connections. The end of a process does this, and so
// do Sentinels when they change a server's role.
func (s *server) hangUp() {
	for _, c := range s.net.endpoints {
		c.eachConn(func(n *conn) {
			// Not one that its client has closed.
			if n.server == s && n.incarnation == s.incarnation && (n.open || n.waiter != nil) {
				m := s.net.newMessage(n, rst, false)
				m.err = errHungUp
				s.net.send(m)
				n.incarnation = 0
			}
		})
	}
}
