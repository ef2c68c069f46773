package porttest

import (
	"context"
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

var sessionTests = tests{
	{"each has a number", numbers},
	{"a session's end undoes its open transaction", undoneAtEnd},
	{"a waiting statement is executed though its client is gone", closedWaiting},
	{"kill", killed},
	{"kill of a waiting session", killedWaiting},
	{"kill of the own session", killedByItself},
	{"kill of an unknown session", killedNobody},
	{"an idle session ends", idle},
	{"a waiting session is not idle", notIdle},
	{"a half-open session keeps its locks", halfOpen},
	{"a lease uses the server's clock", leases},
	{"an ended context sends nothing", endedContext},
}

func numbers(t *tester) {
	a, b := t.open(0), t.open(0)
	if a.ID() <= 0 || b.ID() <= a.ID() {
		t.Errorf("two sessions are called %d and %d", a.ID(), b.ID())
	}
}

func undoneAtEnd(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(b, insert(row("k", 0)), made(1))
	for _, end := range []func(mysql.Handle){t.Drop, mysql.Handle.Close} {
		t.want(a, begin(), okay)
		t.want(a, updateID(1, 1), hit)
		t.want(a, insert(row("l", 0)), t.made())
		waiting := t.waits(b, ifVersion(0, updateID(1, 0)))
		end(a)
		t.wantAnswer(waiting, hit)
		t.want(b, read("l"), nothing)
		t.wantOver(a)
		a = t.open(0)
	}
}

// made returns the answer to an insert of a row with any number.
func (t *tester) made() mysql.Reply {
	r := t.do(t.open(0), insert(row("number", 0)))
	t.do(t.open(0), remove("number"))
	return made(r.ID + 1)
}

func closedWaiting(t *tester) {
	a, b, c := t.open(0), t.open(0), t.open(0)
	t.want(c, insert(row("k", 0)), made(1))
	t.want(a, begin(), okay)
	t.want(a, forUpdate("k"), found("k", 1, 0))
	t.want(b, begin(), okay)
	t.want(b, insert(row("l", 0)), made(2))
	first := t.waits(b, update("k", 9))
	d := t.open(0)
	second := t.waits(d, update("k", 1))
	third := t.waits(c, ifVersion(1, update("k", 2)))
	for _, h := range []mysql.Handle{b, d} { // an open transaction is rolled back, a single statement is not
		t.Drop(h)
	}
	t.wantCut(first)
	t.wantCut(second)
	t.want(a, commit(), okay)
	t.wantAnswer(third, hit)
	t.want(a, read("k"), found("k", 1, 2))
	t.want(a, read("l"), nothing)
}

func killed(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.want(a, begin(), okay)
	t.want(a, insert(row("k", 0)), made(1))
	t.want(b, kill(a.ID()), okay)
	t.wantOver(a)
	t.want(b, getLock("k", time.Hour), yes)
	t.want(b, read("k"), nothing)
	t.want(b, kill(a.ID()), refused(mysql.NoSuchSession))
}

func killedWaiting(t *tester) {
	for _, do := range []mysql.Command{getLock("k", time.Hour), update("k", 1)} {
		a, b, c := t.open(0), t.open(0), t.open(0)
		t.do(a, insert(row("k", 0)))
		t.want(a, begin(), okay)
		t.want(a, getLock("k", 0), yes)
		t.want(a, update("k", 0), hit)
		first := t.waits(b, do)
		second := t.waits(c, do)
		t.want(a, kill(b.ID()), okay)
		t.wantCut(first)
		t.wantOver(b)
		t.want(a, commit(), okay)
		t.want(a, releaseLock("k"), yes)
		if r, done, err := second.Answer(patience); !done || err != nil || r.Code != mysql.OK {
			t.Fatalf("the waiter behind it: got %s, error %v, answered %t", show(r), err, done)
		}
		c.Close()
	}
}

func killedByItself(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.wantCut(&pendingCall{t.Start(a, kill(a.ID())), kill(a.ID())})
	t.wantOver(a)
	t.want(b, getLock("k", time.Hour), yes)
}

func killedNobody(t *tester) {
	a := t.open(0)
	t.want(a, kill(1<<30), refused(mysql.NoSuchSession))
	t.want(a, ping(), okay)
}

func idle(t *tester) {
	a, b := t.open(0), t.open(0)
	const length = 3 * time.Second
	t.want(a, setWaitTimeout(length), okay)
	t.want(a, getLock("k", 0), yes)
	t.want(a, begin(), okay)
	t.want(a, insert(row("k", 0)), made(1))
	var asked time.Duration // before the server received the last ping
	for range 3 {
		t.Sleep(length/3 + 100*ms)
		asked = t.Now()
		t.want(a, ping(), okay)
	}
	t.wantAnswer(t.waits(b, getLock("k", time.Hour)), yes)
	if lived := t.Now() - asked; lived < length-ms {
		t.Errorf("it ended after %v, want %v", lived, length)
	}
	t.wantOver(a)
	t.want(b, read("k"), nothing)
}

func notIdle(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(a, getLock("k", 0), yes)
	t.want(b, setWaitTimeout(ms), okay) // a second
	waiting := t.waits(b, getLock("k", time.Hour))
	t.Sleep(1500 * ms)
	t.want(a, releaseLock("k"), yes)
	t.wantAnswer(waiting, yes)
	t.want(b, ping(), okay)
}

func halfOpen(t *tester) {
	a, b := t.open(0), t.open(0)
	t.want(b, insert(row("k", 0)), made(1))
	t.want(a, setWaitTimeout(4*time.Second), okay)
	t.want(a, getLock("k", 0), yes)
	t.want(a, begin(), okay)
	t.want(a, forUpdate("k"), found("k", 1, 0))
	t.Silence(a)
	t.Settle()
	t.want(b, getLock("k", 500*ms), no)
	waiting := t.waits(b, update("k", 1))
	t.wantAnswer(waiting, hit) // after wait_timeout
	t.want(b, getLock("k", time.Hour), yes)
}

func leases(t *tester) {
	a := t.open(0)
	const lease = 5 * time.Second
	between := func(what string, got, from, to int64) {
		t.Helper()
		if got < from || got > to {
			t.Errorf("%s is at %d, want it from %d to %d", what, got, from, to)
		}
	}
	now := func() int64 { return t.do(a, forUpdate("none")).Now }
	given := insert(row("k", 0))
	renewed := update("k", 1)
	renewed.Set |= mysql.Expires
	for _, c := range []mysql.Command{given, renewed} {
		c.Lease = lease
		begun := now()
		t.do(a, c)
		r := t.do(a, read("k"))
		between("a lease", r.Row.Expires, begun+lease.Milliseconds(), r.Now+lease.Milliseconds())
	}
	start, began := t.Now(), now()
	t.Sleep(200 * ms)
	passed := now() - began
	between("NOW", passed, 200-1, (t.Now()-start).Milliseconds()+1)
}

func endedContext(t *tester) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := t.open(0)
	if _, err := a.Do(ctx, patience, insert(row("k", 0))); err == nil || !locks.IsDefinite(err) && !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want one that is definite", err)
	}
	if _, err := t.Port().Do(ctx, patience, insert(row("k", 0))); err == nil {
		t.Error("a statement with an ended context was answered")
	}
	t.want(t.open(0), read("k"), nothing)
}

