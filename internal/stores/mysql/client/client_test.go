package client_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/client"
	"github.com/lockcheck/lockcheck/locks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	// patience is the limit of a wait for an event that must come.
	patience = time.Minute
	// moment is a timeout that fires.
	moment = 50 * time.Millisecond
)

// TestClient tests the client's own promises. TestConformance tests those of the
// server.
func TestClient(t *testing.T) {
	s := dockertest.MySQL(t)
	admin, err := s.Admin()
	must(t, err)
	defer admin.Close()
	must(t, client.Create(t.Context(), client.Options{Addr: s.Addr}))
	for _, c := range []struct {
		name string
		test func(*tester)
	}{
		{"the pool is a stack of two", poolIsAStack},
		{"a closed session frees its locks", closedSession},
		{"a dead connection leaves the pool", deadInPool},
		{"a timeout closes the connection", timeouts},
		{"a broken connection", breaks},
		{"killed while it waits", killed},
		{"idle for too long", idle},
		{"a context that has ended", contexts},
		{"Close ends everything", closing},
		{"one packet for each statement", packets},
		{"a row reads as written", rows},
		{"an unknown error code is not a refusal", unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(&tester{T: t, options: client.Options{Addr: s.Addr}, admin: admin})
		})
	}
}

func poolIsAStack(t *tester) {
	p, _, _ := newClient(t, client.Options{Addr: t.options.Addr, Dialer: new(net.Dialer).DialContext})
	var sessions []mysql.Handle
	for i := range 3 {
		h := open(t, p)
		got, err := h.GetLock(t.Context(), 0, fmt.Sprint("stack", i), 0)
		t.fine("GetLock", got, err)
		sessions = append(sessions, h)
	}
	for _, h := range sessions {
		h.Return()
	}
	if t.free("stack2"); mysql.MaxIdle != 2 {
		t.Error("sql does/sql does")
	}
	// The second connection came back last. Its locks are visible to every user
	// of the pool.
	had, err := p.ReleaseLock(t.Context(), 0, "stack1")
	t.fine("ReleaseLock on the connection that came back last", had, err)
	had, err = p.ReleaseLock(t.Context(), 0, "stack0")
	t.fine("ReleaseLock on the same one", !had, err)
	var ids []int64
	for range 3 {
		ids = append(ids, open(t, p).ID())
	}
	if ids[0] != sessions[1].ID() || ids[1] != sessions[0].ID() || ids[2] <= sessions[2].ID() {
		t.Errorf("got sessions %v, want %d, %d and a new one", ids, sessions[1].ID(), sessions[0].ID())
	}
	_, err = sessions[0].GetLock(t.Context(), 0, "x", 0)
	t.fails("a session that was given back", err, mysql.ErrSessionOver, true)
}

func closedSession(t *tester) {
	p, _, _ := newClient(t, t.options)
	h := open(t, p)
	got, err := h.GetLock(t.Context(), 0, "closed", 0)
	t.fine("GetLock", got, err)
	h.Close()
	t.free("closed")
	t.fails("a session that was closed", h.Ping(t.Context(), 0), mysql.ErrSessionOver, true)

	p, _, _ = t.newClient()
	holder, h := open(t, p), open(t, p)
	t.holds(holder)
	done := t.waits(t.Context(), h, 0)
	h.Close()
	t.fails("the statement that waited", <-done, mysql.ErrConnectionLost, false)
	if again := open(t, p); again.ID() == h.ID() {
		t.Error("a session that was closed is in the pool")
	}
}

func deadInPool(t *tester) {
	p, _, w := t.newClient()
	for range 2 { // one has come back and is lent again
		h := open(t, p)
		h.Return()
		t.kill(h)
		before := w.last()
		_, err := p.Insert(t.Context(), 0, mysql.Row{Resource: fmt.Sprint("after ", h.ID())}, 0)
		t.fine("Insert", w.last() != before, err)
	}
}

