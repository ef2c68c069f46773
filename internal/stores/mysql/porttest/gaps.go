package porttest

import "github.com/lockcheck/lockcheck/stores/mysql"

func gapCases() []testCase {
	return []testCase{
		{"the place of a missing row", onRepeats, []step{
			on(0, begin(), okay),
			on(0, forUpdate("l"), nothing),
			on(1, begin(), okay),
			on(1, forUpdate("l"), nothing),
			on(1, forUpdate("m"), found("m", 3, 0)),
			on(1, commit(), okay),
			on(1, insert(row("a", 0)), made(4)),
			on(1, insert(row("z", 0)), made(5)),
			waits(1, insert(row("kk", 0))),
			on(0, commit(), okay, answer{1, made(6)}),
		}},
		{"the place of a row that is missing by id", onRepeats, []step{
			on(0, begin(), okay),
			on(0, updateID(9, 1), missed),
			on(1, update("k", 1), hit),
			waits(1, insert(row("a", 0))),
			on(0, rollback(), okay, answer{1, made(4)}),
		}},
		{"nobody locks the place of a missing row", onCommitted, []step{
			on(0, begin(), okay),
			on(0, forUpdate("l"), nothing),
			on(0, updateID(9, 1), missed),
			on(1, insert(row("l", 0)), made(4)),
			on(0, forUpdate("l"), found("l", 4, 0)),
			on(0, commit(), okay),
		}},
		{"the place of a row that was deleted", onRepeats, []step{
			on(0, begin(), okay),
			on(0, remove("k"), hit),
			on(1, begin(), okay),
			waits(1, forUpdate("k")),
			on(0, commit(), okay, answer{1, nothing}),
			waits(0, insert(row("k", 5))),
			on(1, commit(), okay, answer{0, made(4)}),
		}},
		{"two who lock a missing row, and insert it", onRepeats, []step{
			on(0, begin(), okay),
			on(0, forUpdate("l"), nothing),
			on(1, begin(), okay),
			on(1, forUpdate("l"), nothing),
			waits(0, insert(row("l", 0))),
			on(1, insert(row("l", 1)), deadlock, answer{0, made(4)}),
			on(0, commit(), okay),
			on(1, read("l"), found("l", 4, 0)),
		}},
		{"two who read a missing row, and insert it", onCommitted, []step{
			on(0, begin(), okay),
			on(0, forUpdate("l"), nothing),
			on(1, begin(), okay),
			on(1, forUpdate("l"), nothing),
			on(0, insert(row("l", 0)), made(4)),
			waits(1, insert(row("l", 1))),
			on(0, commit(), okay, answer{1, refused(mysql.Duplicate)}),
			on(1, commit(), okay),
		}},
	}
}

