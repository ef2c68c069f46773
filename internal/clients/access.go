package clients

import (
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// access serves a worker's access to the guarded resource, which lives in the harness.
// The way there and back is a link like those to servers: it can be delayed, held, lost
// or reset, and the access may arrive long after its client has given up.
func (c *client) access(a worker.Answer) {
	c.mu.Lock()
	r := c.asked[a.ID]
	c.mu.Unlock()
	reply := worker.Request{ID: a.ID}
	write := a.Do == worker.DoWrite
	switch {
	case a.Do == worker.DoRead && r.kind == history.Read:
	case write && r.kind == history.Write && a.Value != nil:
	default:
		reply.Error = worker.ErrBadRequest
		c.process.Send(reply)
		return
	}
	c.run.Observer.Point(c.name, r.op, c.point(&r, worker.Answer{Request: 1}, 1))
	if !c.blocks(&r, true) { // a dead client sends nothing
		return
	}
	x := env.Access{
		Client: c.name, By: r.op.Index, Grant: r.op.Grant, Lock: r.op.Lock,
		Write: write, Token: uint64(a.Token),
	}
	if write {
		x.Value = *a.Value
	}
	back := make(chan worker.Request, 1)
	go c.travel(x, reply, back)
	select {
	case reply = <-back:
	case <-time.After(r.limit):
		reply.Error = worker.ErrTimeout
	}
	c.run.Observer.Point(c.name, r.op, c.point(&r, worker.Answer{Request: 1, After: true}, 1))
	if c.blocks(&r, false) {
		c.process.Send(reply) // a failed write shows as the worker's end
	}
}

// travel takes an access to the resource, and the answer back. A lost message sends
// nothing back.
func (c *client) travel(x env.Access, reply worker.Request, back chan<- worker.Request) {
	for _, to := range []faults.Direction{faults.ToServer, faults.ToClient} {
		w := way{client: c.clients[0].name, server: history.Resource, to: to}
		c.run.Sleep(c.run.disturb.delay(w, Effect))
		switch c.run.disturb.arrive(w, Effect, c.run.Ctx.Done()) {
		case abandoned, swallowed:
			return
		case resets:
			reply.Error = errReset
			back <- reply
			return
		}
		if to == faults.ToClient || c.run.Ctx.Err() != nil {
			break
		}
		answer := c.run.Observer.Resource(x)
		switch {
		case answer.Stale:
			reply.Error = worker.ErrStaleToken
		case x.Write:
			reply.Result = "ok"
		default:
			reply.Value = &answer.Value
		}
	}
	back <- reply
}

// errReset is not a definite error of the protocol: the access may have happened.
const errReset = "connection-reset"
