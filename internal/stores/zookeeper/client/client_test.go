package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/locks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	wait   = 50 * time.Millisecond
	length = time.Second
)

// deadAddr is an address at which nothing listens.
func deadAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func port(o client.Options) zookeeper.Port { return zookeeper.Port{Transport: client.New(o)} }

// open opens a session that ends with the test, and takes its first event.
func open(t *testing.T, addrs ...string) zookeeper.Handle {
	t.Helper()
	h, err := port(client.Options{Addrs: addrs}).Open(t.Context(), 0, length)
	must(t, err)
	t.Cleanup(func() { h.Close(context.Background(), wait) })
	next(t, h, zookeeper.Connected)
	return h
}

// next asserts the types of the next events.
func next(t *testing.T, h zookeeper.Handle, types ...zookeeper.EventType) {
	t.Helper()
	for _, want := range types {
		e, err := h.Next(t.Context(), patience)
		if err != nil || e.Type != want {
			t.Fatalf("the next event is %v, %v; want %v", e, err, want)
		}
	}
}

// took fails t unless d has passed since start, and less than 3 s more, the
// timeout of a call without one.
func took(t *testing.T, start time.Time, d time.Duration) {
	t.Helper()
	if got := time.Since(start); got < d || got > d+2500*time.Millisecond {
		t.Errorf("took %v, want %v", got, d)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantErr asserts that err is want, and equally definite.
func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || locks.IsDefinite(err) != locks.IsDefinite(want) {
		t.Errorf("got %v (definite: %v), want %v", err, locks.IsDefinite(err), want)
	}
}

// once returns f for the first request and pass for the others.
func once(f fate) func(ask) fate {
	return func(ask) fate {
		now := f
		f = pass
		return now
	}
}

// Without an answer it is unknown whether the request was executed. The session
// continues.
func TestLostAnswer(t *testing.T) {
	for _, c := range []struct {
		name     string
		fate     fate
		want     error
		executed bool
		loss     bool
	}{
		{"request lost", swallow, zookeeper.ErrTimeout, false, false},
		{"reply lost", loseReply, zookeeper.ErrTimeout, true, false},
		{"connection lost after it was executed", hangUp, zookeeper.ErrConnectionLoss, true, true},
		{"connection lost before", drop, zookeeper.ErrConnectionLoss, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			s.decide = once(c.fate)
			h := open(t, s.addr)
			timeout := wait
			if c.loss {
				timeout = 5 * time.Second // longer than the request takes
			}
			_, err := h.Create(t.Context(), timeout, "/a", "", zookeeper.Ephemeral)
			wantErr(t, err, c.want)
			if got := len(s.done()) > 0; got != c.executed {
				t.Errorf("executed: %v", got)
			}
			if c.loss {
				next(t, h, zookeeper.Disconnected, zookeeper.Connected)
			}
			if got, err := h.Create(t.Context(), 0, "/b", "", zookeeper.Ephemeral); got != "/b" || err != nil {
				t.Errorf("the next request got %q, %v", got, err)
			}
			if n := len(s.seen()); n != 2 {
				t.Errorf("%d requests were sent, want 2", n)
			}
		})
	}
}

