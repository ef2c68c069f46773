package docker

import (
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
)

// listen listens to the server, and sets the ledger right first. It does
// nothing where the server was started or stopped since that turn.
func (s *server) listen(turn int) error {
	f, err := listen(s.addr, s.ledger, &s.gate)
	if err != nil {
		return err
	}
	if s.node != nil {
		err = s.node.heard(s, f, turn)
	} else {
		f.begin()
		err = s.comesBack(f, turn)
	}
	if err != nil || s.current() != f {
		f.close()
	}
	return err
}

// heed makes f the server's feed, once what the server has become is told,
// unless the server was started or stopped since that turn.
func (s *server) heed(f *feed, turn int, tell func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns == turn {
		tell()
		s.feed = f
		if s.node != nil {
			go s.lost(f, turn)
		}
	}
}

// lost listens anew when a feed ends though nobody has stopped the server: a
// server whose role changes drops all its connections.
func (s *server) lost(f *feed, turn int) {
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
			s.ledger.drop("it ended by itself: %v", err)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// comesBack sets the ledger right after a start: what a server has is what it
// has kept. That may be what it had a while before it lost power.
func (s *server) comesBack(f *feed, turn int) error {
	if s.fsync != catalogue.FsyncEverysec || s.ledger.is(deposed) {
		err := s.compare(f)
		if err == nil {
			s.heed(f, turn, func() {})
		}
		return err
	}
	s.ledger.rise()
	found, at, err := s.has(f)
	if err == nil {
		s.heed(f, turn, func() { s.ledger.comeBack(found, at) })
	}
	return err
}

// compare holds the ledger against what the server has of what it had.
func (s *server) compare(f *feed) error {
	for _, key := range s.ledger.names {
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

// isThere tells whether a server has a key. A node of a cluster that has just
// started answers for none, and still lists what it has.
func isThere(c *control, key string) (bool, error) {
	said, err := c.do("EXISTS", key)
	if err == nil || !refusesKeys(err) {
		return said == ":1\r\n", err
	}
	said, err = c.do("KEYS", key)
	return strings.HasPrefix(said, "*1\r\n"), err
}
