package docker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// node is a master and its replicas, which Sentinels watch over.
//
// When Sentinels change a server's role they have it drop its connections, in
// the transaction that changes it. So for as long as a feed lasts its server
// has one role, and no request comes to a new master before it is listened to
// as that: clients come through links, and wait for the feed.
type node struct {
	observer env.Observer

	mu     sync.Mutex
	master *server // the last that a feed has shown as one
}

// heard looks at what a server is that a new feed listens to, and tells what
// has changed by that. Only then the feed begins: what a replica does its master
// has told it.
func (n *node) heard(s *server, f *feed, turn int) error {
	leading, err := leading(f.command)
	n.mu.Lock()
	was := n.master
	n.mu.Unlock()
	promoted := leading && s != was && (s.ledger.is(follows) || s.ledger.is(rises))
	switch {
	case err != nil:
	case promoted:
		s.ledger.rise()
	case !leading:
		s.heed(f, turn, s.ledger.follow)
	}
	f.begin()
	switch {
	case err != nil || !leading:
		return err
	case promoted:
		return n.promoted(s, f, turn)
	}
	return s.comesBack(f, turn)
}

// promoted puts s, a replica until now, in the place of the master.
func (n *node) promoted(s *server, f *feed, turn int) error {
	found, at, err := s.has(f)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s.heed(f, turn, func() {
		n.observer.Server(history.Entry{
			Process: history.Process{Name: s.name}, Type: history.Event,
			F: history.Promote, Text: n.master.name,
		})
		s.ledger.adopt(n.master.ledger.depose(), found, at)
		n.master = s
	})
	return nil
}

// leading tells whether a server is a master.
func leading(c *control) (bool, error) {
	raw, err := c.do("ROLE")
	if err != nil {
		return false, err
	}
	return strings.Contains(raw, "$6\r\nmaster\r\n"), nil
}

// has is what a server has of the locks' entries, and when, by its wall clock.
func (s *server) has(f *feed) (found map[string]entry, at time.Duration, err error) {
	found = map[string]entry{}
	for _, key := range s.ledger.names {
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

// absent is PEXPIRETIME's answer for a key that is not there.
const absent = -2
