package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

// grant is a lease that a client got. The client's mu guards it.
type grant struct {
	within // its entry; zero outside a run
	lock   string
	lease  locks.Lease
	until  time.Duration // on the client's monotonic clock; 0: the lock reports none
	over   bool          // its events have ended: it is being released, lost, or replaced by another grant
	armed  []Request     // points of the release after the entry
}

// granted records a new grant and returns the answer to its acquire. The caller holds
// mu.
func (c *client) granted(q Request, lease locks.Lease) (*grant, Answer) {
	g := &grant{lock: q.Lock, lease: lease}
	if !q.Nested {
		for _, old := range c.grants[q.Lock] {
			old.over = true
		}
		c.grants[q.Lock] = nil
	}
	c.grants[q.Lock] = append(c.grants[q.Lock], g)
	return g, c.hold(g)
}

// innermost returns the client's innermost grant of a lock, nil without one. The caller
// holds mu.
func (c *client) innermost(lock string) *grant {
	if list := c.grants[lock]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// hold begins a grant and returns the token and the deadline for its answer.
func (c *client) hold(g *grant) Answer {
	a := Answer{Token: tokenOf(g.lease)}
	if x, ok := g.lease.(locks.Extender); ok {
		a.Extends = x.CanExtend()
	}
	c.tellDeadline(g, &a)
	return a
}

// tellDeadline adds the deadline that the lock reports of a grant.
func (c *client) tellDeadline(g *grant, a *Answer) {
	if d, ok := g.lease.(locks.Deadliner); ok && d.Until() > 0 {
		g.until = d.Until()
		a.ValidMS, a.MonoNS = c.validity(g.until)
	}
}

// extend extends a client's innermost grant of a lock.
func (c *client) extend(ctx context.Context, lock string) (a Answer) {
	c.mu.Lock()
	g := c.innermost(lock)
	c.mu.Unlock()
	if g == nil {
		return failed(locks.ErrNotHeld)
	}
	x, ok := g.lease.(locks.Extender)
	if !ok || !x.CanExtend() {
		return Answer{Error: ErrUnsupported, Text: history.Extend}
	}
	if err := x.Extend(ctx); err != nil {
		return failed(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tellDeadline(g, &a)
	return a
}

// dropInnermost removes a client's innermost grant and returns its lease, nil without
// one.
func (c *client) dropInnermost(lock string) locks.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.innermost(lock)
	if g == nil {
		return nil
	}
	g.over = true
	c.grants[lock] = c.grants[lock][:len(c.grants[lock])-1]
	return g.lease
}

// token returns the token for an access; 0: none.
func (c *client) token(q Request) Token {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.entries[q.within()]
	if g == nil {
		g = c.innermost(q.Lock)
	}
	if g != nil {
		return tokenOf(g.lease)
	}
	return 0
}

func tokenOf(lease locks.Lease) Token {
	if f, ok := lease.(locks.Fencer); ok {
		return Token(f.Token())
	}
	return 0
}

// validity returns a deadline on the client's monotonic clock as the milliseconds after
// an instant on the worker's clock, at the present rate of the client's clock. It
// rounds down: the harness may believe in too short a lease, never in too long a one.
func (c *client) validity(until time.Duration) (validMS, monoNS *int64) {
	left, now := c.clock.left(until)
	valid, mono := left.Milliseconds(), now.Nanoseconds()
	if left < 0 {
		valid-- // towards the past, not towards zero
	}
	return &valid, &mono
}

// learn takes news of op's grant, which it reports after op's answer, or op's place in
// the queue, which it reports at once and only before the answer.
func (c *client) learn(op *operation, n locks.News) {
	if n.Queued != 0 {
		if position := n.Queued - 1; !op.over {
			c.server.write(Answer{Event: EventQueued, Client: c.name, Lock: op.lock, Run: op.run, Position: &position})
		}
		return
	}
	if !op.over {
		op.news = append(op.news, n)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(op.grant, n)
}

// report writes news of a grant, nil for none. News is about the innermost grant: a new
// deadline of an outer one is not reported, but a loss is, because it affects all. The
// caller holds mu.
func (c *client) report(g *grant, n locks.News) {
	if g == nil || g.over {
		return
	}
	a := Answer{Event: EventExtended, Client: c.name, Lock: g.lock, Run: g.run, Entry: g.entry}
	if n.Until > 0 {
		g.until = n.Until
		if g.run == 0 && g != c.innermost(g.lock) {
			return
		}
		a.ValidMS, a.MonoNS = c.validity(n.Until)
	} else {
		g.over = true
		a.Event = EventLost
	}
	c.server.write(a)
}

// setClock sets the client's clocks. If the rate changes, it reports the deadlines
// again: their true instants have changed.
func (c *client) setClock(q Request) Answer {
	if q.PPM > maxPPM || q.PPM < -maxPPM {
		return Answer{Error: ErrBadRequest, Text: fmt.Sprintf("ppm is %d, and must be from -%[2]d to %[2]d", q.PPM, maxPPM)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.clock.set(time.Duration(q.SkewNS), q.PPM) {
		return Answer{}
	}
	report := func(g *grant) {
		if g.until > c.clock.mono() {
			c.report(g, locks.News{Until: g.until})
		}
	}
	for _, list := range c.grants {
		for _, g := range list {
			report(g)
		}
	}
	for _, g := range c.entries {
		report(g)
	}
	return Answer{}
}