func timeouts(t *tester) {
	p, _, _ := t.newClient()
	holder, h := open(t, p), open(t, p)
	t.holds(holder)
	_, _, _, err := h.SelectForUpdate(t.Context(), moment, "r")
	t.fails("a session's statement", err, mysql.ErrTimeout, false)
	t.fails("the statement after it", h.Ping(t.Context(), 0), mysql.ErrSessionOver, true)
	open(t, p).Return() // so that the next statement needs no new connection
	_, err = p.Update(t.Context(), moment, mysql.Change{Set: mysql.Version, Where: mysql.Resource, Match: mysql.Row{Resource: "r"}})
	t.fails("a statement through the pool", err, mysql.ErrTimeout, false)

	p, _, _ = newClient(t, client.Options{Addr: t.options.Addr, Timeout: moment})
	open(t, p).Return()
	_, err = p.Update(t.Context(), 0, mysql.Change{Set: mysql.Version, Where: mysql.Resource, Match: mysql.Row{Resource: "r"}})
	t.fails("the client's own timeout", err, mysql.ErrTimeout, false)
}

func breaks(t *tester) {
	p, _, w := t.newClient()
	for _, c := range []struct {
		name     string
		do       func(*wire)
		want     error
		definite bool
	}{
		{"closed before anything is written", func(y *wire) { y.TCPConn.Close() }, mysql.ErrSessionOver, true},
		{"closed when a part was written", func(y *wire) { y.set(func() { y.torn = true }) }, mysql.ErrConnectionLost, false},
		{"closed before the answer", func(y *wire) { y.set(func() { y.deaf = true }) }, mysql.ErrConnectionLost, false},
		{"half open", func(y *wire) { y.set(func() { y.silent = true }) }, mysql.ErrTimeout, false},
	} {
		own, _, w := newClient(t, t.options)
		h := open(t, own)
		c.do(w.last())
		sent := w.sent()
		err := h.Ping(t.Context(), moment)
		t.fails(c.name, err, c.want, c.definite)
		if n := w.sent(); n > sent+1 {
			t.Errorf("%s: %d packets were written, want one at most", c.name, n-sent)
		}
		t.fails(c.name+", and then", h.Ping(t.Context(), moment), mysql.ErrSessionOver, true)
	}

	// A statement through the pool that may have been executed is not sent again
	// either.
	open(t, p).Return()
	w.last().set(func() { w.last().torn = true })
	sent := w.sent()
	_, err := p.Insert(t.Context(), 0, mysql.Row{Resource: "torn"}, 0)
	t.fails("an Insert that was torn", err, mysql.ErrConnectionLost, false)
	if n := w.sent(); n != sent+1 {
		t.Errorf("an Insert that was torn: %d packets were written, want 1", n-sent)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never answers
	t.fine("Listen", true, err)
	defer l.Close()
	silent, _, _ := newClient(t, client.Options{Addr: l.Addr().String()})
	_, err = silent.Open(t.Context(), moment)
	t.fails("a silent server", err, mysql.ErrNotConnected, true)
	l.Close()
	_, err = silent.Open(t.Context(), 0)
	t.fails("no server", err, mysql.ErrNotConnected, true)
	_, err = silent.ReleaseLock(t.Context(), 0, "x")
	t.fails("no server", err, mysql.ErrNotConnected, true)
}

func killed(t *tester) {
	p, _, _ := t.newClient()
	holder, h := open(t, p), open(t, p)
	t.holds(holder)
	done := t.waits(t.Context(), h, 0)
	t.kill(h)
	t.fails("the statement that waited", <-done, mysql.ErrConnectionLost, false)
	t.kill(holder)
	t.fails("the statement after it", holder.Commit(t.Context(), 0), mysql.ErrConnectionLost, false)
	self := open(t, p)
	_, err := self.Do(t.Context(), 0, mysql.Command{Verb: mysql.Kill, Int: self.ID()})
	t.fails("one that kills itself", err, mysql.ErrConnectionLost, false)
	t.fails("no session", p.Kill(t.Context(), 0, self.ID()), mysql.NoSuchSession, true)
}

func idle(t *tester) {
	p, _, w := t.newClient()
	h, pooled := open(t, p), open(t, p)
	for _, s := range []mysql.Handle{h, pooled} {
		t.fine("SetWaitTimeout", true, s.SetWaitTimeout(t.Context(), 0, moment))
	}
	pooled.Return()
	before := w.last()
	time.Sleep(2 * time.Second)
	t.fails("a session that was idle", h.Ping(t.Context(), 0), mysql.ErrConnectionLost, false)
	_, err := p.ReleaseLock(t.Context(), 0, "x")
	t.fine("a statement through the pool", w.last() != before, err)
}

func contexts(t *tester) {
	p, _, w := t.newClient()
	holder, h := open(t, p), open(t, p)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	sent := w.sent()
	t.fails("a session's statement", h.Ping(over, 0), context.Canceled, true)
	_, err := p.ReleaseLock(over, 0, "x")
	t.fails("a statement through the pool", err, context.Canceled, true)
	_, err = p.Open(over, 0)
	t.fails("Open", err, context.Canceled, true)
	if w.sent() != sent {
		t.Error("something was sent")
	}

	t.holds(holder)
	ctx, cancel := context.WithCancel(t.Context())
	done := t.waits(ctx, h, 0)
	cancel()
	t.fine("Commit", true, holder.Commit(t.Context(), 0))
	if err := <-done; err != nil {
		t.Errorf("a context that ends once the statement is sent: got error %v, want the answer", err)
	}
	t.fine("Ping", true, h.Ping(t.Context(), 0))
}

func closing(t *tester) {
	p, c, _ := t.newClient()
	holder, h := open(t, p), open(t, p)
	got, err := holder.GetLock(t.Context(), 0, "closing", 0)
	t.fine("GetLock", got, err)
	t.holds(holder)
	done := t.waits(t.Context(), h, 0)
	t.fine("Close", true, c.Close())
	t.fails("the statement that waited", <-done, client.ErrClosed, false)
	t.free("closing")
	_, err = p.Open(t.Context(), 0)
	t.fails("Open", err, client.ErrClosed, true)
	_, err = p.ReleaseLock(t.Context(), 0, "x")
	t.fails("a statement through the pool", err, client.ErrClosed, true)
	t.fails("a session's statement", h.Ping(t.Context(), 0), client.ErrClosed, true)
	h.Return()
	holder.Close()
}

func packets(t *tester) {
	p, _, w := t.newClient()
	h := open(t, p)
	var verbs []mysql.Verb
	for v := mysql.Select; v <= mysql.Ping; v++ {
		verbs = append(verbs, v)
		sent := w.sent()
		r, err := h.Do(t.Context(), 0, mysql.Command{
			Verb: v, Row: mysql.Row{Resource: "one"}, Set: mysql.Version, Where: mysql.Resource,
			Match: mysql.Row{Resource: "one"}, Name: "one", Int: 1 << 40,
		})
		t.fine(fmt.Sprintf("verb %d", v), r.Code == mysql.OK || v == mysql.Kill && r.Code == mysql.NoSuchSession, err)
		if n := w.sent() - sent; n != 1 {
			t.Errorf("verb %d: %d packets, want 1", v, n)
		}
	}
	_, err := h.Do(t.Context(), 0, mysql.Command{Verb: verbs[len(verbs)-1] + 1})
	if !locks.IsDefinite(err) {
		t.Errorf("a verb that there is not: got error %v, want a definite one", err)
	}
}

func rows(t *tester) {
	p, _, _ := t.newClient()
	for _, want := range []mysql.Row{
		{Resource: "nothing else"},
		{Resource: "ünï ☃ 🔒", Version: 1<<63 - 1, Expires: -1, Queue: mysql.Some(""), Owner: mysql.Some("")},
		{Resource: `quotes ' " \ ? -- /*`, Version: -1 << 63, Queue: mysql.Some("a,b\x00\n"), Owner: mysql.Some("NULL")},
	} {
		var err error
		want.ID, err = p.Insert(t.Context(), 0, want, 0)
		t.fine("Insert", true, err)
		got, found, _, err := p.Select(t.Context(), 0, want.Resource)
		t.fine("Select", found && got == want, err)
		n, err := p.Delete(t.Context(), 0, mysql.ID|mysql.Resource|mysql.Version|mysql.Expires|mysql.Queue|mysql.Owner, want)
		t.fine("Delete where all agrees", n == 1, err)
	}
}

func unknown(t *tester) {
	p, _, _ := t.newClient()
	h := open(t, p)
	t.run("RENAME TABLE lockcheck." + mysql.Table + " TO lockcheck.elsewhere")
	defer t.run("RENAME TABLE lockcheck.elsewhere TO lockcheck." + mysql.Table)
	_, err := h.Insert(t.Context(), 0, mysql.Row{Resource: "x"}, 0)
	t.fails("a table that is missing", err, mysql.ErrConnectionLost, false)
}
