package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// recorder records the requests of clients, and the answers.
type recorder struct {
	now func() time.Duration

	mu        sync.Mutex
	history   history.History
	processes int // process numbers used so far
}

// caller is one client. Only one task uses it.
type caller struct {
	client
	recorder *recorder
	name     string
	process  int
	err      error // the last error other than a refusal
}

func (r *recorder) caller(name string, end client) *caller {
	c := &caller{client: end, recorder: r, name: name}
	c.again()
	return c
}

// again gives the client a new process number.
func (c *caller) again() {
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	c.recorder.processes++
	c.process = c.recorder.processes
}

// add records an entry of the client, and returns its index.
func (c *caller) add(e history.Entry) int {
	r := c.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Index, e.Time = len(r.history.Entries)+1, r.now()
	e.Client, e.Process.N = c.name, c.process
	r.history.Add(e)
	return e.Index
}

// acquire asks once. The index of its operation becomes the number of the grant. ok is
// false if there was no grant, or if the outcome is uncertain.
func (c *caller) acquire(name string, timeout time.Duration) (op env.Op, ok bool) {
	e := history.Entry{Type: history.Invoke, F: history.Acquire, Lock: name}
	op = env.Op{Index: c.add(e), Lock: name}
	_, err := c.Acquire(op, timeout)
	op.Acquire, op.Grant = op.Index, op.Index
	if err == nil {
		e.Grant = op.Grant
	}
	return op, c.complete(e, err)
}

// release releases the grant of the acquire op.
func (c *caller) release(op env.Op) {
	e := history.Entry{Type: history.Invoke, F: history.Release, Lock: op.Lock, Grant: op.Grant}
	op.Index = c.add(e)
	c.complete(e, c.Release(op))
}

// complete records the completion of an operation.
func (c *caller) complete(e history.Entry, err error) (ok bool) {
	switch {
	case err == nil:
		e.Type = history.OK
	case waitEnded(err):
		e.Type, e.Error = history.Fail, history.ErrHeld
	default:
		e.Type, e.Text, c.err = history.Info, err.Error(), err
		if locks.IsDefinite(err) {
			e.Type = history.Fail
		}
	}
	c.add(e)
	if e.Type == history.Info {
		c.again()
	}
	return err == nil
}

// waitEnded reports whether an acquire ended because its timeout was over.
func waitEnded(err error) bool {
	return errors.Is(err, locks.ErrNotAcquired) || locks.IsDefinite(err) && errors.Is(err, context.DeadlineExceeded)
}
