package docker

import (
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// role is the role of a server in its node.
type role uint8

const (
	roleMaster  role = iota // the master, or a server without replicas
	roleDeposed             // a replica has taken its place, and it does not know that yet
	roleReplica             // a replica: its master has already reported its changes
	roleRising              // a master whose entries are not compared yet
)

// makers know which operation wrote a value on any server of a node: a replica that
// becomes the master may have entries that another server has removed, and so may a
// server that has lost power. nil: not needed.
type makers struct {
	mu  sync.Mutex
	ops map[[2]string]int64 // by key and value
}

func (m *makers) note(key, value string, op int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ops[[2]string{key, value}] = op
}

func (m *makers) find(key, value string) (op int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	op, ok = m.ops[[2]string{key, value}]
	return op, ok
}

// hasRole reports whether the server has that role.
func (l *ledger) hasRole(p role) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.role == p
}

// rise records that the server is a master now: its own expiries and evictions count,
// and are reported after adopt.
func (l *ledger) rise() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.role, l.early = roleRising, nil
}

// depose removes and returns the entries of l: they count if the server that takes its
// place has them. Entries that it writes from now on are its own.
func (l *ledger) depose() map[string]entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.role == roleReplica {
		return nil
	}
	had := l.entries
	l.entries, l.role = map[string]entry{}, roleDeposed
	for key := range had {
		l.stray[key] = true
	}
	return had
}

// comeBack makes l the ledger of a master that has restarted and has these entries: see
// adopt.
func (l *ledger) comeBack(found map[string]entry, at time.Duration) {
	l.mu.Lock()
	had := l.entries
	l.entries = map[string]entry{}
	l.mu.Unlock()
	l.adopt(had, found, at)
}

// adopt makes l the ledger of a server that replaces a master with the entries had.
// found are its own entries, at the time at: those that it lacks are lost, and removed
// ones may be there again.
func (l *ledger) adopt(had, found map[string]entry, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.role = roleMaster
	for _, key := range l.names {
		old, ok := had[key]
		now, there := found[key]
		if ok && (!there || now.value != old.value) {
			f := history.Lose
			if old.due <= at {
				f = history.Expire
			}
			l.report(f, key, nil, old.op)
		}
		if !there {
			continue
		}
		switch op, known := l.makers.find(key, now.value); {
		case ok && now.value == old.value:
			now.op = old.op
		case known:
			now.op = op
			l.report(history.Granted, key, nil, op)
		default:
			l.dropLocked("it has %q, with an unknown owner", key)
			continue
		}
		l.entries[key] = now
	}
	for _, c := range l.early {
		l.applyOwnLocked(c)
	}
	l.early = nil
}

// follow makes l the ledger of a replica: its own entries are lost.
func (l *ledger) follow() {
	l.lose()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.role = roleReplica
	clear(l.stray)
}
