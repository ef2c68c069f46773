package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/locks"
)

func TestMain(m *testing.M) {
	goredis.SetLogger(new(logging.VoidLogger)) // it would report every failed dial on stderr
	goleak.VerifyTestMain(m)
}

// port returns a port through a client that is closed with the test.
func port(t *testing.T, o client.Options) redis.Port {
	t.Helper()
	c := client.New(o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return redis.Port{Transport: c}
}

// deadAddr is an address at which nothing listens.
func deadAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// took fails t unless d has passed since start, and less than 3 s more, the
// timeout of a call without one.
func took(t *testing.T, start time.Time, d time.Duration) {
	t.Helper()
	if got := time.Since(start); got < d || got > d+2*time.Second {
		t.Errorf("took %v, want %v", got, d)
	}
}

// fails asserts the error (nil: any) and whether it is definite.
func fails(t *testing.T, err, want error, definite bool) {
	t.Helper()
	if err == nil || want != nil && !errors.Is(err, want) || locks.IsDefinite(err) != definite {
		t.Errorf("got error %v (definite: %v), want %v (%v)", err, locks.IsDefinite(err), want, definite)
	}
}

// wait is the timeout of a call that gets no answer. It is long enough for the
// call to reach the server on a busy machine.
const wait = 500 * time.Millisecond

func TestWireCarriesTheCommandAlone(t *testing.T) {
	l := newLink(t, always(pass))
	p := port(t, client.Options{Addr: l.addr})
	if ok, err := p.SetIfAbsent(t.Context(), 0, "k", "v", time.Second); !ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	if _, err := p.CompareAndDelete(t.Context(), 0, "k", "v"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"hello 2", "SET k v NX PX 1000",
		"EVAL " + redis.CompareAndDelete.Script() + " 1 k v",
	}
	if !slices.Equal(l.requests, want) {
		t.Errorf("on the wire: %q, want %q", l.requests, want)
	}
}

func TestNoServerIsDefinite(t *testing.T) {
	for _, retries := range []int{0, 3} {
		p := port(t, client.Options{Addr: deadAddr(t), Retries: retries})
		_, err := p.SetNX(t.Context(), 0, "k", "v")
		fails(t, err, nil, true)
	}
}

// After as many failures as the pool has connections go-redis no longer dials for
// calls, but only once a second.
func TestServerThatComesBackIsSeenAtOnce(t *testing.T) {
	addr, up := newLink(t, always(pass)).addr, false
	p := port(t, client.Options{Addr: addr, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !up {
			return nil, errors.New("no route")
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}})
	for range 500 {
		if _, err := p.Incr(t.Context(), 0, "n"); !locks.IsDefinite(err) {
			t.Fatalf("%v, want a definite error", err)
		}
	}
	up = true
	if _, err := p.Incr(t.Context(), 0, "n"); err != nil {
		t.Error(err)
	}
}

func TestNoGreetingIsDefiniteInTime(t *testing.T) {
	l := newLink(t, func([]string) fate { return swallow })
	dialing := make(chan struct{}, 9)
	for _, o := range []client.Options{
		{Addr: l.addr}, // a server that does not greet
		{Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { // a dial that hangs
			dialing <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	} {
		p := port(t, o)
		start := time.Now()
		_, err := p.SetNX(t.Context(), wait, "k", "v")
		took(t, start, wait)
		fails(t, err, os.ErrDeadlineExceeded, true)
	}
	if seen := l.seen(); len(seen) != 0 {
		t.Errorf("%q was sent", seen)
	}
	<-dialing
}

// Without an answer it is unknown whether the command was executed.
func TestLostAnswerIsUncertain(t *testing.T) {
	for name, f := range map[string]fate{"request lost": swallow, "reply lost": loseReply, "connection lost": hangUp} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t, firstOnly(f))
			p := port(t, client.Options{Addr: l.addr})
			start := time.Now()
			_, err := p.SetNX(t.Context(), wait, "k", "v")
			if f != hangUp {
				took(t, start, wait)
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%v, want os.ErrDeadlineExceeded", err)
				}
			}
			fails(t, err, nil, false)
			if seen := l.seen(); len(seen) != 1 {
				t.Errorf("sent %q, want it once", seen)
			}
			if got := l.server.Exists("k"); got != (f != swallow) {
				t.Errorf("executed: %v", got)
			}
			// The connection is not used again: its answer may still arrive.
			if v, ok, err := p.Get(t.Context(), 0, "other"); v != "" || ok || err != nil {
				t.Errorf("the next call got %q, %v, %v", v, ok, err)
			}
		})
	}
}

