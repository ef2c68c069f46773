package porttest

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

var nameTests = tests{
	{"get and release", getAndRelease},
	{"released as often as acquired", nested},
	{"names are case-sensitive", caseCounts},
	{"several locks in one session", several},
	{"the first waiter gets it first", namesInOrder},
	{"a wait ends at its timeout", nameTimeout},
	{"independent of transactions", ignoresTransactions},
	{"a deadlock is refused", nameDeadlock},
	{"a deadlock refuses the session refused least often", rarestVictim},
	{"of two such sessions the one nearer to the newest waiter", nearestVictim},
	{"they end with the session", nameGoes},
	{"kept by a connection in the pool", namePool},
}

func getAndRelease(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, releaseLock("k"), null)
	t.want(a, isUsedLock("k"), null)
	t.want(a, getLock("k", 0), yes)
	t.want(b, isUsedLock("k"), mysql.Reply{Int: a.ID()})
	t.want(b, getLock("k", 0), no)
	t.want(b, releaseLock("k"), no)
	t.want(a, releaseLock("k"), yes)
	t.want(a, releaseLock("k"), null)
	t.want(b, getLock("k", 0), yes)
}

func nested(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.want(a, getLock("k", time.Hour), yes)
	t.want(a, releaseLock("k"), yes)
	t.want(b, getLock("k", 0), no)
	t.want(a, releaseLock("k"), yes)
	t.want(a, releaseLock("k"), null)
	t.want(b, getLock("k", 0), yes)
}

// caseCounts is MariaDB's behaviour; in MySQL 8 both are one name.
func caseCounts(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, getLock("lock", 0), yes)
	t.want(b, getLock("LOCK", 0), yes)
	t.want(a, releaseLock("LOCK"), no)
	t.want(b, isUsedLock("Lock"), null)
	t.want(a, releaseLock("lock"), yes)
}

func several(t *tester) {
	a, b := t.open(0), t.open(0)
	for _, name := range []string{"k", "l", "m"} {
		t.want(a, getLock(name, 0), yes)
	}
	t.want(a, releaseLock("l"), yes)
	t.want(b, getLock("l", 0), yes)
	t.want(b, getLock("k", 0), no)
	t.want(b, getLock("m", 0), no)
}

func namesInOrder(t *tester) {
	a, b, c := t.open(0), t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	waits := []*pendingCall{t.waits(b, getLock("k", -1)), t.waits(c, getLock("k", time.Hour))}
	t.want(a, releaseLock("k"), yes)
	t.wantAnswer(waits[0], yes)
	t.want(a, isUsedLock("k"), mysql.Reply{Int: b.ID()})
	t.want(b, releaseLock("k"), yes)
	t.wantAnswer(waits[1], yes)
	t.want(a, isUsedLock("k"), mysql.Reply{Int: c.ID()})
}

func nameTimeout(t *tester) {
	a, b, c := t.open(0), t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	const wait = time.Second
	start := t.Now()
	first := t.waits(b, getLock("k", wait))
	second := t.waits(c, getLock("k", time.Hour))
	t.wantAnswer(first, no)
	if took := t.Now() - start; took < wait-ms {
		t.Errorf("refused after %v, want %v", took, wait)
	}
	t.want(a, releaseLock("k"), yes)
	t.wantAnswer(second, yes)
}

func ignoresTransactions(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, begin(), okay)
	t.want(a, getLock("k", 0), yes)
	t.want(a, insert(row("k", 0)), made(1))
	t.want(a, rollback(), okay)
	t.want(b, getLock("k", 0), no)
	t.want(a, begin(), okay)
	t.want(a, commit(), okay)
	t.want(b, getLock("k", 0), no)
}

// In nameDeadlock the session that closes the cycle is refused: no session has been
// refused before. MySQL 8 returns LockDeadlock.
func nameDeadlock(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.want(b, getLock("l", 0), yes)
	waiting := t.waits(a, getLock("l", time.Hour))
	t.want(b, getLock("k", 0), no)
	t.want(b, begin(), okay)
	t.want(b, insert(row("k", 0)), made(1))
	t.want(b, getLock("k", time.Hour), deadlock)
	t.want(b, read("k"), found("k", 1, 0))
	t.want(b, rollback(), okay)
	t.want(b, releaseLock("l"), yes)
	t.wantAnswer(waiting, yes)
}

// In rarestVictim the server counts the refusals of a session from its beginning:
// neither the end of a transaction nor a release of its locks resets the count.
func rarestVictim(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.want(b, getLock("l", 0), yes)
	t.want(b, begin(), okay)
	waiting := t.waits(a, getLock("l", time.Hour))
	t.want(b, getLock("k", -1), deadlock)
	t.want(b, rollback(), okay)
	t.want(b, getLock("k", 0), no)
	next := t.waits(b, getLock("k", -1))
	t.wantAnswer(waiting, deadlock)
	t.want(a, getLock("l", time.Hour), deadlock) // refused as often as b, and the newest waiter
	t.want(a, releaseLock("k"), yes)
	t.wantAnswer(next, yes)
	t.want(b, releaseLock("k"), yes)
	t.want(b, releaseLock("l"), yes)

	t.want(a, getLock("k", 0), yes)
	t.want(b, getLock("l", 0), yes)
	waiting = t.waits(b, getLock("k", time.Hour))
	t.waits(a, getLock("l", -1)) // refused twice, b once
	t.wantAnswer(waiting, deadlock)
}

// In nearestVictim c, which asks last, has been refused before. At first no other
// session has.
func nearestVictim(t *tester) {
	a, b, c := t.open(0), t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.want(b, getLock("l", 0), yes)
	t.want(c, getLock("m", 0), yes)
	first := t.waits(a, getLock("l", time.Hour))
	second := t.waits(b, getLock("m", time.Hour))
	t.want(c, getLock("k", time.Hour), deadlock)
	third := t.waits(c, getLock("k", time.Hour)) // for a, which waits for b
	t.wantAnswer(first, deadlock)
	t.waits(a, getLock("l", time.Hour))
	t.wantAnswer(second, deadlock)
	t.want(b, isUsedLock("k"), mysql.Reply{Int: a.ID()})
	if r, done, err := third.Answer(0); done {
		t.Errorf("c: got %s, error %v; want it to wait", show(r), err)
	}
}

func nameGoes(t *tester) {
	a, b, c := t.open(0), t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.want(a, getLock("k", 0), yes)
	t.want(a, getLock("l", 0), yes)
	first := t.waits(b, getLock("k", time.Hour))
	second := t.waits(c, getLock("k", time.Hour))
	t.Drop(b) // a waiter that leaves keeps nothing
	t.wantCut(first)
	a.Close()
	t.wantAnswer(second, yes)
	t.want(c, getLock("l", time.Hour), yes)
}

func namePool(t *tester) {
	ctx, p := t.Context(), t.Port()
	name := t.prefix + "k"
	h := t.open(0)
	for range 2 { // a free connection is used again
		if ok, err := p.GetLock(ctx, patience, name, 0); !ok || err != nil {
			t.Fatalf("GetLock: got %t, error %v", ok, err)
		}
	}
	t.want(h, getLock("k", 0), no)
	for range 2 {
		if ok, err := p.ReleaseLock(ctx, patience, name); !ok || err != nil {
			t.Fatalf("ReleaseLock: got %t, error %v", ok, err)
		}
	}
	t.want(h, getLock("k", 0), yes)
}
