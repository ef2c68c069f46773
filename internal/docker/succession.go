package docker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

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
	for _, key := range l.keys.all() {
		old, ok := had[key]
		now, there := found[key]
		if ok && (!there || now.value != old.value) {
			f := history.Lose
			if old.due <= at {
				f = history.Expire
			}
			l.report(f, key, old.op, 0)
		}
		if !there {
			continue
		}
		switch op, known := l.makers.find(key, now.value); {
		case ok && now.value == old.value:
			now.op = old.op
		case known:
			now.op = op
			l.report(history.Granted, key, op, 0)
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
