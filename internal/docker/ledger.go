package docker

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/clients"
)

// ledger knows the entries of the locks in one server: the acquire that made each, and
// its end by the server's clock. It turns the server's reports into entries of the
// history.
type ledger struct {
	view
	server  string
	keys    *entryKeys
	entries map[string]entry

	// For a server that may get the data of another one, or its own older data; see
	// succession.go.
	role   role
	makers *makers
	stray  map[string]bool // entries that it has and that no longer count
	early  []change        // its own expiries and evictions before it is known to be the master
}

// entry is an entry of a lock.
type entry struct {
	op    int64 // the acquire that made it
	value string
	due   time.Duration // its end by the server's wall clock, since 1970; never: no end
}

const never = time.Duration(1<<63 - 1)

// change is a server's report about a key.
type change struct{ event, key string }

// act is one command that a server executed, by a client's request, or by an unknown
// one (nil).
type act struct {
	by     *request
	at     time.Duration // the server's wall clock
	words  []string
	script bool // an inner command of a script
}

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
// server that has lost power.
type makers struct {
	mu  sync.Mutex
	ops map[[2]string]int64 // by key and value
}

func (m *makers) note(key, value string, op int64) {
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

// apply applies the changes of one command, in order.
func (l *ledger) apply(a act, changes []change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.role == roleReplica {
		return
	}
	if len(a.words) > 0 && clients.IsOneOf(a.words[0], "FLUSHALL", "FLUSHDB", "SWAPDB") {
		l.dropLocked("%s was sent", a.words[0])
	}
	for _, c := range changes {
		if l.keys.lockOf(c.key) == "" {
			continue
		}
		if a.by == nil || unknown(a.by.op) {
			l.dropLocked("%s changed %q outside any operation of a client", strings.Join(a.words, " "), c.key)
			continue
		}
		l.change(a, c)
	}
}

// applyOwn applies a change that the server made by itself.
func (l *ledger) applyOwn(c change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.role {
	case roleReplica:
		return
	case roleRising:
		l.early = append(l.early, c)
		return
	}
	l.applyOwnLocked(c)
}

func (l *ledger) applyOwnLocked(c change) {
	e, ok := l.entries[c.key]
	if !ok {
		return
	}
	f := history.Expire
	if c.event == "evicted" {
		f = history.Lose
	}
	delete(l.entries, c.key)
	l.report(f, c.key, e.op, 0)
}

func (l *ledger) change(a act, c change) {
	old, had := l.entries[c.key]
	by := a.by.op
	if l.stray[c.key] && c.event != "set" {
		return
	}
	switch c.event {
	case "del", "rename_from", "move_from":
		if had {
			delete(l.entries, c.key)
			l.report(history.Remove, c.key, old.op, by)
		}
	case "expire", "persist":
		due, ok := dueAfter(a, old.due)
		if !ok || !had {
			l.dropLocked("the expiry of %q after %s is unknown", c.key, strings.Join(a.words, " "))
			return
		}
		l.entries[c.key] = entry{op: old.op, value: old.value, due: due}
		if strings.EqualFold(a.words[0], "SET") || due == old.due {
			return // the change before this one has reported it
		}
		l.report(expiryEvent(due, old.due), c.key, old.op, by)
	default:
		l.write(a, c, old, had)
	}
}

// write applies a change of a key's value. Relevant is whether there is a value, and
// who replaced it.
func (l *ledger) write(a act, c change, old entry, had bool) {
	by := a.by.op
	l.makers.note(c.key, valueOf(a), a.by.op)
	delete(l.stray, c.key)
	switch {
	case by == operator: // the entry is nobody's from now on
		if had {
			l.entries[c.key] = entry{op: by, value: valueOf(a), due: old.due}
			l.report(history.Takeover, c.key, old.op, by)
		}
	case !had:
		l.entries[c.key] = entry{op: a.by.op, value: valueOf(a), due: firstDue(a)}
		l.report(history.Granted, c.key, a.by.op, by)
	case c.event != "set":
	case a.script && valueOf(a) == old.value:
		// A script that writes the value that it has found grants the same entry again.
		due := firstDue(a)
		l.entries[c.key] = entry{op: old.op, value: old.value, due: due}
		l.report(expiryEvent(due, old.due), c.key, old.op, by)
	default:
		l.entries[c.key] = entry{op: a.by.op, value: valueOf(a), due: firstDue(a)}
		l.report(history.Takeover, c.key, old.op, by)
		l.report(history.Granted, c.key, a.by.op, by)
	}
}

func expiryEvent(due, old time.Duration) string {
	if due < old {
		return history.Shorten
	}
	return history.Prolong
}

// valueOf returns the value that a command wrote, if it is the second argument.
func valueOf(a act) string {
	if len(a.words) < 3 {
		return ""
	}
	return a.words[2]
}

// firstDue returns the end of an entry that a command has just written.
func firstDue(a act) time.Duration {
	if due, ok := dueAfter(a, never); ok {
		return due
	}
	return never
}

// dueAfter returns the end of a key after a command that changed it from old. ok is
// false for an unknown command.
func dueAfter(a act, old time.Duration) (due time.Duration, ok bool) {
	if len(a.words) == 0 {
		return 0, false
	}
	word, at := strings.ToUpper(a.words[0]), 2
	unit, known := expiryCommands[word]
	if word == "SET" || word == "GETEX" {
		for i := 1; i < len(a.words) && !known; i++ {
			word, at = strings.ToUpper(a.words[i]), i+1
			unit, known = expiryOptions[word]
		}
	}
	switch {
	case !known:
		return 0, false
	case word == "PERSIST":
		return never, true
	case word == "KEEPTTL":
		return old, true
	case at >= len(a.words):
		return 0, false
	}
	n, err := strconv.ParseInt(a.words[at], 10, 64)
	if !strings.HasSuffix(word, "AT") { // the others are times since 1970
		due = a.at
	}
	return due + time.Duration(n)*unit, err == nil
}

// The commands that set a key's expiry, and the options of SET and GETEX that do, with
// the unit of the number after the key, or after the option.
var (
	expiryCommands = map[string]time.Duration{
		"EXPIRE": time.Second, "PEXPIRE": time.Millisecond, "EXPIREAT": time.Second, "PEXPIREAT": time.Millisecond,
		"SETEX": time.Second, "PSETEX": time.Millisecond, "PERSIST": 0,
	}
	expiryOptions = map[string]time.Duration{
		"EX": time.Second, "PX": time.Millisecond, "EXAT": time.Second, "PXAT": time.Millisecond, "KEEPTTL": 0, "PERSIST": 0,
	}
)

// lose removes all entries: the server lost its data.
func (l *ledger) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range l.keys.all() {
		if e, ok := l.entries[key]; ok {
			delete(l.entries, key)
			l.report(history.Lose, key, e.op, 0)
		}
	}
}

// compare corrects the ledger after a restart: there is whether the server has the key,
// at is its wall clock.
func (l *ledger) compare(key string, there bool, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[key]
	switch {
	case there && !ok && l.role == roleDeposed:
		l.stray[key] = true
	case there && !ok:
		l.dropLocked("after a restart it has %q, with an unknown owner", key)
	case !there && ok && e.due <= at:
		delete(l.entries, key)
		l.report(history.Expire, key, e.op, 0)
	case !there && ok:
		delete(l.entries, key)
		l.report(history.Lose, key, e.op, 0)
	}
}

// report passes an event of the server to the observer.
func (l *ledger) report(f, key string, op, by int64) {
	l.event(l.server, f, l.keys.lockOf(key), key, op, by, "")
}
