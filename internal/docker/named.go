package docker

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// namedLock is a lock of GET_LOCK, which belongs to a connection: only a statement on the
// connection, or its end, frees it.
type namedLock struct {
	lock    string // the lock that it is an entry of
	session int64  // the connection that holds it; 0: none
	op      int    // the acquire of its grant
}

// declareNamed begins to observe named locks: the lock by name.
func (r *rows) declareNamed(locks map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.named = map[string]*namedLock{}
	for name, lock := range locks {
		r.named[name] = &namedLock{lock: lock}
	}
	r.dropped = false
}

// answer records that a connection got an answer, in these packets. It is passed on to the
// client when the next report is complete.
func (r *rows) answer(reign int, session int64, packets []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reign != r.reign {
		return
	}
	c := r.sent[session]
	c.answered = true
	switch value := valueIn(packets); {
	case value == "1":
		c.taken = true
	case value != "":
		c.takes = ""
	}
	r.sent[session] = c
}

// valueIn returns the value of the only column in an answer with one row: "0", "1" or
// "NULL"; "" for any other answer.
func valueIn(packets []byte) (value string) {
	for body := range clients.Packets(packets) {
		switch strings.TrimRight(string(body), "\x00") {
		case "\x010":
			value = "0"
		case "\x011", "\x00\x00\x01": // as text, and in the answer to a prepared statement
			value = "1"
		case "\xfb", "\x00\x04":
			value = "NULL"
		case "":
			value = "0"
		}
	}
	return value
}

// takeNamed reads who holds the named locks, and reports what has changed.
func (r *rows) takeNamed(ctx context.Context, db *sql.DB) error {
	return r.catchUp(func() (func(), error) {
		names, answered, last := r.beforeNamed()
		holders, err := holdersOf(ctx, db, names)
		ended := map[int64]bool{}
		for _, session := range append(last, answered...) {
			if err == nil && !slices.Contains(slices.Collect(maps.Values(holders)), session) {
				ended[session], err = hasEnded(ctx, db, session)
			}
		}
		return func() { r.hold(holders, answered, ended) }, err
	})
}

// beforeNamed returns the named locks, the connections with an answer whose effect is not
// reported, and the last known holders.
func (r *rows) beforeNamed() (names []string, answered, last []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for session, c := range r.sent {
		if c.answered && !c.over {
			answered = append(answered, session)
		}
	}
	for name, n := range r.named {
		if names = append(names, name); n.session != 0 {
			last = append(last, n.session)
		}
	}
	return names, answered, last
}

// hold reports the changes of the named locks' holders, which were read after these
// answers. ended are connections that have ended since: if the answer says so, they had a
// lock for a moment. The caller holds mu.
func (r *rows) hold(holders map[string]int64, answered []int64, ended map[int64]bool) {
	known := map[int64]bool{} // connections whose last command has no other effect
	for _, name := range slices.Sorted(maps.Keys(r.named)) {
		n, session := r.named[name], holders[name]
		was, now := r.sent[n.session], r.sent[session]
		known[n.session], known[session] = true, true
		switch {
		case session == n.session && session != 0:
			if slices.Contains(answered, session) && now.op != n.op && strings.Contains(now.takes, name) {
				r.reportNamed(history.Prolong, name, "", now.op) // the server counts how often it is taken
			}
			continue
		case n.session != 0 && (was.over || ended[n.session]):
			r.loseNamed(name)
		case n.session != 0:
			r.reportNamed(history.Remove, name, "", was.op)
		}
		for _, gone := range answered {
			if c := r.sent[gone]; ended[gone] && !known[gone] && c.taken && strings.Contains(c.takes, name) {
				known[gone] = true
				r.grantNamed(name, gone)
				r.loseNamed(name)
			}
		}
		if n.session = session; session != 0 {
			r.grantNamed(name, session)
		}
	}
	for _, session := range answered {
		c := r.sent[session]
		if ended[session] && c.takes != "" && !known[session] {
			r.dropLocked("connection %d ended when it may have had a lock", session)
		}
		c.over = true
		r.sent[session] = c
	}
}

// grantNamed reports that a connection has a named lock. The caller holds mu.
func (r *rows) grantNamed(name string, session int64) {
	n := r.named[name]
	if n.op = r.sent[session].op; n.op <= 0 {
		r.dropLocked("%q is held on connection %d, which belongs to no operation of a client", name, session)
	}
	r.reportNamed(history.Granted, name, "", n.op)
}

// loseNamed reports that a named lock has ended with its connection. The caller holds mu.
func (r *rows) loseNamed(name string) { r.reportNamed(history.Lose, name, history.SessionOver, 0) }

// reportNamed reports an event of the grant of a named lock. The caller holds mu.
func (r *rows) reportNamed(f, name, text string, by int) {
	if n := r.named[name]; !r.dropped {
		r.event(r.server, f, n.lock, name, int64(n.op), int64(by), text)
	}
}

// holdersOf returns the connections that hold these named locks.
func holdersOf(ctx context.Context, db *sql.DB, names []string) (map[string]int64, error) {
	query, holders := strings.Repeat(", IS_USED_LOCK(?)", len(names))[1:], make([]sql.NullInt64, len(names))
	var args, into []any
	for i, name := range names {
		args, into = append(args, name), append(into, &holders[i])
	}
	err := db.QueryRowContext(ctx, "SELECT "+query, args...).Scan(into...)
	now := map[string]int64{}
	for i, name := range names {
		now[name] = holders[i].Int64
	}
	return now, err
}

// hasEnded reports whether a connection has ended, or is about to.
func hasEnded(ctx context.Context, db *sql.DB, session int64) (ended bool, err error) {
	const lives = "SELECT COUNT(*) = 0 FROM information_schema.PROCESSLIST WHERE ID = ? AND COMMAND <> 'Killed'"
	err = db.QueryRowContext(ctx, lives, session).Scan(&ended)
	return ended, err
}

// reader reads the commands of a connection.
type reader struct {
	prepared bool // one that takes a named lock was prepared
}

// command returns what a command does, which has an effect or only prepares one.
func (r *reader) command(op int64, command []byte, effect bool) sentCommand {
	c := sentCommand{op: int(op), means: mysql.MeaningIn(command), takes: takesLock(command)}
	switch {
	case !effect:
		r.prepared = r.prepared || c.takes != ""
	case r.prepared && clients.Executes(command):
		c.takes = string(command)
	}
	return c
}

// takesLock returns the command if it may take a named lock; else "".
func takesLock(command []byte) string {
	if bytes.Contains(bytes.ToUpper(command), []byte("GET_LOCK")) {
		return string(command)
	}
	return ""
}