// This is the effect of go-redis's default on a lock: the retry finds the key of
// the first attempt and reports that another client has it.
func TestRetryTurnsALostAnswerIntoNo(t *testing.T) {
	for name, f := range map[string]fate{"reply lost": loseReply, "connection lost": hangUp} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t, firstOnly(f))
			p := port(t, client.Options{Addr: l.addr, Retries: 3})
			set, err := p.SetIfAbsent(t.Context(), wait, "k", "v", 0)
			if set || err != nil {
				t.Errorf("got %v, %v; want the wrong definite false", set, err)
			}
			if v, _ := l.server.Get("k"); v != "v" {
				t.Errorf("the key holds %q, want ours", v)
			}
			if seen := l.seen(); len(seen) != 2 {
				t.Errorf("sent %q, want it twice", seen)
			}
		})
	}
}

func TestRetriesEndUncertain(t *testing.T) {
	l := newLink(t, always(swallow))
	p := port(t, client.Options{Addr: l.addr, Retries: 3})
	start := time.Now()
	_, err := p.SetNX(t.Context(), wait, "k", "v")
	fails(t, err, nil, false)
	if seen := l.seen(); len(seen) != 4 {
		t.Errorf("sent %d times, want 4", len(seen))
	}
	if d := time.Since(start); d < 4*wait {
		t.Errorf("took %v, want %v for each of 4 attempts", d, wait)
	}
}

// After one attempt has been sent, a later attempt without a connection does not
// make the error definite.
func TestRetryThatCannotDialStaysUncertain(t *testing.T) {
	l := newLink(t, always(loseReply))
	dials := 0
	p := port(t, client.Options{Addr: l.addr, Retries: 1, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials++; dials > 1 {
			return nil, errors.New("no route")
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}})
	_, err := p.SetNX(t.Context(), wait, "k", "v")
	fails(t, err, nil, false)
}

func TestContextEndsTheCall(t *testing.T) {
	for _, retries := range []int{0, 3} {
		l := newLink(t, always(loseReply))
		p := port(t, client.Options{Addr: l.addr, Retries: retries})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		_, err := p.SetNX(ctx, time.Minute, "k", "v")
		took(t, start, wait)
		fails(t, err, context.DeadlineExceeded, false)

		ctx, cancel = context.WithCancel(t.Context())
		start = time.Now()
		time.AfterFunc(wait, cancel)
		_, err = p.SetNX(ctx, 10*wait, "k", "v")
		took(t, start, wait)
		fails(t, err, context.Canceled, false)

		_, err = p.SetNX(ctx, time.Minute, "k", "v")
		fails(t, err, context.Canceled, true)
	}
}

// A call that gave up before its connection was ready is never sent.
func TestCallGivenUpIsNotSentLater(t *testing.T) {
	l := newLink(t, always(pass))
	release := make(chan struct{})
	p := port(t, client.Options{Addr: l.addr, Retries: 3, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		<-release
		return new(net.Dialer).DialContext(ctx, network, addr)
	}})
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if _, err := p.SetNX(ctx, 0, "k", "v"); !locks.IsDefinite(err) {
		t.Errorf("%v, want a definite error", err)
	}
	close(release)
	if _, _, err := p.Get(t.Context(), 0, "k"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	if seen := l.seen(); !slices.Equal(seen, []string{"GET k"}) {
		t.Errorf("sent %q", seen)
	}
}

func TestUnknownVerbIsDefinite(t *testing.T) {
	p := port(t, client.Options{Addr: deadAddr(t)})
	if _, err := p.Do(t.Context(), 0, redis.Command{}); !locks.IsDefinite(err) || !strings.Contains(err.Error(), "no such command") {
		t.Errorf("got %v", err)
	}
}

func TestClose(t *testing.T) {
	for _, retries := range []int{0, 3} {
		l := newLink(t, always(swallow))
		c := client.New(client.Options{Addr: l.addr, Retries: retries})
		done := make(chan error)
		go func() {
			_, err := c.Do(t.Context(), time.Minute, redis.Command{Verb: redis.Incr, Key: "n"})
			done <- err
		}()
		for len(l.seen()) == 0 {
			time.Sleep(time.Millisecond)
		}
		start := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-done; locks.IsDefinite(err) || !errors.Is(err, client.ErrClosed) {
			t.Errorf("the call under way: %v, want ErrClosed, not definite", err)
		}
		took(t, start, 0)
		if _, err := c.Do(t.Context(), 0, redis.Command{Verb: redis.Incr, Key: "n"}); !locks.IsDefinite(err) || !errors.Is(err, client.ErrClosed) {
			t.Errorf("a call later: %v, want a definite ErrClosed", err)
		}
	}
}
