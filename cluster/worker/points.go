package worker

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// transport is the way to a store, with a point before and after each request.
type transport struct {
	*client
	next redis.Transport
}

// Do counts the request and announces the points that are armed. The time-out
// counts from when the client has left the point. Once the request is sent
// only the end of the worker cuts it short.
func (t transport) Do(ctx context.Context, timeout time.Duration, c redis.Command) (r redis.Reply, err error) {
	if err := ctx.Err(); err != nil {
		return r, locks.Definite(err)
	}
	t.requests++
	request := t.requests
	if err := t.point(request, false); err != nil {
		return r, locks.Definite(err)
	}
	t.away(func() { r, err = t.next.Do(t.server.life, timeout, c) })
	if lost := t.point(request, true); lost != nil {
		return r, lost
	}
	return r, err
}

// point waits until the harness lets the client leave a point, if it is armed.
// The error is that the worker ends.
func (c *client) point(request int, after bool) (err error) {
	for _, p := range c.armed {
		if p.F != c.op || p.After != after || p.Request != request && !(p.Onward && request > p.Request) {
			continue
		}
		at, leave := c.server.await()
		c.away(func() {
			c.server.write(Answer{Event: EventAt, At: at, Client: c.name, F: c.op, Request: request, After: after})
			select {
			case <-leave:
			case <-c.server.life.Done():
				err = c.server.life.Err()
			}
		})
		return err
	}
	return nil
}
