package clients

import (
	"errors"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// news are a worker's unasked reports about its client's grants: a grant was renewed,
// or lost. They are about the innermost grant of a lock that the worker has reported,
// and must follow its line in the history. The client's mu guards them.
type news struct {
	// grants are, by lock, the indices of the acquires of the client's grants, the
	// innermost last; 0: a grant that the history does not have.
	grants map[string][]int
	asking int             // index of the acquire whose end is not recorded yet; 0: none
	held   []worker.Answer // reports that came meanwhile
}

// recordTime is how long the harness may take to record the end of an operation.
const recordTime = 10 * time.Millisecond

// beginAcquire records that an acquire begins.
func (c *client) beginAcquire(op env.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news.asking = op.Index
}

// acquired records how an acquire ended, and returns the grant's deadline according to
// earlier reports. Other reports wait until the end is recorded.
func (c *client) acquired(op env.Op, until time.Duration, err error) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.news
	switch {
	case err == nil:
		if c.run.own != nil {
			c.run.own.acquired(op)
		}
		n.open(op, op.Index)
		kept := n.held[:0]
		for _, a := range n.held {
			if a.Event == worker.EventExtended && c.holder(a) == op.Index {
				until = c.validUntil(a)
			} else {
				kept = append(kept, a)
			}
		}
		n.held = kept
	case errors.Is(err, env.ErrTimeout) || errors.Is(err, env.ErrCrashed):
		// Any other error is a worker's answer: the client got nothing, and holds the
		// same as before.
		n.open(op, 0) // the history does not have its grant, if there is one
	}
	time.AfterFunc(recordTime, func() { c.flushNews(op.Index) })
	return until
}

// open adds the grant of an acquire to those that the client holds.
func (n *news) open(op env.Op, acquire int) {
	if op.Grant == 0 {
		n.grants[op.Lock] = nil
	}
	n.grants[op.Lock] = append(n.grants[op.Lock], acquire)
}

// released records that a client has released the grant of op: later reports are about
// the outer one.
func (c *client) released(op env.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if list := c.news.grants[op.Lock]; len(list) > 1 {
		c.news.grants[op.Lock] = slices.DeleteFunc(list, func(acquire int) bool { return acquire == op.Acquire })
	}
}

// flushNews reports the held news, once the end of the acquire is recorded; 0: of none.
func (c *client) flushNews(acquire int) {
	c.mu.Lock()
	if c.news.asking == acquire {
		c.news.asking = 0
	}
	held := c.news.held
	c.news.held = nil
	var entries []history.Entry
	for _, a := range held {
		if c.early(a) {
			c.news.held = append(c.news.held, a)
		} else {
			entries = append(entries, c.entry(a))
		}
	}
	c.mu.Unlock()
	for _, e := range entries {
		if e.Op.V > 0 && (e.F == history.Lost || e.ValidUntil > 0) { // otherwise its grant is unknown
			c.run.Observer.Report(e)
		}
	}
}

// learn handles a report about a grant.
func (c *client) learn(a worker.Answer) {
	c.mu.Lock()
	c.news.held = append(c.news.held, a)
	c.mu.Unlock()
	c.flushNews(0)
}

// holder returns the index of the acquire that a report is about; 0: unknown. The
// caller holds mu.
func (c *client) holder(a worker.Answer) int {
	if a.Run == 0 {
		if list := c.news.grants[a.Lock]; len(list) > 0 {
			return list[len(list)-1]
		}
		return 0
	}
	for acquire, e := range c.runs.inside {
		if e.run == a.Run && e.number == a.Entry {
			return acquire
		}
	}
	return 0
}

// early reports whether news is about a grant that is not recorded yet. The caller
// holds mu.
func (c *client) early(a worker.Answer) bool {
	if a.Run == 0 {
		return c.news.asking != 0
	}
	holder := c.holder(a)
	return holder == 0 && c.runs.entering > 0 || holder != 0 && holder == c.news.asking
}

// entry returns the history's entry for a report. The caller holds mu.
func (c *client) entry(a worker.Answer) history.Entry {
	e := history.Entry{Client: c.name, F: history.Lost, Lock: a.Lock, Op: history.Some(int64(c.holder(a)))}
	if a.Event == worker.EventExtended {
		e.F, e.ValidUntil = history.Valid, c.validUntil(a)
	}
	return e
}
