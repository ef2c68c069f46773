package explore

import (
	"bytes"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// The generator does not see the lock's name: under another name it makes the same
// plans. Locks with the same kind of lease have the same plans.
func TestTheGeneratorDoesNotSeeTheLock(t *testing.T) {
	s := defaults(10*time.Second, 1)
	s.Kinds = faults.All()
	plans := func(s Settings) []byte {
		var b bytes.Buffer
		for i := range 300 {
			p := s.Plan(i)
			p.Lock = "anything"
			must(t, p.Write(&b))
		}
		return b.Bytes()
	}
	type seen struct { // everything that a plan may depend on
		ends            catalogue.Lease
		store           catalogue.Store // decides the names of its servers, and their faults
		nodes, replicas int
	}
	alike := map[seen][]byte{}
	for _, lock := range catalogue.Locks {
		s.Lock, s.Use = lock.ID, nil
		named := plans(s)
		renamed := lock
		renamed.ID = "somebody-elses"
		s.Lock, s.Use = renamed.ID, &renamed
		if !bytes.Equal(named, plans(s)) {
			t.Errorf("%s has other plans under another name", lock.ID)
		}
		if alike[seen{lock.Lease, lock.Store, lock.Nodes, lock.Replicas}] == nil {
			alike[seen{lock.Lease, lock.Store, lock.Nodes, lock.Replicas}] = named
		} else if !bytes.Equal(alike[seen{lock.Lease, lock.Store, lock.Nodes, lock.Replicas}], named) {
			t.Errorf("%s has other plans than a lock whose grants end alike", lock.ID)
		}
	}
}