// waitTests are for a server whose statements wait for at most lockWait.
var waitTests = tests{
	{"a wait for a row ends at its timeout", rowTimeout},
	{"a waiter behind one that gives up", behindTimeout},
	{"two wait to insert the same row: one is in a deadlock", twoInserts},
}

func rowTimeout(t *tester) {
	for _, level := range []mysql.Isolation{mysql.RepeatableRead, mysql.ReadCommitted} {
		t.Empty()
		a, b := t.open(level), t.open(level)
		t.want(a, insert(row("k", 0)), made(1))
		t.want(a, begin(), okay)
		t.want(a, forUpdate("k"), found("k", 1, 0))
		t.want(b, begin(), okay)
		t.want(b, insert(row("l", 0)), made(2))
		start := t.Now()
		t.want(b, update("k", 1), refused(mysql.LockTimeout))
		took := t.Now() - start
		late := lockWait + time.Second
		if t.Slack() > 0 { // a real server that ignored the option would wait for 50 s
			late += 10 * time.Second
		}
		if took < lockWait-ms || took > late {
			t.Errorf("refused after %v, want %v", took, lockWait)
		}
		t.want(b, insert(row("k", 0)), refused(mysql.LockTimeout))
		t.want(b, commit(), okay)
		t.want(a, read("l"), found("l", 2, 0))
		t.want(a, commit(), okay)
	}
}

