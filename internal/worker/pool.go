package worker

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// pool is the way to a MySQL server: the connections of the process.
type pool struct {
	*client
	next mysql.Transport
}

// Do carries out one statement, with a point before and after it. The time-out is
// by the client's clocks and counts from when it has left the point.
func (p pool) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (r mysql.Reply, err error) {
	err = p.request(ctx, c.Verb.String(), func(*task) (err error) {
		r, err = p.next.Do(ctx, p.clock.lasts(timeout), c)
		return err
	})
	return r, err
}

// Open takes a connection out of the pool. That is no step of the lock's, and has
// no points.
func (p pool) Open(ctx context.Context, timeout time.Duration) (s mysql.Session, err error) {
	err = p.request(ctx, "", func(*task) (err error) {
		s, err = p.next.Open(ctx, p.clock.lasts(timeout))
		return err
	})
	if err != nil {
		return nil, err
	}
	return pinned{s, p.client}, nil
}

// pinned is a session of the client's, whose calls let its other tasks run.
type pinned struct {
	mysql.Session
	client *client
}

// Do carries out one statement, as pool's does.
func (s pinned) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (r mysql.Reply, err error) {
	err = s.client.request(ctx, c.Verb.String(), func(*task) (err error) {
		r, err = s.Session.Do(ctx, s.client.clock.lasts(timeout), c)
		return err
	})
	return r, err
}
