package client_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/locks"
)

// Wait uses the connection of the caller's previous command, for any number of
// callers.
func TestWaitGoesTheWayOfItsCallersCommandBefore(t *testing.T) {
	l := newLink(t, always(pass))
	p := port(t, client.Options{Addr: l.addr})
	const callers, rounds = 8, 50
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			var who client.Caller
			defer who.Close()
			ctx := client.WithCaller(t.Context(), &who)
			for r := range rounds {
				// The number of replicas does not matter; it identifies the
				// caller.
				name := fmt.Sprint(i*rounds + r)
				if _, err := p.SetNX(ctx, 0, name, "v"); err != nil {
					t.Error(err)
				}
				if r%3 == 0 {
					continue
				}
				if _, err := p.Wait(ctx, 0, i*rounds+r, time.Millisecond); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	over := map[string]int{}
	waits := 0
	for i, q := range l.requests {
		words := strings.Fields(q)
		switch words[0] {
		case "SETNX":
			over[words[1]] = l.over[i]
		case "WAIT":
			if waits++; over[words[1]] != l.over[i] {
				t.Errorf("%s went over connection %d, its SETNX over %d", q, l.over[i], over[words[1]])
			}
		}
	}
	if want := callers * (rounds - (rounds+2)/3); waits != want {
		t.Errorf("%d WAITs, want %d", waits, want)
	}
	if n := len(l.conns); n > callers {
		t.Errorf("%d connections of %d callers", n, callers)
	}
}

// On a new connection Wait would return at once, whatever the outcome of the
// write.
func TestWaitIsNotSentWhereTheWriteWentIsUnknown(t *testing.T) {
	l := newLink(t, firstOnly(loseReply))
	p := port(t, client.Options{Addr: l.addr})
	if _, err := p.SetNX(t.Context(), wait, "k", "v"); err == nil || locks.IsDefinite(err) {
		t.Fatalf("%v, want a lost answer", err)
	}
	if _, err := p.Wait(t.Context(), 0, 1, time.Millisecond); !locks.IsDefinite(err) {
		t.Errorf("%v, want a definite error", err)
	}
	if _, err := p.Del(t.Context(), 0, "k"); err != nil {
		t.Fatal(err)
	}
	l.hangUp()
	if _, err := p.Wait(t.Context(), 0, 1, time.Millisecond); err == nil {
		t.Error("the connection is lost, but Wait got an answer")
	}
	for _, q := range l.seen() {
		if strings.HasPrefix(q, "WAIT") {
			t.Errorf("%s was sent", q)
		}
	}
	again := port(t, client.Options{Addr: l.addr, Retries: 3})
	if _, err := again.Wait(t.Context(), 0, 1, time.Millisecond); !locks.IsDefinite(err) {
		t.Errorf("with retries: %v, want a definite error", err)
	}
}

// A kept connection that has ended is not used again.
func TestAKeptConnectionIsLookedAtBeforeItIsUsedAgain(t *testing.T) {
	l := newLink(t, always(pass))
	p := port(t, client.Options{Addr: l.addr})
	for range 3 {
		if _, err := p.Do(t.Context(), 0, redis.Command{Verb: redis.Incr, Key: "n"}); err != nil {
			t.Error(err)
		}
		l.hangUp()
		time.Sleep(wait / 10)
	}
}
