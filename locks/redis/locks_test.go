package redis_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

// Each lock sends exactly the requests of its recipe.
func TestRecipes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		new     makeLock
		options redislocks.Options
		answers []any
		sent    []string
	}{
		{"SETNX", redislocks.NewSetNX, redislocks.Options{}, nil, []string{"SETNX a id1", "DEL a"}},
		{"SETNX, EXPIRE", redislocks.NewSetNXExpire, redislocks.Options{}, nil, []string{"SETNX a id1", "PEXPIRE a 10000", "DEL a"}},
		{"SET NX PX, DEL", redislocks.NewSetDel, redislocks.Options{}, nil, []string{"SET a id1 NX PX 10000", "DEL a"}},
		{"SET NX PX, GET, DEL", redislocks.NewSetGetDel, redislocks.Options{}, nil, []string{"SET a id1 NX PX 10000", "GET a", "DEL a"}},
		{"SET NX PX, script", redislocks.NewSetLua, redislocks.Options{}, nil, []string{"SET a id1 NX PX 10000", "script a id1"}},
		{"SET NX PX, WAIT", redislocks.NewSetLuaWait, redislocks.Options{}, []any{nil, reply(1)}, []string{"SET a id1 NX PX 10000", "WAIT 1 500", "script a id1"}},
		{"watchdog", redislocks.NewWatchdog, redislocks.Options{}, nil, []string{"SET a id1 NX PX 10000", "script a id1"}},
		{"blind watchdog", redislocks.NewWatchdogBlind, redislocks.Options{}, nil, []string{"SET a id1 NX PX 10000", "script a id1"}},
		{"SETNX, GETSET", redislocks.NewSetNXGetSet, redislocks.Options{}, nil, []string{"SETNX a 11000", "GET a"}},
		{"SETNX, GETSET, fixed", redislocks.NewSetNXGetSetFixed, redislocks.Options{}, nil, []string{"SETNX a 11000", "GET a", "DEL a"}},
		{"SETNX, DEL of an expired key", redislocks.NewSetNXDelStale, redislocks.Options{}, nil, []string{"SETNX a 11000", "GET a", "DEL a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.answers...)
			tt.options.TTL = 10 * time.Second
			lease := take(t, tt.new(d, d.port(), tt.options))
			must(t, lease.Release(t.Context()))
			if !slices.Equal(d.sent, tt.sent) {
				t.Errorf("sent %q, want %q", d.sent, tt.sent)
			}
		})
	}
}

// A bare DEL needs no lease: a refused client can send it as well.
func TestReleaseByName(t *testing.T) {
	for _, create := range []makeLock{redislocks.NewSetNX, redislocks.NewSetNXExpire, redislocks.NewSetDel} {
		d := newDesk(t, reply(0))
		err := create(d, d.port(), redislocks.Options{TTL: time.Second}).(locks.NameReleaser).ReleaseName(t.Context(), "a")
		if !errors.Is(err, locks.ErrNotHeld) || !slices.Equal(d.sent, []string{"DEL a"}) {
			t.Errorf("%v after %q", err, d.sent)
		}
	}
	if _, ok := redislocks.NewSetLua(newDesk(t), newDesk(t).port(), redislocks.Options{}).(locks.NameReleaser); ok {
		t.Error("a compare-and-delete needs a value")
	}
}

// The token is drawn in the same step as the grant.
func TestTokensComeWithTheGrant(t *testing.T) {
	for _, create := range []makeLock{redislocks.NewSetNX, redislocks.NewSetNXExpire, redislocks.NewSetDel, redislocks.NewSetGetDel, redislocks.NewSetLua, redislocks.NewWatchdog, redislocks.NewWatchdogBlind} {
		d := newDesk(t, reply(34))
		lease := take(t, create(d, d.port(), redislocks.Options{TTL: time.Second, Token: true}))
		if token := lease.(locks.Fencer).Token(); token != 34 || !strings.HasPrefix(d.sent[0], "script a {a}:token") {
			t.Errorf("token %d from %q", token, d.sent)
		}
	}
}

