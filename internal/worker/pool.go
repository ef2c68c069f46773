package worker

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// pool is the connection pool of the process to a MySQL server.
type pool struct {
	*client
	next mysql.Transport
}

// Do executes one statement, with a point before and after it. The timeout is on the
// client's clocks and starts when the statement leaves its point.
func (p pool) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (mysql.Reply, error) {
	return request(ctx, p.client, c.Verb.String(), func(*task) (mysql.Reply, error) {
		return p.next.Do(ctx, p.clock.trueTime(timeout), c)
	})
}

// Open takes a connection out of the pool, without points: it is no step of the lock.
func (p pool) Open(ctx context.Context, timeout time.Duration) (mysql.Session, error) {
	s, err := request(ctx, p.client, "", func(*task) (mysql.Session, error) {
		return p.next.Open(ctx, p.clock.trueTime(timeout))
	})
	if err != nil {
		return nil, err
	}
	return pinned{s, p.client}, nil
}

// pinned is a session of the client. Other tasks run during its calls.
type pinned struct {
	mysql.Session
	client *client
}

// Do executes one statement, like pool.Do.
func (s pinned) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (mysql.Reply, error) {
	return request(ctx, s.client, c.Verb.String(), func(*task) (mysql.Reply, error) {
		return s.Session.Do(ctx, s.client.clock.trueTime(timeout), c)
	})
}
