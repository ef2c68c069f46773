package redis_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

// fencedLocks returns every lock with its node's answers to an acquire.
func fencedLocks() map[string]fencedLock {
	one := func(create makeLock, answers ...any) fencedLock {
		return fencedLock{func(d *desk, o redislocks.Options) locks.Locker { return create(d, d.port(), o) }, answers}
	}
	m := map[string]fencedLock{
		"setnx":              one(redislocks.NewSetNX, nil),
		"setnx-expire":       one(redislocks.NewSetNXExpire, nil, nil),
		"setnx-getset":       one(redislocks.NewSetNXGetSet, nil),
		"setnx-getset-fixed": one(redislocks.NewSetNXGetSetFixed, nil),
		"setnx-del-stale":    one(redislocks.NewSetNXDelStale, nil),
		"set-del":            one(redislocks.NewSetDel, nil),
		"set-get-del":        one(redislocks.NewSetGetDel, nil),
		"set-lua":            one(redislocks.NewSetLua, nil),
		"set-lua-wait":       one(redislocks.NewSetLuaWait, nil, reply(1)),
		"watchdog":           one(redislocks.NewWatchdog, nil),
		"watchdog-blind":     one(redislocks.NewWatchdogBlind, nil),
	}
	for name, create := range redlocks {
		m[name] = fencedLock{func(d *desk, o redislocks.Options) locks.Locker { return create(d, d.ports(), o) }, []any{nil}}
	}
	return m
}

type fencedLock struct {
	create  func(*desk, redislocks.Options) locks.Locker
	answers []any
}

// on returns a desk for the lock. Its node first answers as the lock needs it,
// then with what. The server of tokens answers with token.
func (f fencedLock) on(t *testing.T, token any, what ...any) (*desk, locks.Locker) {
	d := newDesk(t, slices.Concat(f.answers, what)...)
	tokens := d.node("tokens: ")
	tokens.answers = []any{token}
	return d, f.create(d, redislocks.Options{TTL: 10 * time.Second, Tokens: redis.Port{Transport: tokens}})
}

// A token from a separate server is drawn after the lock is acquired. If that
// fails the lock is released.
func TestATokenOfItsOwnServer(t *testing.T) {
	for name, f := range fencedLocks() {
		t.Run(name, func(t *testing.T) {
			d, l := f.on(t, reply(7))
			if got := take(t, l).(locks.Fencer).Token(); got != 7 || len(d.sent) != len(f.answers)+1 || d.sent[len(f.answers)] != "tokens: INCR {a}:token" {
				t.Errorf("token %d of %q", got, d.sent)
			}
			for _, failure := range []any{errLost, errNever} {
				d, l = f.on(t, failure)
				if _, err := l.Acquire(t.Context(), "a"); !locks.IsDefinite(err) || d.nodes[0].value() != "" {
					t.Errorf("%v, and the key holds %q", err, d.nodes[0].value())
				}
				if d.Pass(time.Minute); len(d.sent) != len(f.answers)+2 {
					t.Errorf("after the release: %q", d.sent)
				}
				_, l = f.on(t, failure, errLost)
				if _, err := l.Acquire(t.Context(), "a"); err == nil || locks.IsDefinite(err) {
					t.Errorf("%v is definite, but the key may exist", err)
				}
			}
		})
	}
}

// An unused grant is released even after the end of the caller's context.
func TestWhatIsNotUsedIsGivenBackLate(t *testing.T) {
	for name, f := range fencedLocks() {
		d, l := f.on(t, nil)
		_, err := l.Acquire(d.Ends(time.Duration(len(f.answers))*time.Millisecond), "a")
		if !locks.IsDefinite(err) || d.nodes[0].value() != "" || len(d.sent) != len(f.answers)+1 {
			t.Errorf("%s: %v, the key holds %q, sent %q", name, err, d.nodes[0].value(), d.sent)
		}
	}
}