// sharedCases are of rows that a refused insert has locked, which others may
// lock alike.
func sharedCases() []testCase {
	return []testCase{
		{"a duplicate's gap is locked", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("k", 1)), refused(mysql.Duplicate)),
			waits(1, insert(row("jj", 0))),
			on(0, commit(), okay, answer{1, made(5)}),
		}},
		{"who waits to share a row waits behind who wants it alone", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("k", 1)), refused(mysql.Duplicate)),
			waits(1, remove("k")),
			waits(2, insert(row("k", 1))),
			on(0, rollback(), okay, answer{1, hit}, answer{2, made(5)}),
		}},
		{"who has written a row shares it with others, if the index has changed", onCommitted, []step{
			on(0, begin(), okay),
			on(0, updateID(2, 1), hit),
			on(0, insert(row("z", 0)), made(4)),
			on(0, forUpdate("k"), found("k", 2, 1)),
			on(1, begin(), okay),
			on(1, insert(row("k", 1)), refused(mysql.Duplicate)),
			on(0, forUpdate("k"), found("k", 2, 1)),
			on(0, update("k", 2), hit),
			waits(0, remove("k")),
			on(1, commit(), okay, answer{0, hit}),
			on(0, commit(), okay),
		}},
		{"who has written a row does not share it with others, if the index has not", onCommitted, []step{
			on(0, begin(), okay),
			on(0, updateID(2, 1), hit),
			on(0, forUpdate("k"), found("k", 2, 1)),
			waits(1, insert(row("k", 1))),
			on(0, commit(), okay, answer{1, refused(mysql.Duplicate)}),
		}},
		{"an index that was changed since a transaction began that goes on", onCommitted, []step{
			on(0, begin(), okay),
			on(0, updateID(2, 1), hit),
			on(2, insert(row("z", 0)), made(4)),
			on(1, begin(), okay),
			on(1, insert(row("k", 1)), refused(mysql.Duplicate)),
			on(0, forUpdate("k"), found("k", 2, 1)),
			on(0, commit(), okay),
			on(1, commit(), okay),
		}},
		{"deadlock: who shares a row wants it alone, and another waits for it", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("k", 1)), refused(mysql.Duplicate)),
			waits(1, forUpdate("k")),
			waits(0, forUpdate("k"), answer{1, deadlock}, answer{0, found("k", 2, 0)}),
			on(0, commit(), okay),
		}},
		{"deadlock: seen when a third one shares the row no more", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("k", 1)), refused(mysql.Duplicate)),
			on(1, begin(), okay),
			on(1, insert(row("k", 1)), refused(mysql.Duplicate)),
			waits(2, update("k", 1)),
			waits(0, forUpdate("k")),
			on(1, commit(), okay, answer{2, deadlock}, answer{0, found("k", 2, 0)}),
			on(0, commit(), okay),
			on(2, read("k"), found("k", 2, 0)),
		}},
	}
}

func deadlockCases() []testCase {
	return []testCase{
		{"deadlock: of two alike, who comes last", always, []step{
			on(0, begin(), okay),
			on(0, forUpdate("j"), found("j", 1, 0)),
			on(1, begin(), okay),
			on(1, insert(row("l", 0)), made(4)),
			on(1, rollback(), okay),
			on(1, begin(), okay),
			on(1, forUpdate("k"), found("k", 2, 0)),
			waits(0, forUpdate("k")),
			on(1, forUpdate("j"), deadlock, answer{0, found("k", 2, 0)}),
			on(1, insert(row("l", 0)), made(5)), // in no transaction
			on(2, insert(row("l", 0)), refused(mysql.Duplicate)),
			on(0, commit(), okay),
		}},
		{"deadlock: who has written less", always, []step{
			on(0, begin(), okay),
			on(0, forUpdate("j"), found("j", 1, 0)),
			on(1, begin(), okay),
			on(1, update("k", 1), hit),
			waits(0, forUpdate("k")),
			waits(1, forUpdate("j"), answer{0, deadlock}, answer{1, found("j", 1, 0)}),
			on(1, commit(), okay),
			on(0, read("k"), found("k", 2, 1)),
		}},
		{"deadlock: all that was written goes", always, []step{
			on(0, begin(), okay),
			on(0, update("j", 1), hit),
			on(1, begin(), okay),
			on(1, update("k", 1), hit),
			waits(0, update("k", 2)),
			on(1, update("j", 2), deadlock, answer{0, hit}),
			on(0, commit(), okay),
			on(1, read("j"), found("j", 1, 1)),
			on(1, read("k"), found("k", 2, 2)),
		}},
		{"deadlock: by id, and by resource", always, []step{
			on(0, begin(), okay),
			on(0, updateID(2, 1), hit),
			on(1, begin(), okay),
			waits(1, forUpdate("k")),
			waits(0, forUpdate("k"), answer{1, deadlock}, answer{0, found("k", 2, 1)}),
			on(0, commit(), okay),
		}},
		{"deadlock: of two inserts", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("a", 0)), made(4)),
			on(1, begin(), okay),
			on(1, insert(row("b", 0)), made(5)),
			waits(0, insert(row("b", 1))),
			on(1, insert(row("a", 1)), deadlock, answer{0, made(6)}),
			on(0, rollback(), okay),
		}},
	}
}
