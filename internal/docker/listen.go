package docker

import (
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// listen starts a feed of the server, after it has corrected the ledger. It does
// nothing if the server was started or stopped since that turn.
func (s *server) listen(turn int) error {
	f, err := listen(s.Addr, s.ledger, &s.gate)
	if err != nil {
		return err
	}
	if s.node != nil {
		err = s.node.connected(s, f, turn)
	} else {
		f.begin()
		err = s.restore(f, turn)
	}
	if err != nil || s.current() != f {
		f.close()
	}
	return err
}

// setFeed makes f the server's feed, after tell has reported the server's role. It does
// nothing if the server was started or stopped since that turn.
func (s *server) setFeed(f *feed, turn int, tell func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns == turn {
		tell()
		s.feed = f
		if s.node != nil {
			go s.relisten(f, turn)
		}
	}
}

// relisten starts a new feed when one ends without a stop of the server: a server whose
// role changes drops all its connections.
func (s *server) relisten(f *feed, turn int) {
	<-f.ended
	s.mu.Lock()
	if s.turns != turn {
		s.mu.Unlock()
		return
	}
	s.feed = nil
	s.mu.Unlock()
	f.close()
	limit := time.Now().Add(upLimit)
	for {
		err := s.listen(turn)
		if err == nil || s.turn() != turn {
			return
		}
		if time.Now().After(limit) {
			s.ledger.drop("its feed ended: %v", err)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// restore corrects the ledger after a start: the server has its kept data, which may be
// older than the loss of power.
func (s *server) restore(f *feed, turn int) error {
	if s.fsync != catalogue.FsyncEverysec || s.ledger.hasRole(roleDeposed) {
		err := s.compare(f)
		if err == nil {
			s.setFeed(f, turn, func() {})
		}
		return err
	}
	s.ledger.rise()
	found, at, err := s.has(f)
	if err == nil {
		s.setFeed(f, turn, func() { s.ledger.comeBack(found, at) })
	}
	return err
}

// compare compares the ledger with the server's data.
func (s *server) compare(f *feed) error {
	for _, key := range s.ledger.keys.all() {
		there, err := isThere(f.command, key)
		if err != nil {
			return err
		}
		at, err := wallClock(f.command)
		if err != nil {
			return err
		}
		if err := f.catchUp(); err != nil {
			return err
		}
		s.ledger.compare(key, there, at)
	}
	return nil
}

// isThere reports whether a server has a key. A cluster node that has just started
// refuses commands on keys, but lists its data.
func isThere(c *control, key string) (bool, error) {
	said, err := c.do("EXISTS", key)
	if err == nil || !refusesKeys(err) {
		return said == ":1\r\n", err
	}
	said, err = c.do("KEYS", key)
	return strings.HasPrefix(said, "*1\r\n"), err
}

// refusesKeys reports whether a node redirects to another one, or does not know its
// cluster yet.
func refusesKeys(err error) bool {
	return strings.HasPrefix(err.Error(), "MOVED ") || strings.HasPrefix(err.Error(), "CLUSTERDOWN ")
}
