package client_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/locks"
)

func TestSession(t *testing.T) {
	s := newServer(t)
	s.session = 1<<40 + 3
	h, err := port(client.Options{Addrs: []string{s.addr}}).Open(t.Context(), 0, 300*time.Millisecond)
	must(t, err)
	if h.ID() != s.session || h.Timeout() != time.Second {
		t.Errorf("session %d of %v, want what the server has granted", h.ID(), h.Timeout())
	}
	must(t, h.Close(t.Context(), 0))
	next(t, h, zookeeper.Connected, zookeeper.Closed)
	_, err = h.Next(t.Context(), 0)
	wantErr(t, err, zookeeper.ErrClosed)
	wantErr(t, h.Sync(t.Context(), 0, "/"), zookeeper.ErrClosed)
	wantErr(t, h.Close(t.Context(), 0), zookeeper.ErrClosed)
	if got := s.seen(); !slices.Equal(got, []ask{{1, opClose, ""}}) {
		t.Errorf("the server was asked %v", got)
	}
}

func TestExpiryEndsTheSession(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	if _, _, err := h.Exists(t.Context(), 0, "/none", true); err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.expired = true })
	s.hangUp()
	next(t, h, zookeeper.Disconnected, zookeeper.Expired)
	_, err := h.Next(t.Context(), 0)
	wantErr(t, err, zookeeper.ErrSessionExpired)
	wantErr(t, h.Delete(t.Context(), 0, "/a", 0), zookeeper.ErrSessionExpired)
	start := time.Now()
	wantErr(t, h.Close(t.Context(), 0), zookeeper.ErrSessionExpired)
	took(t, start, 0)
	time.Sleep(wait)
	want := []greeting{{0, string(make([]byte, 16)), 1000}, {7, password, 1000}}
	if got := s.greetings(); !slices.Equal(got, want) {
		t.Errorf("greetings %v, want %v: the session's own, and none for another", got, want)
	}
	if h.ID() != 7 {
		t.Errorf("the session's id is now %d", h.ID())
	}
}

func TestExpiryEndsWhatWaits(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	s.set(func() { s.silent, s.expired = true, true })
	s.hangUp()
	next(t, h, zookeeper.Disconnected)
	done := make(chan error)
	go func() {
		done <- h.Sync(t.Context(), 10*time.Second, "/")
	}()
	s.set(func() { s.silent = false })
	wantErr(t, <-done, zookeeper.ErrSessionExpired)
}

func TestReconnectKeepsPasswordAndWatches(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	for range 20 {
		if _, _, err := h.GetData(t.Context(), 0, "/a", true); err != nil {
			t.Fatal(err)
		}
		s.hangUp()
		next(t, h, zookeeper.Disconnected)
		must(t, h.Sync(t.Context(), 0, "/"))
		next(t, h, zookeeper.Connected)
	}
	for i, g := range s.greetings() {
		if i > 0 && (g.session != 7 || g.password != password) {
			t.Fatalf("greeting %v", g)
		}
	}
	var before ask
	for _, a := range s.seen() {
		if a.conn != 1 && a.conn != before.conn && a.op != opSetWatches {
			t.Fatalf("a connection begins with %v, want the watches", a)
		}
		before = a
	}
}

func TestWatchThatHasFiredIsForgotten(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	if _, _, err := h.Exists(t.Context(), 0, "/none/a", true); err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.tells = []event{{created, "/none/a"}} })
	must(t, h.Sync(t.Context(), 0, "/"))
	s.hangUp()
	next(t, h, zookeeper.NodeCreated, zookeeper.Disconnected, zookeeper.Connected)
	must(t, h.Sync(t.Context(), 0, "/"))
	if slices.ContainsFunc(s.seen(), func(a ask) bool { return a.op == opSetWatches }) {
		t.Error("the watch was set again")
	}
}

func TestNoServer(t *testing.T) {
	hung := newServer(t)
	hung.silent = true
	for _, c := range []struct {
		name  string
		addrs []string
		dial  func(context.Context, string, string) (net.Conn, error)
		want  error
	}{
		{"none listens", []string{deadAddr(t), deadAddr(t)}, nil, zookeeper.ErrNotConnected},
		{"none answers", []string{hung.addr}, nil, zookeeper.ErrTimeout},
		{"dials hang", []string{"192.0.2.1:2181"}, func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, zookeeper.ErrNotConnected},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			_, err := port(client.Options{Addrs: c.addrs, Dial: c.dial}).Open(t.Context(), wait, length)
			wantErr(t, err, c.want)
			took(t, start, wait)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(wait, cancel)
			_, err = port(client.Options{Addrs: c.addrs, Dial: c.dial}).Open(ctx, 0, length)
			wantErr(t, err, locks.Definite(context.Canceled))
		})
	}
	_, err := port(client.Options{}).Open(t.Context(), 0, length)
	if !locks.IsDefinite(err) {
		t.Errorf("no addresses: %v, want a definite error", err)
	}
}