func behindTimeout(t *tester) {
	a, b, c := t.open(0), t.open(0), t.open(0)
	t.want(a, insert(row("k", 0)), made(1))
	t.want(a, begin(), okay)
	t.want(a, insert(row("k", 0)), refused(mysql.Duplicate)) // takes a shared lock
	first := t.waits(b, remove("k"))
	t.Sleep(lockWait / 4)
	second := t.waits(c, insert(row("k", 1)))
	t.wantAnswer(first, refused(mysql.LockTimeout))
	t.wantAnswer(second, refused(mysql.Duplicate))
	t.want(a, commit(), okay)
}

func twoInserts(t *tester) {
	a, b, c := t.open(0), t.open(0), t.open(0)
	t.want(a, begin(), okay)
	t.want(a, insert(row("k", 0)), made(1))
	waiting := [2]*pendingCall{t.waits(b, insert(row("k", 1))), t.waits(c, insert(row("k", 2)))}
	t.want(a, rollback(), okay)
	codes := map[mysql.Code]int{}
	for _, p := range waiting {
		r, done, err := p.Answer(patience)
		if !done || err != nil {
			t.Fatalf("answered %t, error %v", done, err)
		}
		codes[r.Code]++
	}
	if codes[mysql.OK] != 1 || codes[mysql.DeadlockFound]+codes[mysql.Duplicate] != 1 {
		t.Errorf("got %v, want one that is done", codes)
	}
}

var followerTests = tests{
	{"a replica refuses to write", refusesToWrite},
}

func refusesToWrite(t *tester) {
	w := t.World.(Follower)
	a, b := t.open(0), t.open(0)
	t.want(a, insert(row("k", 0)), made(1))
	w.ReadOnly(true)
	t.Cleanup(func() { w.ReadOnly(false) })
	readOnly := refused(mysql.ReadOnlyServer)
	t.want(b, read("k"), found("k", 1, 0))
	t.want(b, insert(row("l", 0)), readOnly)
	t.want(b, update("k", 1), readOnly)
	t.want(b, update("none", 1), readOnly)
	t.want(b, removeID(1), readOnly)
	t.want(b, forUpdate("k"), readOnly)
	t.want(b, begin(), okay)
	t.want(b, read("k"), found("k", 1, 0))
	t.want(b, update("k", 1), readOnly)
	t.want(b, commit(), okay)
	t.want(b, getLock("k", 0), yes)
	w.ReadOnly(false)
	t.want(b, update("k", 1), hit)
}

var restartTests = tests{
	{"only commits survive", restarted},
}

func restarted(t *tester) {
	w := t.World.(Restarter)
	a, b := t.open(0), t.open(0)
	t.want(a, insert(row("k", 0)), made(1))
	t.want(a, getLock("k", 0), yes)
	t.want(a, begin(), okay)
	t.want(a, update("k", 1), hit)
	t.want(a, insert(row("l", 0)), made(2))
	t.want(b, insert(row("m", 0)), made(3))
	w.Restart()
	t.wantOver(a)
	c := t.open(0)
	t.want(c, getLock("k", 0), yes)
	t.want(c, read("k"), found("k", 1, 0))
	t.want(c, read("l"), nothing)
	t.want(c, update("k", 2), hit)
	t.want(c, insert(row("l", 0)), made(4))
}
