package worker

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
	redisclient "github.com/lockcheck/lockcheck/stores/redis/client"
)

// transport is the way to a Redis server. If it counts, there is a point before
// and after each request of an operation that is under way.
type transport struct {
	*client
	next   redis.Transport
	counts bool
}

// Do carries out one request. The time-out is by the client's clocks and counts
// from when it has left the point. Once the request is sent only the end of the
// worker cuts it short.
func (t transport) Do(ctx context.Context, timeout time.Duration, c redis.Command) (r redis.Reply, err error) {
	err = t.request(ctx, t.counts, func(task *task) (err error) {
		r, err = t.next.Do(redisclient.WithCaller(t.server.life, &task.caller), t.clock.lasts(timeout), c)
		return err
	})
	return r, err
}

// request has the running task send a request, while others run. If it counts,
// it has a number in the task's operation, and the points that are armed are
// announced. A ctx that has ended keeps it from being sent.
func (c *client) request(ctx context.Context, counts bool, send func(*task) error) (err error) {
	if err := ctx.Err(); err != nil {
		return locks.Definite(err)
	}
	t := c.task
	request := 0
	if counts && !t.op.over {
		t.op.requests++
		request = t.op.requests
	}
	if err := c.point(request, false); err != nil {
		return locks.Definite(err)
	}
	c.away(func() { err = send(t) })
	if lost := c.point(request, true); lost != nil {
		return lost
	}
	return err
}

// point waits until the harness lets the task leave a point, if it is armed:
// the client's other tasks go on meanwhile. request is 0 if it has no number.
// The error is that the worker ends.
func (c *client) point(request int, after bool) (err error) {
	op := c.task.op
	if request == 0 || op.over {
		return nil
	}
	for _, p := range op.armed {
		if p.F != op.name || p.After != after || p.Request != request && !(p.Onward && request > p.Request) {
			continue
		}
		at, leave := c.server.await()
		c.away(func() {
			c.server.write(Answer{Event: EventAt, At: at, Client: c.name, F: op.name, Request: request, After: after, Run: op.run})
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
