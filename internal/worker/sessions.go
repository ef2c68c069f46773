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
func (e ensemble) Open(ctx context.Context, timeout, length time.Duration) (zookeeper.Session, error) {
	s, err := request(ctx, e.client, "", func(*task) (zookeeper.Session, error) {
		return e.next.Open(ctx, e.clock.trueTime(timeout), length)
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
func (s session) Do(ctx context.Context, timeout time.Duration, c zookeeper.Command) (zookeeper.Reply, error) {
	sends := ""
	if model.Valid(c) {
		sends = c.Verb.String()
	}
	return request(ctx, s.client, sends, func(*task) (zookeeper.Reply, error) {
		return s.Session.Do(ctx, s.client.clock.trueTime(timeout), c)
	})
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
	_, err := request(ctx, s.client, "", func(*task) (struct{}, error) {
		return struct{}{}, s.Session.Close(ctx, s.client.clock.trueTime(timeout))
	})
	return err
}