// A lease counts from just before the request that set the expiry, in the try
// that succeeded.
func TestUntil(t *testing.T) {
	no := redis.Reply{Kind: redis.Nil}
	for _, tt := range []struct {
		name    string
		new     makeLock
		zero    bool // the option ZeroTTL
		answers []any
		want    time.Duration
	}{
		// Each request takes a millisecond.
		{"after two tries and two waits of T/100", redislocks.NewSetLua, false, []any{no, no}, 2*101*time.Millisecond + 10*time.Second},
		{"PEXPIRE sets the expiry, SETNX does not", redislocks.NewSetNXExpire, false, nil, time.Millisecond + 10*time.Second},
		{"a lock without a lease", redislocks.NewSetNX, false, nil, 0},
		{"a key that never expires", redislocks.NewSetLua, true, nil, 0},
	} {
		d := newDesk(t, tt.answers...)
		lease := take(t, tt.new(d, d.port(), redislocks.Options{TTL: 10 * time.Second, ZeroTTL: tt.zero}))
		if got := until(lease); got != tt.want {
			t.Errorf("%s: until %v, want %v", tt.name, got, tt.want)
		}
	}
}

// An error is definite exactly if the outcome is certain.
func TestWhatAnAcquireKnows(t *testing.T) {
	no, set := reply(0), reply(1)
	for _, tt := range []struct {
		name     string
		answers  []any
		definite bool
	}{
		{"a request without an answer", []any{errLost}, false},
		{"a request that was never sent", []any{errNever}, true},
		{"refused, then never sent", []any{no, errNever}, true},
		{"refused, then no answer", []any{no, errLost}, false},
		{"set, and the expiry without an answer", []any{set, errLost}, false},
		{"set, and the expiry never sent: the key is there", []any{set, errNever}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.answers...)
			_, err := redislocks.NewSetNXExpire(d, d.port(), redislocks.Options{TTL: time.Second}).Acquire(t.Context(), "a")
			if err == nil || locks.IsDefinite(err) != tt.definite {
				t.Errorf("%v, definite %v", err, locks.IsDefinite(err))
			}
		})
	}
	d := newDesk(t)
	d.nodes[0].holds("other", 0)
	_, err := redislocks.NewSetLua(d, d.port(), redislocks.Options{TTL: time.Second}).Acquire(d.Ends(time.Second), "a")
	if !errors.Is(err, locks.ErrNotAcquired) {
		t.Errorf("a wait with an answer returns %v", err)
	}
}

func TestAReleaseWithoutAnEntryReturnsErrNotHeld(t *testing.T) {
	for name, tt := range map[string]struct {
		new    makeLock
		answer redis.Reply
	}{
		"DEL of a missing key":    {redislocks.NewSetDel, redis.Reply{Kind: redis.Int}},
		"GET of a missing key":    {redislocks.NewSetGetDel, redis.Reply{Kind: redis.Nil}},
		"GET of another value":    {redislocks.NewSetGetDel, redis.Reply{Kind: redis.Bulk, Str: "other"}},
		"script of a missing key": {redislocks.NewSetLua, redis.Reply{Kind: redis.Int}},
	} {
		d := newDesk(t)
		lease := take(t, tt.new(d, d.port(), redislocks.Options{TTL: time.Second}))
		d.nodes[0].answers = []any{tt.answer}
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("%s: %v", name, err)
		}
		if len(d.sent) != 2 {
			t.Errorf("%s: sent %q", name, d.sent)
		}
	}
}

func TestValues(t *testing.T) {
	for reuse, want := range map[bool][]string{false: {"id1", "id2"}, true: {"id1", "id1"}} {
		d := newDesk(t)
		l := redislocks.NewSetLua(d, d.port(), redislocks.Options{TTL: time.Second, ReuseID: reuse})
		for i := range want {
			take(t, l)
			if got := strings.Fields(d.sent[i])[2]; got != want[i] {
				t.Errorf("reuse %v: acquisition %d wrote %s, want %s", reuse, i+1, got, want[i])
			}
		}
	}
}
