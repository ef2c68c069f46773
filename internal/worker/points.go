package worker

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/locks"
)

// transport is the connection to a Redis server. If counts, each request of a running
// operation has a point before and after it.
type transport struct {
	*client
	next   redis.Transport
	counts bool
}

// Do executes one request. The timeout is on the client's clocks and starts when the
// request leaves its point. Once sent, only the end of the worker cancels it.
func (t transport) Do(ctx context.Context, timeout time.Duration, c redis.Command) (redis.Reply, error) {
	sends := c.Verb.String()
	if !t.counts {
		sends = ""
	}
	return request(ctx, t.client, sends, func(task *task) (redis.Reply, error) {
		return t.next.Do(redisclient.WithCaller(t.server.life, &task.caller), t.clock.trueTime(timeout), c)
	})
}

// request makes the running task send a request while other tasks run. sends is its
// command; "": the request has no number in the operation, and no points. If ctx has
// ended, nothing is sent.
func request[R any](ctx context.Context, c *client, sends string, send func(*task) (R, error)) (r R, err error) {
	if err := ctx.Err(); err != nil {
		return r, locks.Definite(err)
	}
	t := c.task
	number := 0
	if sends != "" && !t.op.over {
		t.op.requests++
		number = t.op.requests
	}
	sent := ""
	if t.op.answered == number-1 {
		sent = t.op.sent
	}
	if err := c.point(Answer{Request: number, Sends: sends, Sent: sent}); err != nil {
		return r, locks.Definite(err)
	}
	c.away(func() { r, err = send(t) })
	if number != 0 {
		t.op.answered, t.op.sent = number, sends
		t.op.answers++
	}
	if lost := c.point(Answer{Request: number, Sends: sends, After: true}); lost != nil {
		return r, lost
	}
	return r, err
}

// point waits at an armed point until the harness lets the task go on; the client's
// other tasks go on meanwhile. A request without a number has Request 0 and no point.
// It returns an error if the worker ends.
func (c *client) point(at Answer) (err error) {
	op := c.task.op
	if at.Request == 0 || op.over {
		return nil
	}
	for _, p := range op.armed {
		n := at.Request
		if p.Onward && p.After {
			n = op.answers // of requests that are sent side by side, any may be answered last
		}
		if p.F != op.name || p.After != at.After || p.Request != n && !(p.Onward && n > p.Request) {
			continue
		}
		at.Request = n
		number, leave := c.server.newPoint()
		at.Event, at.At, at.Client, at.F, at.Run = EventAt, number, c.name, op.name, op.run
		c.away(func() {
			c.server.write(at)
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
