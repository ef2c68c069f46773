package docker

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// ledger knows the entries of the locks in one server: which acquire made
// each, and when it ends by the server's clock. It turns what the server did
// into entries of the history.
type ledger struct {
	server   string
	names    []string // of the locks: only these keys count
	observer env.Observer
	log      func(format string, args ...any)

	mu      sync.Mutex
	entries map[string]entry
	dropped bool // something could not be told: nothing is observed in this run

	// Of a server that may have what another has had, or what it had itself a
	// while before; see succession.go.
	part   part
	makers *makers
	stray  map[string]bool // entries that it has and that no longer count
	early  []change        // what it did by itself before it is told that it is the master
}

// entry of a lock.
type entry struct {
	op    int64 // the acquire that made it
	value string
	due   time.Duration // when it ends, by the server's wall clock since 1970; never: not by itself
}

const never = time.Duration(1<<63 - 1)

// change is what the server said of a key.
type change struct{ event, key string }

// act is one command that a server executed: by a client's request, or by
// nobody's (nil).
type act struct {
	by     *request
	at     time.Duration // the server's wall clock
	words  []string
	script bool // a script's inner command
}

// drop gives up observing the server in this run: better no verdict than a
// wrong one. Nobody observes a server without a ledger.
func (l *ledger) drop(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropLocked(format, args...)
}

func (l *ledger) dropLocked(format string, args ...any) {
	if !l.dropped {
		l.dropped = true
		l.log("%s is no longer observed: "+format, append([]any{l.server}, args...)...)
	}
}

// observes tells whether everything could be told so far.
func (l *ledger) observes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.dropped
}

// apply takes what one command changed, in order.
func (l *ledger) apply(a act, changes []change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.part == follows {
		return
	}
	if len(a.words) > 0 {
		switch strings.ToUpper(a.words[0]) {
		case "FLUSHALL", "FLUSHDB", "SWAPDB":
			l.dropLocked("somebody sent %s", a.words[0])
		}
	}
	for _, c := range changes {
		if !slices.Contains(l.names, c.key) {
			continue
		}
		if a.by == nil || a.by.op <= 0 {
			l.dropLocked("%s changed %q, and no operation of a client's did it", strings.Join(a.words, " "), c.key)
			continue
		}
		l.change(a, c)
	}
}

// own takes what the server did by itself.
func (l *ledger) own(c change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.part {
	case follows:
		return
	case rises:
		l.early = append(l.early, c)
		return
	}
	l.ownLocked(c)
}

func (l *ledger) ownLocked(c change) {
	e, ok := l.entries[c.key]
	if !ok {
		return
	}
	f := history.Expire
	if c.event == "evicted" {
		f = history.Lose
	}
	delete(l.entries, c.key)
	l.tell(f, c.key, nil, e.op)
}

func (l *ledger) change(a act, c change) {
	old, had := l.entries[c.key]
	by := &a.by.op
	if l.stray[c.key] && c.event != "set" {
		return
	}
	switch c.event {
	case "del", "rename_from", "move_from":
		if had {
			delete(l.entries, c.key)
			l.tell(history.Remove, c.key, by, old.op)
		}
	case "expire", "persist":
		due, ok := dueAfter(a, old.due)
		if !ok || !had {
			l.dropLocked("it is not known until when %q lives after %s", c.key, strings.Join(a.words, " "))
			return
		}
		l.entries[c.key] = entry{op: old.op, value: old.value, due: due}
		if strings.EqualFold(a.words[0], "SET") || due == old.due {
			return // the change before this one has told it
		}
		l.tell(nearer(due, old.due), c.key, by, old.op)
	default:
		l.write(a, c, old, had)
	}
}