func TestServerThatHangsIsLeft(t *testing.T) {
	a, b := newServer(t), newServer(t)
	b.silent = true
	h := open(t, a.addr, b.addr)
	start := time.Now()
	a.hangUp()
	next(t, h, zookeeper.Disconnected, zookeeper.Connected)
	took(t, start, length/2)
}

// Close waits for a connection, and for the watches that are sent first on it.
func TestCloseWaitsForAConnection(t *testing.T) {
	s := newServer(t)
	h := open(t, s.addr)
	if _, _, err := h.GetData(t.Context(), 0, "/a", true); err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.silent = true })
	s.hangUp()
	next(t, h, zookeeper.Disconnected)
	time.AfterFunc(wait, func() {
		s.set(func() { s.silent = false })
		s.hangUp()
	})
	must(t, h.Close(t.Context(), 0))
	next(t, h, zookeeper.Connected, zookeeper.Closed)
	if got := s.seen(); got[len(got)-1].op != opClose {
		t.Errorf("the server was asked %v", got)
	}
}

func TestCloseIsQuickWhateverTheServersDo(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*server)
		want   error
	}{
		"no answer":    {func(s *server) { s.set(func() { s.decide = func(ask) fate { return swallow } }) }, zookeeper.ErrTimeout},
		"hangs up":     {func(s *server) { s.set(func() { s.decide = func(ask) fate { return hangUp } }) }, zookeeper.ErrConnectionLoss},
		"no server":    {func(s *server) { s.listener.Close(); s.hangUp() }, zookeeper.ErrNotConnected},
		"silent again": {func(s *server) { s.set(func() { s.silent = true }); s.hangUp() }, zookeeper.ErrNotConnected},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			h := open(t, s.addr)
			c.before(s)
			if errors.Is(c.want, zookeeper.ErrNotConnected) {
				next(t, h, zookeeper.Disconnected)
			}
			start := time.Now()
			wantErr(t, h.Close(t.Context(), wait), c.want)
			if d := time.Since(start); d > wait+2500*time.Millisecond {
				t.Errorf("took %v", d)
			}
			if e, err := h.Next(t.Context(), 0); err == nil && e.Type == zookeeper.Disconnected {
				next(t, h, zookeeper.Closed)
			} else if err != nil || e.Type != zookeeper.Closed {
				t.Errorf("the last event is %v, %v", e, err)
			}
			wantErr(t, h.Sync(t.Context(), 0, "/"), zookeeper.ErrClosed)
			time.Sleep(wait)
			goleak.VerifyNone(t, goleak.IgnoreAnyFunction("github.com/lockcheck/lockcheck/internal/stores/zookeeper/client_test.(*server).serve"),
				goleak.IgnoreAnyFunction("github.com/lockcheck/lockcheck/internal/stores/zookeeper/client_test.newServer.func1"))
		})
	}
}

// The end of Life ends all sessions and their waiting calls without notifying the
// ensemble.
func TestLifeEndsSessions(t *testing.T) {
	s := newServer(t)
	life, end := context.WithCancel(t.Context())
	p := port(client.Options{Addrs: []string{s.addr}, Life: life})
	h, err := p.Open(t.Context(), 0, length)
	must(t, err)
	next(t, h, zookeeper.Connected)
	s.set(func() { s.decide = once(loseReply) })
	asked, waited := make(chan error), make(chan error)
	go func() { asked <- h.Sync(t.Context(), 10*time.Second, "/") }()
	go func() {
		var err error
		for err == nil { // earlier events come first
			_, err = h.Next(t.Context(), 0)
		}
		waited <- err
	}()
	for len(s.seen()) == 0 {
		time.Sleep(time.Millisecond)
	}
	end()
	wantErr(t, <-asked, zookeeper.ErrConnectionLoss)
	wantErr(t, <-waited, zookeeper.ErrClosed)
	wantErr(t, h.Sync(t.Context(), 0, "/"), zookeeper.ErrClosed)
	_, err = p.Open(t.Context(), 0, length)
	wantErr(t, err, zookeeper.ErrClosed)
	if got := s.seen(); !slices.Equal(got, []ask{{1, opSync, "/"}}) {
		t.Errorf("the server was asked %v", got)
	}
}
