package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// node is what a lock takes for one server: a master, and the replicas that may
// take its place.
//
// It is watched by the Sentinels, who are taken to find out at once whether they
// reach somebody: what a ping and its answer would take is left out, and so is
// what they tell one another. What is modelled is what locks depend on: that
// the master has to be away for downAfter in the eyes of most of them, who have
// to reach one another; that an election takes its time; that a replica of those
// which the leader reaches becomes the master, the one that has got the most;
// that the old master goes on until somebody who knows of the new one reaches it;
// and that clients are told by every Sentinel that knows.
type node struct {
	world   *World
	name    string
	members []*server
	master  *server        // as the Sentinels have it
	entries map[string]int // the entries of locks that it holds, as it was told: the acquire that made each

	unseen   []time.Duration // by Sentinel: since when it does not reach the master; never: it does
	knows    []bool          // by Sentinel: who the master is
	electing bool
}

func (n *node) reset(w *World, name string) {
	*n = node{world: w, name: name, members: n.members[:0], entries: n.entries, unseen: n.unseen[:0], knows: n.knows[:0]}
	clear(n.entries)
}

// add makes s a member: the first is the master, and the others follow it.
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
	s.follow(n.master).synced = true // nobody has anything yet
}

// replicated tells whether the node has replicas.
func (n *node) replicated() bool { return len(n.members) > 1 }

// note takes in what became of an entry of a lock.
func (n *node) note(s *server, f *model.Effect) {
	if !n.replicated() || s != n.master {
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

// settle tells what has become of the entries of locks now that s, which is not
// where they were written, or was down, is the master.
func (n *node) settle(s *server) {
	now := map[string]int{}
	s.redis.Entries(func(key string, maker int) bool {
		if n.world.lockOf(key) != "" {
			now[key] = maker
		}
		return true
	})
	s.settle(n.entries, now)
	n.entries = now
}

// settle tells how the entries of locks differ from what was told of them before.
func (s *server) settle(before, now map[string]int) {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if now[key] != before[key] {
			s.reports(history.Lose, s.world.lockOf(key), key, before[key], 0)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if before[key] != now[key] {
			s.reports(history.Granted, s.world.lockOf(key), key, now[key], 0)
		}
	}
}

// promote makes s the master, on behalf of a Sentinel.
func (n *node) promote(s *server, leader int) {
	w, old := n.world, n.master
	old.before = maps.Clone(n.entries)
	s.unfollow()
	s.before = nil
	w.observer.Server(history.Entry{
		Process: history.Process{Name: s.name}, Type: history.Event, F: history.Promote, Text: old.name,
	})
	n.master = s
	s.redis.Lead(s.wall())
	s.expired()
	s.replicate()
	n.settle(s)
	s.arm()
	s.hangUp()
	for i := range n.knows {
		n.knows[i] = false
		n.unseen[i] = never
	}
	n.learns(leader)
	w.look()
}

// reconfigure makes m, which takes somebody else for the master, or itself, a
// replica of the master.
func (n *node) reconfigure(m *server) {
	if m == n.master || m.source == n.master || !m.runs() || !n.reached(m) {
		return
	}
	if m.source == nil {
		m.redis.Follow()
		m.hangUp()
	} else {
		m.unfollow()
	}
	m.follow(n.master)
	n.world.look()
}

// reached tells whether a Sentinel that knows the master reaches m.
func (n *node) reached(m *server) bool {
	for i, s := range n.world.monitors {
		if n.knows[i] && !n.world.parted(s, m) {
			return true
		}
	}
	return false
}

// hangUp resets the connections of clients: so does the end of a process, and so
// do Sentinels with a server whose part they change.
func (s *server) hangUp() {
	for _, c := range s.world.clients {
		c.each(func(n *conn) {
			// Not one that its client has left.
			if n.server == s && n.incarnation == s.incarnation && (n.open || n.waiter != nil) {
				s.world.send(s.world.newMessage(n, rst, false))
				n.incarnation = 0
			}
		})
	}
}
