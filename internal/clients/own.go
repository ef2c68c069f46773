package clients

import (
	"sync"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// ownEntries finds out whether the entries of a user's lock have the lock's name. If not,
// nothing of what the servers do is known to concern the lock. It is an observer before
// the run's.
type ownEntries struct {
	env.Observer
	unnamed atomic.Bool // a grant has no entry with the lock's name

	mu      sync.Mutex
	granted map[int64]bool // acquires for which a server has made an entry
}

// Server notes a grant.
func (o *ownEntries) Server(e history.Entry) {
	if e.F == history.Granted {
		o.mu.Lock()
		o.granted[e.Op.V] = true
		o.mu.Unlock()
	}
	o.Observer.Server(e)
}

// acquired takes an acquire's ok, which comes after the servers' reports about it. A
// nested grant may stand on the entry of the outer one.
func (o *ownEntries) acquired(op env.Op) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op.Grant == 0 && !o.granted[int64(op.Index)] {
		o.unnamed.Store(true)
	}
}
