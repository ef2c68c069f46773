package docker

import (
	"errors"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// news is what a worker says of its client's grants when nobody asks: that one
// was renewed, or is lost. It is about the innermost grant of a lock that the
// worker has told, and must not stand in the history before that. A client's mu
// guards it.
type news struct {
	// grants are by lock the indices of the acquires that got what the client
	// holds, the innermost last; 0: of one that the history knows nothing of.
	grants map[string][]int
	asking int             // index of the acquire whose end is not in the history yet; 0: all are
	held   []worker.Answer // that came meanwhile
}

// recordTime is how long the harness may take to record the end of an
// operation that it has been told.
const recordTime = 10 * time.Millisecond

// acquires notes that an acquire begins.
func (c *client) acquires(op env.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news.asking = op.Index
}

// got notes how an acquire ended, and returns until when the grant lasts by
// what was said of it already. What else was said is told when its end is.
func (c *client) got(op env.Op, until time.Duration, err error) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.news
	switch {
	case err == nil:
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
	case !isAnswer(err):
		n.open(op, 0) // if it gets one, the history knows nothing of it
	}
	time.AfterFunc(recordTime, func() { c.recorded(op.Index) })
	return until
}

// open takes in what an acquire got within what the client holds.
func (n *news) open(op env.Op, acquire int) {
	if op.Grant == 0 {
		n.grants[op.Lock] = nil
	}
	n.grants[op.Lock] = append(n.grants[op.Lock], acquire)
}

// gives notes that a client gives back what a release names: what is said of a
// grant from here on is of the one around it.
func (c *client) gives(op env.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if list := c.news.grants[op.Lock]; len(list) > 1 {
		c.news.grants[op.Lock] = slices.DeleteFunc(list, func(acquire int) bool { return acquire == op.Acquire })
	}
}

// isAnswer tells whether an acquire's error is a worker's answer: it got
// nothing, and the client has what it had.
func isAnswer(err error) bool {
	return !errors.Is(err, env.ErrTimeout) && !errors.Is(err, env.ErrCrashed)
}

// recorded tells what was held back, once the end of the acquire is recorded.
func (c *client) recorded(acquire int) {
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
		c.report(e)
	}
}

// learn takes news of a grant.
func (c *client) learn(a worker.Answer) {
	c.mu.Lock()
	if c.early(a) {
		c.news.held = append(c.news.held, a)
		c.mu.Unlock()
		return
	}
	e := c.entry(a)
	c.mu.Unlock()
	c.report(e)
}

// holder is the index of the acquire that news is about; 0: none that is known.
// It needs mu.
func (c *client) holder(a worker.Answer) int {
	if a.Run == 0 {
		if list := c.news.grants[a.Lock]; len(list) > 0 {
			return list[len(list)-1]
		}
		return 0
	}
	return c.runs.holder(a.Run, a.Entry)
}

// early tells whether news is about a grant that is not in the history yet. It
// needs mu.
func (c *client) early(a worker.Answer) bool {
	if a.Run == 0 {
		return c.news.asking != 0
	}
	holder := c.holder(a)
	return holder == 0 && c.runs.entering > 0 || holder != 0 && holder == c.news.asking
}

// entry is what stands in the history of a piece of news. It needs mu.
func (c *client) entry(a worker.Answer) history.Entry {
	e := history.Entry{Client: c.name, F: history.Lost, Lock: a.Lock, Op: history.Some(int64(c.holder(a)))}
	if a.Event == worker.EventExtended {
		e.F, e.ValidUntil = history.Valid, c.validUntil(a)
	}
	return e
}

// report reports news, unless nothing is known of the grant.
func (c *client) report(e history.Entry) {
	if e.Op.V > 0 && (e.F == history.Lost || e.ValidUntil > 0) {
		c.place.observer.Report(e)
	}
}
