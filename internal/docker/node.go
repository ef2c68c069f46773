package docker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// node is a master with its replicas, which Sentinels watch.
//
// When Sentinels change a server's role they make it drop its connections, in the same
// transaction. So during a feed its server has one role, and a new master gets no
// request before it is observed as a master: clients come through links, and wait for
// the feed.
type node struct {
	observer env.Observer

	mu     sync.Mutex
	master *server // the last server that a feed has shown as master
}

// connected checks the role of a server with a new feed, and reports changes of the
// role. Only then the feed begins: the master has already reported what a replica does.
func (n *node) connected(s *server, f *feed, turn int) error {
	leading, err := isMaster(f.command)
	n.mu.Lock()
	was := n.master
	n.mu.Unlock()
	promoted := leading && s != was && (s.ledger.hasRole(roleReplica) || s.ledger.hasRole(roleRising))
	switch {
	case err != nil:
	case promoted:
		s.ledger.rise()
	case !leading:
		s.setFeed(f, turn, s.ledger.follow)
	}
	f.begin()
	switch {
	case err != nil || !leading:
		return err
	case promoted:
		return n.promote(s, f, turn)
	}
	return s.restore(f, turn)
}

// promote makes s, a replica until now, the master.
func (n *node) promote(s *server, f *feed, turn int) error {
	found, at, err := s.has(f)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s.setFeed(f, turn, func() {
		n.observer.Server(promotion(s.name, n.master.name))
		s.ledger.adopt(n.master.ledger.depose(), found, at)
		n.master = s
	})
	return nil
}

// isMaster reports whether a server is a master.
func isMaster(c *control) (bool, error) {
	raw, err := c.do("ROLE")
	if err != nil {
		return false, err
	}
	return strings.Contains(raw, "$6\r\nmaster\r\n"), nil
}

// has returns a server's entries of locks, and the time by its wall clock.
func (s *server) has(f *feed) (found map[string]entry, at time.Duration, err error) {
	found = map[string]entry{}
	for _, key := range s.ledger.keys.all() {
		value, err := f.command.do("GET", key)
		if err != nil {
			return nil, 0, err
		}
		raw, err := f.command.do("PEXPIRETIME", key)
		if err != nil {
			return nil, 0, err
		}
		ms, err := strconv.ParseInt(strings.Trim(raw, ":\r\n"), 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("an unexpected answer to PEXPIRETIME: %q", raw)
		}
		if _, text, ok := strings.Cut(value, "\r\n"); ok && ms != absent {
			e := entry{value: strings.TrimSuffix(text, "\r\n"), due: never}
			if ms >= 0 {
				e.due = time.Duration(ms) * time.Millisecond
			}
			found[key] = e
		}
	}
	at, err = wallClock(f.command)
	return found, at, errors.Join(err, f.catchUp())
}

// absent is PEXPIRETIME's answer for a missing key.
const absent = -2
