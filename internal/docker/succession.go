package docker

import (
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// part is what a server is to its node.
type part uint8

const (
	leads   part = iota // the master, or a server without replicas
	deposed             // a replica has taken its place, and it does not know it yet
	follows             // a replica: what it does its master has told
	rises               // a master, before it is told what that means for the entries
)

// makers know which operation wrote a value, on whichever server of a node: a
// replica that becomes the master may have what another had removed, and so may
// a server that has lost power. nil: nobody need know.
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

func (m *makers) of(key, value string) (op int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	op, ok = m.ops[[2]string{key, value}]
	return op, ok
}

// is tells whether the server has that part.
func (l *ledger) is(p part) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.part == p
}

// rise notes that the server is a master now: what it does by itself counts,
// and is told after adopt.
func (l *ledger) rise() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part, l.early = rises, nil
}

// depose takes from the server of l what it has: that counts where another
// server has it, which takes its place. What it does from now on is its own.
func (l *ledger) depose() map[string]entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.part == follows {
		return nil
	}
	had := l.entries
	l.entries, l.part = map[string]entry{}, deposed
	for key := range had {
		l.stray[key] = true
	}
	return had
}

// comeBack makes l the ledger of a master that has come back, and has found of
// what it had: see adopt.
func (l *ledger) comeBack(found map[string]entry, at time.Duration) {
	l.mu.Lock()
	had := l.entries
	l.entries = map[string]entry{}
	l.mu.Unlock()
	l.adopt(had, found, at)
}

// adopt makes l the ledger of a server that has taken the place of a master
// that had these entries. found are those that it has itself, at the time that
// it says: what it lacks is lost, and what was removed may be there again.
func (l *ledger) adopt(had, found map[string]entry, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = leads
	for _, key := range l.names {
		old, ok := had[key]
		now, there := found[key]
		if ok && (!there || now.value != old.value) {
			f := history.Lose
			if old.due <= at {
				f = history.Expire
			}
			l.tell(f, key, nil, old.op)
		}
		if !there {
			continue
		}
		switch op, known := l.makers.of(key, now.value); {
		case ok && now.value == old.value:
			now.op = old.op
		case known:
			now.op = op
			l.tell(history.Granted, key, nil, op)
		default:
			l.dropLocked("it has %q, and it is not known whose that is", key)
			continue
		}
		l.entries[key] = now
	}
	for _, c := range l.early {
		l.ownLocked(c)
	}
	l.early = nil
}

// follow makes l the ledger of a replica: what its server still had of its own
// is lost.
func (l *ledger) follow() {
	l.lose()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = follows
	clear(l.stray)
}
