package docker

import (
	"maps"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// rows knows the entries of the locks in a MySQL server, which are the rows with the
// locks' names: the acquire that made each, and its fate. Links report every command
// before it is sent, and the audit every change.
type rows struct {
	view
	server   string                // the primary's name
	of       audited               // their table
	reign    int                   // number of earlier primaries and restarts
	asked    int64                 // number of requests to report everything that is done
	answered int64                 // the last of these that was answered
	nudge    chan struct{}         // holds an element if some are not
	sent     map[int64]sentCommand // by connection of this reign: its last command
	grants   map[string]int        // the acquire whose grant a lock's row belongs to; 0: none
	makers   map[mysql.Row]int     // the same, for earlier rows: they may come back
	named    map[string]*namedLock // instead of rows; nil: none
}

// sentCommand is a command: its operation, and its meaning for the grant of its row.
type sentCommand struct {
	op       int
	means    mysql.Meaning
	takes    string // the command, if it may take a named lock
	taken    bool   // the server says that it has
	answered bool   // the server has executed it
	over     bool   // and its effect on named locks is reported
}

func newRows(names []string, server string, o env.Observer, log func(string, ...any)) *rows {
	return &rows{
		view:   view{names: names, observer: o, log: log, subject: rowsOf(server), changed: make(chan struct{})},
		server: server, nudge: make(chan struct{}, 1),
		sent: map[int64]sentCommand{}, grants: map[string]int{}, makers: map[mysql.Row]int{},
	}
}

// rowsOf returns the subject of messages about the rows of a server.
func rowsOf(server string) string { return "the rows of " + server + " are" }

// now returns the present reign. The numbers of connections are valid in one reign
// only.
func (r *rows) now() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reign
}

// addCommand records a command that is about to be sent on a connection of a reign. It
// ignores commands of earlier reigns, whose changes are never reported. A command that
// changes nothing may end a transaction in which an earlier one did.
func (r *rows) addCommand(reign int, session int64, c sentCommand, changes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !changes {
		c.means = r.sent[session].means
	}
	if reign == r.reign {
		r.sent[session] = c
	}
}

// ask requests a report of everything done so far; await waits for it.
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

// await returns when everything done in a reign before that ask is reported, or nothing
// is observed any more, or stop is closed. While the server is down or paused there is
// no report, and no answer for the client, either. It returns false if the reign is
// over and the report may never come.
func (r *rows) await(stop <-chan struct{}, reign int, asked int64) bool {
	over := false
	r.view.await(stop, nil, func() bool {
		over = reign != r.reign
		return over || r.answered >= asked
	})
	return !over
}

// take reads changes, and reports them.
func (r *rows) take(read func() ([]auditLine, error)) error {
	return r.catchUp(func() (func(), error) {
		lines, err := read()
		return func() {
			for _, l := range lines {
				r.change(l)
			}
		}, err
	})
}

// catchUp reads what was done, and reports it with mu held.
func (r *rows) catchUp(read func() (report func(), err error)) error {
	r.mu.Lock()
	asked := r.asked
	r.mu.Unlock()
	report, err := read()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	report()
	if r.answered != asked {
		r.answered = asked
		r.signal()
	}
	return nil
}

// change reports the effect of a change on the grant of its row.
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
	if r.of.table != "" {
		means = meaningOf(l.before, l.after)
	}
	if unknown(int64(by)) {
		r.dropLocked("%q was changed on connection %d, which belongs to no operation of a client", lock, l.session)
		return
	}
	if means == mysql.Undeclared {
		r.dropLocked("the lock declares no meaning for a statement that changed %q", lock)
		return
	}
	was := r.grants[lock]
	kind, now := means.Entries(l.before, l.after, was, by)
	r.grants[lock] = now
	if l.after != nil {
		r.makers[*l.after] = now
	}
	switch kind {
	case mysql.Created, mysql.TakenOver:
		if kind == mysql.TakenOver {
			r.report(history.Takeover, lock, was, by)
		}
		if by != operator {
			r.report(history.Granted, lock, now, by)
		}
	case mysql.Removed:
		r.report(history.Remove, lock, was, by)
	case mysql.Shortened:
		r.report(history.Shorten, lock, was, by)
	case mysql.Prolonged:
		r.report(history.Prolong, lock, was, by)
	}
}

// isOwned reports whether a row has an owner.
func isOwned(row *mysql.Row) bool { return row != nil && row.Owner.S != "" }

// meaningOf returns what a change of a worker's row means for the grant of its lock: the
// owner has the lock.
func meaningOf(before, after *mysql.Row) mysql.Meaning {
	switch {
	case !isOwned(after):
		return mysql.Frees
	case !isOwned(before) || before.Owner != after.Owner:
		return mysql.Grants
	}
	return mysql.Keeps
}

// builtIn reports whether the rows of the built-in locks' table are observed.
func (r *rows) builtIn() bool { return r.observes() && r.of.table == "" && r.named == nil }

// declare begins to observe the rows of a worker's table.
func (r *rows) declare(of audited) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of, r.dropped = of, false
}

// become begins the reign of the server called name, with these rows if they are
// observed. Missing grants are lost, and removed ones may be there again.
func (r *rows) become(name string, found map[string]mysql.Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.signal()
	if name != r.server {
		r.observer.Server(promotion(name, r.server))
	}
	r.server, r.subject = name, rowsOf(name)
	r.reign++
	clear(r.sent)
	for _, name := range slices.Sorted(maps.Keys(r.named)) {
		if n := r.named[name]; n.session != 0 {
			r.loseNamed(name)
			n.session = 0
		}
	}
	for _, lock := range r.names {
		if r.dropped {
			return
		}
		was, now := r.grants[lock], 0
		if row, there := found[lock]; there {
			if now, there = r.makers[row]; !there {
				r.dropLocked("it has %q, with an unknown owner", lock)
				return
			}
		}
		r.grants[lock] = now
		if was != now && was != 0 {
			r.report(history.Lose, lock, was, 0)
		}
		if was != now && now != 0 {
			r.report(history.Granted, lock, now, 0)
		}
	}
}

// report passes an event of the primary to the observer.
//
// A Lose never has history.SessionOver: of rows only those that a transaction has locked
// or not committed end with a session, and the audit shows committed changes only. A Lose
// here is a row that a new primary lacks.
func (r *rows) report(f, lock string, op, by int) {
	if !r.dropped {
		r.event(r.server, f, lock, lock, int64(op), int64(by), "")
	}
}

// lookEvery is how often changes and the state of servers are checked without a
// request.
const lookEvery = 10 * time.Millisecond
