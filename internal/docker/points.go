package docker

import (
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// arm makes the points of the schedule known that this operation may reach.
// Of a worker that announces no points, the one before an operation's first
// request is reached before the operation.
func (c *client) arm(r *running) error {
	steps := c.place.cfg.Lock.Steps.Acquire
	switch r.kind {
	case history.Release:
		steps = c.place.cfg.Lock.Steps.Release
	case history.Acquire:
	default:
		return nil // the harness is at these points itself
	}
	for _, in := range c.place.schedule {
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
			c.place.observer.Point(c.name, r.op, c.point(r, worker.Answer{Request: 1}, steps))
		}
	}
	return nil
}

// reached is the client's arrival at a point: it goes on when the observer has
// done what is to be done there. A client that was stopped meanwhile is told
// that it may only when it goes on, and after what its clocks were set to. Of
// the tasks of a run none but the one that was struck there hangs.
func (c *client) reached(r running, a worker.Answer, seen bool) {
	steps := c.place.cfg.Lock.Steps.Acquire
	if r.kind == history.Release {
		steps = c.place.cfg.Lock.Steps.Release
	}
	hung := c.hung.Load()
	if seen {
		c.place.observer.Point(c.name, r.op, c.point(&r, a, steps))
	}
	r.entry.uncalled = a.Run != 0 && (hung || !c.hung.Load())
	if c.stands(&r, true) {
		c.process.Send(worker.Request{Go: a.At}) // a failure shows as the worker's end
	}
}

func (c *client) point(r *running, a worker.Answer, steps int) faults.Point {
	return faults.Point{
		Client: c.name, Acquisition: r.op.Acquisition, Op: r.kind,
		After: a.After, Request: a.Request, Last: a.Request == steps, Sends: a.Sends, Sent: a.Sent,
	}
}
