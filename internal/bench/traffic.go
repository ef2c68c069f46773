package bench

import (
	"context"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// Traffic is what has passed the ports of all clients to an ensemble: as the
// clients see it, so that it is the same count in every place.
type Traffic struct {
	Requests int // opening and closing sessions left out
	Notified int // times that a client was told of a watch
	Listed   int // names of children in all answers
	Joined   int // nodes made that go with their session, which are the places in queues
}

// minus is what has passed since before.
func (t Traffic) minus(before Traffic) Traffic {
	return Traffic{
		t.Requests - before.Requests, t.Notified - before.Notified,
		t.Listed - before.Listed, t.Joined - before.Joined,
	}
}

// ports counts the traffic of clients that may run at the same time.
type ports struct {
	now func() time.Duration // nil: nobody asks when

	mu      sync.Mutex
	traffic Traffic
	asked   int           // requests that have no answer yet
	last    time.Duration // when something passed
}

// counted makes lock one whose clients' traffic is counted.
func (p *ports) counted(lock catalogue.Lock) catalogue.Lock {
	made := lock.New
	lock.New = func(e catalogue.Env) locks.Locker {
		e.ZooKeeper.Transport = countedTransport{e.ZooKeeper.Transport, p}
		return made(e)
	}
	return lock
}

// pass notes what passes.
func (p *ports) pass(what func(*Traffic)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what(&p.traffic)
	if p.now != nil {
		p.last = p.now()
	}
}

// sum is what has passed so far, when the last of it did, and how many requests
// have no answer yet.
func (p *ports) sum() (t Traffic, last time.Duration, asked int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.traffic, p.last, p.asked
}

type countedTransport struct {
	zookeeper.Transport
	ports *ports
}

func (t countedTransport) Open(ctx context.Context, timeout, length time.Duration) (zookeeper.Session, error) {
	s, err := t.Transport.Open(ctx, timeout, length)
	if err != nil {
		return nil, err
	}
	return countedSession{s, t.ports}, nil
}

type countedSession struct {
	zookeeper.Session
	ports *ports
}

func (s countedSession) Do(ctx context.Context, timeout time.Duration, c zookeeper.Command) (zookeeper.Reply, error) {
	s.ports.pass(func(t *Traffic) {
		t.Requests++
		s.ports.asked++
	})
	r, err := s.Session.Do(ctx, timeout, c)
	s.ports.pass(func(t *Traffic) {
		s.ports.asked--
		t.Listed += len(r.Children)
		if err == nil && r.Code == zookeeper.OK && c.Verb == zookeeper.Create && c.Mode&zookeeper.Ephemeral != 0 {
			t.Joined++
		}
	})
	return r, err
}

func (s countedSession) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	e, err := s.Session.Next(ctx, timeout)
	if err == nil && e.Path != "" { // else it is of the session
		s.ports.pass(func(t *Traffic) { t.Notified++ })
	}
	return e, err
}