// write is a change of a key's value. What counts in a value is whether there
// is one, and who replaced it.
func (l *ledger) write(a act, c change, old entry, had bool) {
	by := &a.by.op
	l.makers.note(c.key, valueOf(a), a.by.op)
	delete(l.stray, c.key)
	switch {
	case !had:
		l.entries[c.key] = entry{op: a.by.op, value: valueOf(a), due: firstDue(a)}
		l.tell(history.Granted, c.key, by, a.by.op)
	case c.event != "set":
	case a.script && valueOf(a) == old.value:
		// A script that writes the value that it has found grants the same
		// entry again.
		due := firstDue(a)
		l.entries[c.key] = entry{op: old.op, value: old.value, due: due}
		l.tell(nearer(due, old.due), c.key, by, old.op)
	default:
		l.entries[c.key] = entry{op: a.by.op, value: valueOf(a), due: firstDue(a)}
		l.tell(history.Takeover, c.key, by, old.op)
		l.tell(history.Granted, c.key, by, a.by.op)
	}
}

func nearer(due, old time.Duration) string {
	if due < old {
		return history.Shorten
	}
	return history.Prolong
}

// valueOf is what a command wrote, where it is its second argument.
func valueOf(a act) string {
	if len(a.words) < 3 {
		return ""
	}
	return a.words[2]
}

// firstDue is when an entry ends that a command has just written.
func firstDue(a act) time.Duration {
	if due, ok := dueAfter(a, never); ok {
		return due
	}
	return never
}

// dueAfter is when a key ends that ended at old, after a command that changed
// that. Not ok: the command is not known.
func dueAfter(a act, old time.Duration) (due time.Duration, ok bool) {
	in := func(at int, unit time.Duration, from time.Duration) (time.Duration, bool) {
		if at >= len(a.words) {
			return 0, false
		}
		n, err := strconv.ParseInt(a.words[at], 10, 64)
		return from + time.Duration(n)*unit, err == nil
	}
	if len(a.words) == 0 {
		return 0, false
	}
	switch strings.ToUpper(a.words[0]) {
	case "EXPIRE":
		return in(2, time.Second, a.at)
	case "PEXPIRE":
		return in(2, time.Millisecond, a.at)
	case "EXPIREAT":
		return in(2, time.Second, 0)
	case "PEXPIREAT":
		return in(2, time.Millisecond, 0)
	case "SETEX":
		return in(2, time.Second, a.at)
	case "PSETEX":
		return in(2, time.Millisecond, a.at)
	case "PERSIST":
		return never, true
	case "SET", "GETEX":
		for i, w := range a.words[1:] {
			switch strings.ToUpper(w) {
			case "EX":
				return in(i+2, time.Second, a.at)
			case "PX":
				return in(i+2, time.Millisecond, a.at)
			case "EXAT":
				return in(i+2, time.Second, 0)
			case "PXAT":
				return in(i+2, time.Millisecond, 0)
			case "KEEPTTL":
				return old, true
			case "PERSIST":
				return never, true
			}
		}
	}
	return 0, false
}

// lose takes all entries away: the server lost its data.
func (l *ledger) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range l.names {
		if e, ok := l.entries[key]; ok {
			delete(l.entries, key)
			l.tell(history.Lose, key, nil, e.op)
		}
	}
}

// compare sets the ledger right after a restart: there tells whether the
// server has the key, at the time that it says.
func (l *ledger) compare(key string, there bool, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[key]
	switch {
	case there && !ok && l.part == deposed:
		l.stray[key] = true
	case there && !ok:
		l.dropLocked("after a restart it has %q, and it is not known whose that is", key)
	case !there && ok && e.due <= at:
		delete(l.entries, key)
		l.tell(history.Expire, key, nil, e.op)
	case !there && ok:
		delete(l.entries, key)
		l.tell(history.Lose, key, nil, e.op)
	}
}

// tell hands an entry to the observer. It is called with the ledger locked, so
// that entries keep their order.
func (l *ledger) tell(f, key string, by *int64, op int64) {
	e := history.Entry{
		Process: history.Process{Name: l.server},
		Type:    history.Event,
		F:       f,
		Lock:    key,
		Key:     key,
		Op:      history.Some(op),
	}
	if by != nil {
		e.By = history.Some(*by)
	}
	l.observer.Server(e)
}
