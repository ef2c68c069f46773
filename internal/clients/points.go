package clients

import (
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// arm arms the points of the schedule that this operation may reach. For a worker
// without points, the point before an operation's first request is reached before the
// operation.
func (c *client) arm(r *openOperation) error {
	if r.kind != history.Acquire && r.kind != history.Release {
		return nil // the harness itself is at these points
	}
	steps := c.steps(r)
	for _, in := range c.run.Cfg.Schedule {
		p := in.Point
		if p == nil || p.Client != c.name || p.Op != r.kind || p.Acquisition != r.op.Acquisition || p.OK {
			continue
		}
		q := worker.Request{
			Op: worker.OpArm, Client: c.name, Run: r.entry.run, Entry: r.entry.number,
			F: p.Op, Request: p.Request, After: p.After,
		}
		if p.Last || p.Request > steps && !p.Exact {
			q.Request, q.Onward = max(steps, 1), true
		}
		switch {
		case c.can(worker.FeaturePoints):
			_, reply := c.process.Call(q)
			rep, ok := c.await(reply, atOnce)
			if !ok {
				rep.Err = worker.ErrLate
			}
			if rep.Err != nil {
				return c.crashed(rep.Err)
			}
		case q.Request == 1 && !q.After:
			c.run.Observer.Point(c.name, r.op, c.point(r, worker.Answer{Request: 1}, steps))
		}
	}
	return nil
}

// reached handles a client's arrival at a point. The client goes on when the observer
// returns. A client that was stopped meanwhile is released only when it goes on, after
// its clocks are set. Of the tasks of a run only the one that the fault struck hangs.
func (c *client) reached(r openOperation, a worker.Answer, seen bool) {
	hung := c.hung.Load()
	if seen {
		c.run.Observer.Point(c.name, r.op, c.point(&r, a, c.steps(&r)))
	}
	r.entry.unrequested = a.Run != 0 && (hung || !c.hung.Load())
	if c.blocks(&r, true) {
		c.process.Send(worker.Request{Go: a.At}) // a failed write shows as the worker's end
	}
}

// steps returns how many requests an acquire or a release of the lock makes.
func (c *client) steps(r *openOperation) int {
	if r.kind == history.Release {
		return c.run.Cfg.Lock.Steps.Release
	}
	return c.run.Cfg.Lock.Steps.Acquire
}

func (c *client) point(r *openOperation, a worker.Answer, steps int) faults.Point {
	return faults.Point{
		Client: c.name, Acquisition: r.op.Acquisition, Op: r.kind,
		After: a.After, Request: a.Request, Last: a.Request == steps, Sends: a.Sends, Sent: a.Sent,
	}
}
