package bench

import (
	"context"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// Traffic counts the messages between all clients and an ensemble. It counts on the
// side of the clients, so that the counts are the same in every environment.
type Traffic struct {
	Requests int // without opening and closing sessions
	Notified int // notifications of watches
	Listed   int // names of children in all answers
	Joined   int // ephemeral nodes created, which are the places in queues
}

// minus returns the traffic since before.
func (t Traffic) minus(before Traffic) Traffic {
	return Traffic{
		t.Requests - before.Requests, t.Notified - before.Notified,
		t.Listed - before.Listed, t.Joined - before.Joined,
	}
}

// ports counts the traffic of clients that may run at the same time.
type ports struct {
	now func() time.Duration // nil: times are not needed

	mu      sync.Mutex
	traffic Traffic
	asked   int           // requests that have no answer yet
	last    time.Duration // time of the last message
}

// counted returns lock with a counter of its clients' traffic.
func (p *ports) counted(lock catalogue.Lock) catalogue.Lock {
	made := lock.New
	lock.New = func(e catalogue.Env) locks.Locker {
		e.ZooKeeper.Transport = countedTransport{e.ZooKeeper.Transport, p}
		return made(e)
	}
	return lock
}

// pass counts a message.
func (p *ports) pass(what func(*Traffic)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what(&p.traffic)
	if p.now != nil {
		p.last = p.now()
	}
}

// sum returns the traffic so far, the time of the last message, and the number of
// requests without an answer.
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
	if err == nil && e.Path != "" { // without a path it is a notification about the session
		s.ports.pass(func(t *Traffic) { t.Notified++ })
	}
	return e, err
}
