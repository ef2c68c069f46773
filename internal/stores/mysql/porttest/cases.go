package porttest

import (
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// testCase is a sequence of statements of three sessions on an empty table, with
// the answers of MariaDB 10.11.
type testCase struct {
	name  string
	at    levels
	steps []step
}

// levels are the isolation levels of a case.
type levels [2]bool

var (
	always      = levels{true, true}
	onRepeats   = levels{mysql.RepeatableRead: true}
	onCommitted = levels{mysql.ReadCommitted: true}
)

// step is a statement of session who. It gets the answer want, or waits.
// Afterwards waiting statements of others get answers.
type step struct {
	who   int
	do    mysql.Command
	want  mysql.Reply
	waits bool
	then  []answer
}

type answer struct {
	who  int
	want mysql.Reply
}

// on is a statement that gets an answer and causes only those in then.
func on(who int, do mysql.Command, want mysql.Reply, then ...answer) step {
	return step{who: who, do: do, want: want, then: then}
}

// waits is a statement that has to wait.
func waits(who int, do mysql.Command, then ...answer) step {
	return step{who: who, do: do, waits: true, then: then}
}

func (c *testCase) run(t *tester, level mysql.Isolation) {
	var sessions [3]mysql.Handle
	for i := range sessions {
		sessions[i] = t.open(level)
	}
	var waiting [3]*pendingCall
	for i, s := range c.steps {
		t.Logf("%d. session %d: %s", i, s.who, describe(s.do))
		if s.waits && len(s.then) == 0 {
			waiting[s.who] = t.waits(sessions[s.who], s.do)
		} else if s.waits {
			waiting[s.who] = &pendingCall{t.Start(sessions[s.who], within(t.prefix, s.do)), s.do}
		} else {
			t.want(sessions[s.who], s.do, s.want)
		}
		for _, a := range s.then {
			t.wantAnswer(waiting[a.who], a.want)
		}
		t.tidy(s.do)
	}
}

// tidy makes deleted rows disappear before the next statement.
func (t *tester) tidy(c mysql.Command) {
	switch c.Verb {
	case mysql.Delete, mysql.Commit, mysql.Rollback:
		t.Settle()
	}
}

func cases() []testCase {
	return append(append(rowCases(), transactionCases()...), lockCases()...)
}

func rowCases() []testCase {
	full := mysql.Row{Resource: "k", Version: 3, Expires: 4, Queue: mysql.Some("a,b,"), Owner: mysql.Some("o")}
	stored := full
	stored.ID = 1
	empty := mysql.Row{ID: 2, Resource: "e", Queue: mysql.Some(""), Owner: mysql.Some("")}
	expire := func(where mysql.Columns, m mysql.Row) mysql.Command {
		m.Resource = "k"
		return mysql.Command{
			Verb: mysql.Update, Set: mysql.Expires, Row: mysql.Row{Expires: 5}, Where: mysql.Resource | where, Match: m,
		}
	}
	long := func(n int) string { return strings.Repeat("ä", n) }
	queue := func(s string) mysql.Command {
		return mysql.Command{
			Verb: mysql.Update, Set: mysql.Queue, Row: mysql.Row{Queue: mysql.Some(s)}, Where: mysql.ID, Match: mysql.Row{ID: 1},
		}
	}
	return []testCase{
		{"an empty table", always, []step{
			on(0, read("k"), nothing),
			on(0, forUpdate("k"), nothing),
			on(0, update("k", 1), missed),
			on(0, updateID(1, 1), missed),
			on(0, remove("k"), missed),
			on(0, removeID(1), missed),
		}},
		{"insert, select, delete", always, []step{
			on(0, insert(full), made(1)),
			on(1, read("k"), mysql.Reply{Found: true, Row: stored}),
			on(1, forUpdate("k"), mysql.Reply{Found: true, Row: stored}),
			on(0, insert(mysql.Row{Resource: "e", Queue: mysql.Some(""), Owner: mysql.Some("")}), made(2)),
			on(1, read("e"), mysql.Reply{Found: true, Row: empty}),
			on(0, remove("k"), hit),
			on(1, read("k"), nothing),
			on(0, remove("k"), missed),
			on(0, removeID(2), hit),
			on(1, read("e"), nothing),
		}},
		{"a resource is unique", always, []step{
			on(0, insert(row("k", 0)), made(1)),
			on(1, insert(row("k", 7)), refused(mysql.Duplicate)),
			on(1, insert(row("K", 7)), made(3)),
			on(1, insert(row("k ", 7)), refused(mysql.Duplicate)),
			on(1, read("k"), found("k", 1, 0)),
			on(1, read("k  "), found("k", 1, 0)),
			on(1, read("K"), found("K", 3, 7)),
			on(0, remove("k"), hit),
			on(0, insert(row("k", 8)), made(5)),
		}},
		{"update by version", always, []step{
			on(0, insert(row("k", 0)), made(1)),
			on(0, ifVersion(0, update("k", 1)), hit),
			on(1, ifVersion(0, update("k", 1)), missed),
			on(1, ifVersion(1, updateID(1, 2)), hit),
			on(1, ifVersion(1, updateID(1, 3)), missed),
			on(1, ifVersion(2, updateID(2, 3)), missed),
			on(1, ifVersion(1, remove("k")), missed),
			on(0, read("k"), found("k", 1, 2)),
			on(1, ifVersion(2, removeID(1)), hit),
			on(0, read("k"), nothing),
		}},
		{"an update with the same value counts", always, []step{
			on(0, insert(row("k", 3)), made(1)),
			on(0, update("k", 3), hit),
			on(0, updateID(1, 3), hit),
		}},
		{"texts", always, []step{
			on(0, insert(mysql.Row{Resource: "k", Queue: mysql.Some("a,")}), made(1)),
			on(0, expire(mysql.Owner, mysql.Row{}), hit),
			on(0, expire(mysql.Owner, mysql.Row{Owner: mysql.Some("")}), missed),
			on(0, expire(mysql.Queue, mysql.Row{Queue: mysql.Some("a,")}), hit),
			on(0, expire(mysql.Queue, mysql.Row{Queue: mysql.Some("a, ")}), hit),
			on(0, expire(mysql.Queue, mysql.Row{Queue: mysql.Some("A,")}), missed),
			on(0, expire(mysql.Queue, mysql.Row{}), missed),
			on(0, expire(mysql.Queue|mysql.Owner, mysql.Row{Queue: mysql.Some("a,")}), hit),
			on(0, expire(mysql.Expires, mysql.Row{Expires: 5}), hit),
			on(0, expire(mysql.Expires, mysql.Row{Expires: 6}), missed),
		}},
		{"too long texts", always, []step{
			on(0, insert(row(long(190), 0)), made(1)),
			on(0, read(long(190)), found(long(190), 1, 0)),
			on(0, insert(row(long(191), 0)), refused(mysql.TooLong)),
			on(0, insert(mysql.Row{Resource: "k", Owner: mysql.Some(long(191))}), refused(mysql.TooLong)),
			on(0, queue(long(1024)), hit),
			on(0, queue(long(1025)), refused(mysql.TooLong)),
			on(0, queue("x"+strings.Repeat(" ", 1024)), hit),
			on(0, read("k"), nothing),
		}},
	}
}
