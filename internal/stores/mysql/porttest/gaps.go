package porttest

import "github.com/lockcheck/lockcheck/internal/stores/mysql"

func gapCases() []testCase {
	return []testCase{
		{"the gap of a missing row", onRepeats, []step{
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
		{"the gap of a missing id", onRepeats, []step{
			on(0, begin(), okay),
			on(0, updateID(9, 1), missed),
			on(1, update("k", 1), hit),
			waits(1, insert(row("a", 0))),
			on(0, rollback(), okay, answer{1, made(4)}),
		}},
		{"no lock on the gap of a missing row", onCommitted, []step{
			on(0, begin(), okay),
			on(0, forUpdate("l"), nothing),
			on(0, updateID(9, 1), missed),
			on(1, insert(row("l", 0)), made(4)),
			on(0, forUpdate("l"), found("l", 4, 0)),
			on(0, commit(), okay),
		}},
		{"the gap of a deleted row", onRepeats, []step{
			on(0, begin(), okay),
			on(0, remove("k"), hit),
			on(1, begin(), okay),
			waits(1, forUpdate("k")),
			on(0, commit(), okay, answer{1, nothing}),
			waits(0, insert(row("k", 5))),
			on(1, commit(), okay, answer{0, made(4)}),
		}},
		{"two lock a missing row, and insert it", onRepeats, []step{
			on(0, begin(), okay),
			on(0, forUpdate("l"), nothing),
			on(1, begin(), okay),
			on(1, forUpdate("l"), nothing),
			waits(0, insert(row("l", 0))),
			on(1, insert(row("l", 1)), deadlock, answer{0, made(4)}),
			on(0, commit(), okay),
			on(1, read("l"), found("l", 4, 0)),
		}},
		{"two read a missing row, and insert it", onCommitted, []step{
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

// sharedCases are about rows that a refused insert has locked in shared mode.
func sharedCases() []testCase {
	return []testCase{
		{"a duplicate's gap is locked", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("k", 1)), refused(mysql.Duplicate)),
			waits(1, insert(row("jj", 0))),
			on(0, commit(), okay, answer{1, made(5)}),
		}},
		{"a shared request waits behind an exclusive one", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("k", 1)), refused(mysql.Duplicate)),
			waits(1, remove("k")),
			waits(2, insert(row("k", 1))),
			on(0, rollback(), okay, answer{1, hit}, answer{2, made(5)}),
		}},
		{"a writer shares its row with others if the index has changed", onCommitted, []step{
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
		{"a writer does not share its row if the index has not changed", onCommitted, []step{
			on(0, begin(), okay),
			on(0, updateID(2, 1), hit),
			on(0, forUpdate("k"), found("k", 2, 1)),
			waits(1, insert(row("k", 1))),
			on(0, commit(), okay, answer{1, refused(mysql.Duplicate)}),
		}},
		{"an index changed after the start of an open transaction", onCommitted, []step{
			on(0, begin(), okay),
			on(0, updateID(2, 1), hit),
			on(2, insert(row("z", 0)), made(4)),
			on(1, begin(), okay),
			on(1, insert(row("k", 1)), refused(mysql.Duplicate)),
			on(0, forUpdate("k"), found("k", 2, 1)),
			on(0, commit(), okay),
			on(1, commit(), okay),
		}},
		{"deadlock: a shared lock becomes exclusive while another waits", always, []step{
			on(0, begin(), okay),
			on(0, insert(row("k", 1)), refused(mysql.Duplicate)),
			waits(1, forUpdate("k")),
			waits(0, forUpdate("k"), answer{1, deadlock}, answer{0, found("k", 2, 0)}),
			on(0, commit(), okay),
		}},
		{"deadlock: found when a third session no longer shares the row", always, []step{
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
		{"deadlock: of two equal ones the last loses", always, []step{
			on(0, begin(), okay),
			on(0, forUpdate("j"), found("j", 1, 0)),
			on(1, begin(), okay),
			on(1, insert(row("l", 0)), made(4)),
			on(1, rollback(), okay),
			on(1, begin(), okay),
			on(1, forUpdate("k"), found("k", 2, 0)),
			waits(0, forUpdate("k")),
			on(1, forUpdate("j"), deadlock, answer{0, found("k", 2, 0)}),
			on(1, insert(row("l", 0)), made(5)), // without a transaction
			on(2, insert(row("l", 0)), refused(mysql.Duplicate)),
			on(0, commit(), okay),
		}},
		{"deadlock: the one with fewer writes loses", always, []step{
			on(0, begin(), okay),
			on(0, forUpdate("j"), found("j", 1, 0)),
			on(1, begin(), okay),
			on(1, update("k", 1), hit),
			waits(0, forUpdate("k")),
			waits(1, forUpdate("j"), answer{0, deadlock}, answer{1, found("j", 1, 0)}),
			on(1, commit(), okay),
			on(0, read("k"), found("k", 2, 1)),
		}},
		{"deadlock: all writes are undone", always, []step{
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
