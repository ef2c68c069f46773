package worker

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// grant is a lease that a client has got. Its client's mu guards it.
type grant struct {
	within // the entry that it is of
	lock   string
	lease  locks.Lease
	until  time.Duration // on the client's monotonic clock; 0: it does not say
	over   bool          // nothing more is told of it: it is being released, lost, or another one has come
	armed  []Request     // points of what comes after the entry
}

// granted takes what an acquire got, and is the answer that tells it. It needs mu.
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

// innermost is what a client holds of a lock, as far as it knows; nil: nothing.
// It needs mu.
func (c *client) innermost(lock string) *grant {
	if list := c.grants[lock]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// hold begins a grant, and is what tells it.
func (c *client) hold(g *grant) Answer {
	a := Answer{Token: tokenOf(g.lease)}
	if d, ok := g.lease.(locks.Deadliner); ok && d.Until() > 0 {
		g.until = d.Until()
		a.ValidMS, a.MonoNS = c.valid(g.until)
	}
	return a
}

// released takes a client's innermost grant from it; nil: it has none.
func (c *client) released(lock string) locks.Lease {
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

// token is that of the grant that an access is made with; 0: none.
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

// valid tells a deadline on the client's monotonic clock: for how long after
// an instant on the worker's it is to come, if the client's clock runs on as it
// does. It is rounded down: a client may believe too short, never too long.
func (c *client) valid(until time.Duration) (validMS, monoNS *int64) {
	left, now := c.clock.left(until)
	valid, mono := left.Milliseconds(), now.Nanoseconds()
	if left < 0 {
		valid-- // towards the past, not towards zero
	}
	return &valid, &mono
}

// learn is news of what op got, to be told after op's answer, or of its place in
// the queue, which is told at once and only before.
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
	c.tell(op.grant, n)
}

// tell tells news of a grant, which may be none. It is taken for news of the
// innermost: so how long one lasts within which there is another is not told, and
// a loss is, because that is of all of them. It needs mu.
func (c *client) tell(g *grant, n locks.News) {
	if g == nil || g.over {
		return
	}
	a := Answer{Event: EventExtended, Client: c.name, Lock: g.lock, Run: g.run, Entry: g.entry}
	if n.Until > 0 {
		g.until = n.Until
		if g.run == 0 && g != c.innermost(g.lock) {
			return
		}
		a.ValidMS, a.MonoNS = c.valid(n.Until)
	} else {
		g.over = true
		a.Event = EventLost
	}
	c.server.write(a)
}

// setClock sets the client's clocks. Where they run at another rate, deadlines
// to come are at other instants than was told.
func (c *client) setClock(q Request) Answer {
	if q.PPM > maxPPM || q.PPM < -maxPPM {
		return Answer{Error: ErrBadRequest, Text: fmt.Sprintf("ppm is %d, and can be up to %d either way", q.PPM, maxPPM)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.clock.set(time.Duration(q.SkewNS), q.PPM) {
		return Answer{}
	}
	again := func(g *grant) {
		if g.until > c.clock.mono() {
			c.tell(g, locks.News{Until: g.until})
		}
	}
	for _, list := range c.grants {
		for _, g := range list {
			again(g)
		}
	}
	for _, g := range c.entries {
		again(g)
	}
	return Answer{}
}
