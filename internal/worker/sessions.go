package worker

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// ensemble is the connection to a ZooKeeper ensemble.
type ensemble struct {
	*client
	next zookeeper.Transport
}

// Open opens a session, without points: it is no step of the lock.
func (e ensemble) Open(ctx context.Context, timeout, length time.Duration) (s zookeeper.Session, err error) {
	err = e.request(ctx, "", func(*task) (err error) {
		s, err = e.next.Open(ctx, e.clock.trueTime(timeout), length)
		return err
	})
	if err != nil {
		return nil, err
	}
	return session{s, e.client}, nil
}

// session is a session of the client. Other tasks run during its calls. Timeouts are on
// the client's clocks; heartbeats are the library's, on this machine's clock.
type session struct {
	zookeeper.Session
	client *client
}

// Do executes one request, with a point before and after it. A request with an invalid
// path has no points: the library does not send it.
func (s session) Do(ctx context.Context, timeout time.Duration, c zookeeper.Command) (r zookeeper.Reply, err error) {
	sends := ""
	if model.Valid(c) {
		sends = c.Verb.String()
	}
	err = s.client.request(ctx, sends, func(*task) (err error) {
		r, err = s.Session.Do(ctx, s.client.clock.trueTime(timeout), c)
		return err
	})
	return r, err
}

// Next takes the next event. A timeout of 0 means no limit, so a short timeout must not
// become 0.
func (s session) Next(ctx context.Context, timeout time.Duration) (e zookeeper.Event, err error) {
	if timeout > 0 {
		timeout = max(s.client.clock.trueTime(timeout), 1)
	}
	s.client.away(func() { e, err = s.Session.Next(ctx, timeout) })
	return e, err
}

// Close ends the session.
func (s session) Close(ctx context.Context, timeout time.Duration) error {
	return s.client.request(ctx, "", func(*task) error {
		return s.Session.Close(ctx, s.client.clock.trueTime(timeout))
	})
}