func TestLateReplyIsThrownAway(t *testing.T) {
	s := newServer(t)
	s.decide = once(late)
	h := open(t, s.addr)
	_, _, err := h.GetData(t.Context(), wait, "/a", true)
	wantErr(t, err, zookeeper.ErrTimeout)
	if got, _, err := h.GetData(t.Context(), 0, "/b", false); got != "/b" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// An event comes once, even if a server sends it for each of two watches.
func TestEventComesBeforeTheReplyThatFollowsIt(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	for range 100 {
		if _, _, err := h.GetData(t.Context(), 0, "/a", true); err != nil {
			t.Fatal(err)
		}
		if _, there, err := h.Exists(t.Context(), 0, "/none", true); there || err != nil {
			t.Fatal(there, err)
		}
		s.set(func() { s.tells = []event{{deleted, "/a"}, {deleted, "/a"}, {created, "/none"}} })
		if _, err := h.GetChildren(t.Context(), 0, "/", true); err != nil {
			t.Fatal(err)
		}
		for _, want := range []zookeeper.Event{{Type: zookeeper.NodeDeleted, Path: "/a"}, {Type: zookeeper.NodeCreated, Path: "/none"}} {
			if e, err := h.Next(t.Context(), time.Nanosecond); e != want && !errors.Is(err, zookeeper.ErrNoEvent) {
				t.Fatalf("got %v, %v; want %v", e, err, want)
			} else if err != nil {
				t.Fatal("the reply came first")
			}
		}
	}
}

// A request that waits for a connection when the session expires was never sent.
// A fired watch is over and does not delay a reconnect. A server that accepts
// connections but stays silent does not cost the session: the client tries the
// next one in time.
func TestRequestsWaitForAConnection(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	s.set(func() { s.silent = true })
	s.hangUp()
	next(t, h, zookeeper.Disconnected)
	start := time.Now()
	_, err := h.Create(t.Context(), wait, "/never", "", 0)
	wantErr(t, err, zookeeper.ErrNotConnected)
	took(t, start, wait)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	_, err = h.Create(ctx, 0, "/neither", "", 0)
	wantErr(t, err, locks.Definite(context.DeadlineExceeded))
	time.AfterFunc(wait, func() {
		s.set(func() { s.silent = false })
		s.hangUp()
	})
	if _, err := h.Create(t.Context(), 0, "/a", "", 0); err != nil {
		t.Error(err)
	}
	next(t, h, zookeeper.Connected) // and no second loss before
	if got := s.seen(); !slices.Equal(got, []ask{{got[0].conn, opCreate, "/a"}}) {
		t.Errorf("sent %v, want only the request without a timeout", got)
	}
}

// Earlier requests get their answers before the session ends.
func TestCloseComesAfterWhatWasAsked(t *testing.T) {
	s := newServer(t)
	s.decide = once(late)
	h := open(t, s.addr)
	done := make(chan error)
	go func() { done <- h.Sync(t.Context(), 0, "/") }()
	for len(s.seen()) == 0 {
		time.Sleep(time.Millisecond)
	}
	must(t, h.Close(t.Context(), 0))
	must(t, <-done)
}

func TestContextKeepsARequestFromBeingSent(t *testing.T) {
	s := newServer(t)
	s.decide = once(late)
	h := open(t, s.addr)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(wait, cancel)
	start := time.Now()
	wantErr(t, h.Sync(ctx, 2*wait, "/"), zookeeper.ErrTimeout)
	took(t, start, 2*wait)
	wantErr(t, h.Sync(ctx, 0, "/"), locks.Definite(context.Canceled))
	if n := len(s.seen()); n != 1 {
		t.Errorf("%d requests were sent, want 1", n)
	}
}

func TestRefusals(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	wantErr(t, h.Delete(t.Context(), 0, "a//b", 0), locks.Definite(zookeeper.BadArguments))
	for _, code := range []zookeeper.Code{
		zookeeper.BadArguments, zookeeper.NoNode, zookeeper.BadVersion,
		zookeeper.NoChildrenForEphemerals, zookeeper.NodeExists, zookeeper.NotEmpty,
	} {
		wantErr(t, h.Delete(t.Context(), 0, fmt.Sprintf("/code%d", code), 0), locks.Definite(code))
	}
	wantErr(t, h.Delete(t.Context(), 0, "/code-112", 0), zookeeper.ErrSessionExpired)
	wantErr(t, h.Delete(t.Context(), 0, "/code-7", 0), zookeeper.ErrProtocol) // the code of "operation timed out"
	if _, err := h.Do(t.Context(), 0, zookeeper.Command{}); !locks.IsDefinite(err) {
		t.Errorf("an unknown verb: %v, want a definite error", err)
	}
	if _, err := h.Create(t.Context(), 0, "/a", "", 9); !locks.IsDefinite(err) {
		t.Errorf("an unknown mode: %v, want a definite error", err)
	}
	if _, err := h.Create(t.Context(), 0, "/a", string(make([]byte, 2<<20)), 0); !locks.IsDefinite(err) {
		t.Errorf("too much data: %v, want a definite error", err)
	}
}

// Connections come and go while tasks make requests. A request with a definite
// error was not executed, one with a reply was, and each was executed at most
// once.
func TestManyTasks(t *testing.T) {
	a, b := newServer(t), newServer(t)
	h := open(t, a.addr, b.addr)
	stop := make(chan struct{})
	var cutting, all sync.WaitGroup
	cutting.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
				a.hangUp()
				b.hangUp()
			}
		}
	})
	const tasks, rounds = 6, 60
	errs := make([][rounds]error, tasks)
	for i := range tasks {
		all.Go(func() {
			for r := range rounds {
				path := fmt.Sprintf("/%d-%d", i, r)
				timeout := time.Duration(1+rand.IntN(20)) * time.Millisecond
				if r%2 == 0 {
					_, errs[i][r] = h.Create(t.Context(), timeout, path, "", 0)
				} else {
					_, _, errs[i][r] = h.GetData(t.Context(), timeout, path, true)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	cutting.Wait()
	times := map[string]int{}
	for _, x := range append(a.seen(), b.seen()...) {
		times[x.path]++
	}
	tally := map[string]int{}
	for i := range tasks {
		for r, err := range errs[i] {
			tally[fmt.Sprint(err)]++
			n := times[fmt.Sprintf("/%d-%d", i, r)]
			if n > 1 || err == nil && n != 1 || locks.IsDefinite(err) && n != 0 {
				t.Errorf("%v, and executed %d times", err, n)
			}
		}
	}
	t.Log(tally)
}
