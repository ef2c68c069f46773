package docker

import (
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// rows knows the entries of the locks in a MySQL server, which are rows that are
// called as the locks: which acquire made each, and what became of it. Links tell
// it of every command before that leaves, and the audit of every change.
type rows struct {
	names    []string // of the locks
	observer env.Observer
	log      func(format string, args ...any)

	mu       sync.Mutex
	server   string            // the primary's name
	reign    int               // how many have been the primary before, and how often it came back
	asked    int64             // how often somebody has asked for all that is done to be told
	answered int64             // up to which of these it is
	nudge    chan struct{}     // holds a word when some are not
	changed  chan struct{}     // closed and replaced when something below has changed, or answered
	sent     map[int64]sent    // by connection of this reign: the command that it has carried last
	grants   map[string]int    // the acquire that has the grant that a lock's row stands for; 0: nobody's
	makers   map[mysql.Row]int // the same, of rows as they were once: one may be so again
	dropped  bool              // something could not be told, or nothing can: nothing is observed in this run
}

// sent is a command: the operation that it belongs to, and what it means to the grant
// that its row stands for.
type sent struct {
	op    int
	means mysql.Meaning
}

func newRows(names []string, server string, o env.Observer, log func(string, ...any)) *rows {
	return &rows{
		names: names, server: server, observer: o, log: log,
		nudge: make(chan struct{}, 1), changed: make(chan struct{}),
		sent: map[int64]sent{}, grants: map[string]int{}, makers: map[mysql.Row]int{},
	}
}

// drop gives up observing the server in this run: better no verdict than a
// wrong one.
func (r *rows) drop(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropLocked(format, args...)
}

func (r *rows) dropLocked(format string, args ...any) {
	if !r.dropped {
		r.dropped = true
		r.log("the rows of "+r.server+" are no longer observed: "+format, args...)
	}
	r.signal()
}

// blind says that entries are no rows, so that there is nothing to observe.
func (r *rows) blind() { r.dropped = true }

// observes tells whether everything could be told so far.
func (r *rows) observes() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.dropped
}

func (r *rows) signal() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// now is the reign of the primary that there is: connections have numbers that mean
// something in theirs alone.
func (r *rows) now() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reign
}

// sends notes a command that is about to leave on a connection of a reign. When that
// is over nobody is told what it does. One that changes nothing may end a transaction
// in which an earlier one did.
func (r *rows) sends(reign int, session, op int64, means mysql.Meaning, changes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !changes {
		means = r.sent[session].means
	}
	if reign == r.reign {
		r.sent[session] = sent{int(op), means}
	}
}

// ask has what was done until now be told; await waits for that.
func (r *rows) ask() (asked int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	select {
	case r.nudge <- struct{}{}:
	default:
	}
	return r.asked
}

// await returns when what was done in a reign before that ask is told, or nothing is
// observed any more, or stop is closed. While the server is down or stands still it
// is not told, and who waits has no answer, either. false: the reign is over, and
// it may never be told.
func (r *rows) await(stop <-chan struct{}, reign int, asked int64) bool {
	for {
		r.mu.Lock()
		over, done, changed := reign != r.reign, r.dropped || r.answered >= asked, r.changed
		r.mu.Unlock()
		if over || done {
			return !over
		}
		select {
		case <-changed:
		case <-stop:
			return true
		}
	}
}

// take has read brings what was done, and tells it.
func (r *rows) take(read func() ([]auditLine, error)) error {
	r.mu.Lock()
	asked := r.asked
	r.mu.Unlock()
	lines, err := read()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range lines {
		r.change(l)
	}
	if r.answered != asked {
		r.answered = asked
		r.signal()
	}
	return nil
}

// change tells what a change did to the grant that the row stands for.
func (r *rows) change(l auditLine) {
	row := l.after
	if row == nil {
		row = l.before
	}
	lock := row.Resource
	if !slices.Contains(r.names, lock) || r.dropped {
		return
	}
	by, means := r.sent[l.session].op, r.sent[l.session].means
	if by <= 0 {
		r.dropLocked("%q was changed on connection %d, which belongs to no operation of a client's", lock, l.session)
		return
	}
	if means == mysql.Undeclared {
		r.dropLocked("the lock does not declare what a statement means that changed %q", lock)
		return
	}
	was := r.grants[lock]
	kind, now := means.Entries(l.before, l.after, was, by)
	r.grants[lock] = now
	if l.after != nil {
		r.makers[*l.after] = now
	}
	switch kind {
	case mysql.Created:
		r.tell(history.Granted, lock, now, by)
	case mysql.TakenOver:
		r.tell(history.Takeover, lock, was, by)
		r.tell(history.Granted, lock, now, by)
	case mysql.Removed:
		r.tell(history.Remove, lock, was, by)
	case mysql.Shortened:
		r.tell(history.Shorten, lock, was, by)
	case mysql.Prolonged:
		r.tell(history.Prolong, lock, was, by)
	}
}

// become begins the reign of the server called name: its rows count, which are these
// where they are observed. What it lacks is lost, and what was removed may be there
// again.
func (r *rows) become(name string, found map[string]mysql.Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.signal()
	if name != r.server {
		r.observer.Server(history.Entry{
			Process: history.Process{Name: name}, Type: history.Event, F: history.Promote, Text: r.server,
		})
	}
	r.server = name
	r.reign++
	clear(r.sent)
	for _, lock := range r.names {
		if r.dropped {
			return
		}
		was, now := r.grants[lock], 0
		if row, there := found[lock]; there {
			if now, there = r.makers[row]; !there {
				r.dropLocked("it has %q, and it is not known whose that is", lock)
				return
			}
		}
		r.grants[lock] = now
		if was != now && was != 0 {
			r.tell(history.Lose, lock, was, 0)
		}
		if was != now && now != 0 {
			r.tell(history.Granted, lock, now, 0)
		}
	}
}

// tell hands an entry to the observer. by is 0 where no operation did it. It is
// called with the mutex, so that entries keep their order.
//
// No Lose says history.SessionOver: only named locks, and rows that a transaction has
// locked or not committed, end with a session. Triggers see no named lock, and the
// audit shows committed changes alone. A Lose here is a row that a new primary lacks.
func (r *rows) tell(f, lock string, op, by int) {
	if r.dropped {
		return
	}
	e := history.Entry{
		Process: history.Process{Name: r.server}, Type: history.Event, F: f,
		Lock: lock, Key: lock, Op: history.Some(int64(op)),
	}
	if by != 0 {
		e.By = history.Some(int64(by))
	}
	r.observer.Server(e)
}

// lookEvery is how long what was done may go untold that nobody waits for, and what
// was done to a server unheeded.
const lookEvery = 10 * time.Millisecond
