package redis_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// desk is a host and a transport on which a test sees every request, and
// answers it.
type desk struct {
	sent    []string
	answers []any // redis.Reply or error, for the requests in order; then OK or 1
	now     time.Duration
	end     time.Duration // of the acquire's context
	uniques int
}

func (d *desk) Now() time.Time      { return time.Unix(0, 0).Add(d.now) }
func (d *desk) Mono() time.Duration { return d.now }
func (d *desk) Sleep(_ context.Context, t time.Duration) error {
	d.now += t
	if d.end > 0 && d.now >= d.end {
		return context.DeadlineExceeded
	}
	return nil
}

func (d *desk) Backoff(ctx context.Context, shortest, _ time.Duration) error {
	return d.Sleep(ctx, shortest)
}
func (d *desk) Mark(string, ...int64)    {}
func (d *desk) Rand(string, int64) int64 { return 0 }
func (d *desk) Unique() string           { d.uniques++; return "id" + string(rune('0'+d.uniques)) }

func (d *desk) Do(_ context.Context, _ time.Duration, c redis.Command) (redis.Reply, error) {
	words := slices.Clone(c.Args())
	if c.Verb.Script() != "" {
		words = append([]string{"script"}, words[3:]...) // EVAL text numkeys
	}
	d.sent = append(d.sent, strings.Join(words, " "))
	d.now += time.Millisecond
	if len(d.answers) > 0 {
		a := d.answers[0]
		d.answers = d.answers[1:]
		if err, ok := a.(error); ok {
			return redis.Reply{}, err
		}
		return a.(redis.Reply), nil
	}
	switch c.Verb {
	case redis.Set:
		return redis.Reply{Kind: redis.Status, Str: "OK"}, nil
	case redis.Get:
		return redis.Reply{Kind: redis.Bulk, Str: "id1"}, nil
	default:
		return redis.Reply{Kind: redis.Int, Int: 1}, nil
	}
}

type makeLock func(locks.Host, redis.Port, redislocks.Options) locks.Locker

// Each lock sends what its recipe says, and nothing else.
func TestRecipes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		new     makeLock
		options redislocks.Options
		sent    []string
	}{
		{"SETNX", redislocks.NewSetNX, redislocks.Options{}, []string{"SETNX a id1", "DEL a"}},
		{"SETNX, EXPIRE", redislocks.NewSetNXExpire, redislocks.Options{}, []string{"SETNX a id1", "PEXPIRE a 10000", "DEL a"}},
		{"SET NX PX, DEL", redislocks.NewSetDel, redislocks.Options{}, []string{"SET a id1 NX PX 10000", "DEL a"}},
		{"SET NX PX, GET, DEL", redislocks.NewSetGetDel, redislocks.Options{}, []string{"SET a id1 NX PX 10000", "GET a", "DEL a"}},
		{"SET NX PX, script", redislocks.NewSetLua, redislocks.Options{}, []string{"SET a id1 NX PX 10000", "script a id1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &desk{}
			tt.options.TTL = 10 * time.Second
			l := tt.new(d, redis.Port{Transport: d}, tt.options)
			lease, err := l.Acquire(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(d.sent, tt.sent) {
				t.Errorf("sent %q, want %q", d.sent, tt.sent)
			}
		})
	}
}

// The token is drawn in the same step as the grant.
func TestTokensComeWithTheGrant(t *testing.T) {
	for _, create := range []makeLock{redislocks.NewSetNX, redislocks.NewSetNXExpire, redislocks.NewSetDel, redislocks.NewSetGetDel, redislocks.NewSetLua} {
		d := &desk{answers: []any{redis.Reply{Kind: redis.Int, Int: 34}}}
		lease, err := create(d, redis.Port{Transport: d}, redislocks.Options{TTL: time.Second, Token: true}).Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if token := lease.(locks.Fencer).Token(); token != 34 || !strings.HasPrefix(d.sent[0], "script a {a}:token") {
			t.Errorf("token %d from %q", token, d.sent)
		}
	}
}

// A lease counts from just before the request that set the expiry was sent, of
// the try that succeeded.
func TestUntil(t *testing.T) {
	no := redis.Reply{Kind: redis.Nil}
	d := &desk{answers: []any{no, no}}
	lease, err := redislocks.NewSetLua(d, redis.Port{Transport: d}, redislocks.Options{TTL: 10 * time.Second}).Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	// Two tries and two waits of T/100 before; each request takes a millisecond.
	if want := 2*101*time.Millisecond + 10*time.Second; lease.(locks.Deadliner).Until() != want {
		t.Errorf("until %v, want %v", lease.(locks.Deadliner).Until(), want)
	}
	d = &desk{}
	lease, err = redislocks.NewSetNXExpire(d, redis.Port{Transport: d}, redislocks.Options{TTL: 10 * time.Second}).Acquire(t.Context(), "a")
	if want := time.Millisecond + 10*time.Second; err != nil || lease.(locks.Deadliner).Until() != want {
		t.Errorf("until %v, want %v: SETNX sets no expiry, PEXPIRE does", lease.(locks.Deadliner).Until(), want)
	}
	d = &desk{}
	lease, err = redislocks.NewSetNX(d, redis.Port{Transport: d}, redislocks.Options{TTL: 10 * time.Second}).Acquire(t.Context(), "a")
	if err != nil || lease.(locks.Deadliner).Until() != 0 {
		t.Errorf("a lock without a lease lasts until %v", lease.(locks.Deadliner).Until())
	}
}

// Errors say what is known.
func TestWhatAnAcquireKnows(t *testing.T) {
	lost, never := errors.New("no answer"), locks.Definite(errors.New("cannot connect"))
	no, set := redis.Reply{Kind: redis.Int, Int: 0}, redis.Reply{Kind: redis.Int, Int: 1}
	for _, tt := range []struct {
		name     string
		answers  []any
		definite bool
	}{
		{"a request without an answer", []any{lost}, false},
		{"a request that was never sent", []any{never}, true},
		{"refused, then never sent", []any{no, never}, true},
		{"refused, then no answer", []any{no, lost}, false},
		{"set, and the expiry without an answer", []any{set, lost}, false},
		{"set, and the expiry never sent: the key is there", []any{set, never}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &desk{answers: tt.answers}
			_, err := redislocks.NewSetNXExpire(d, redis.Port{Transport: d}, redislocks.Options{TTL: time.Second}).Acquire(t.Context(), "a")
			if err == nil || locks.IsDefinite(err) != tt.definite {
				t.Errorf("%v, definite %v", err, locks.IsDefinite(err))
			}
		})
	}
	d := &desk{end: time.Second}
	for range 1000 {
		d.answers = append(d.answers, redis.Reply{Kind: redis.Nil})
	}
	_, err := redislocks.NewSetLua(d, redis.Port{Transport: d}, redislocks.Options{TTL: time.Second}).Acquire(t.Context(), "a")
	if !errors.Is(err, locks.ErrNotAcquired) {
		t.Errorf("a wait that was answered ends with %v", err)
	}
}

func TestAReleaseThatFindsNothingSaysSo(t *testing.T) {
	for name, tt := range map[string]struct {
		new    makeLock
		answer redis.Reply
	}{
		"DEL of nothing":       {redislocks.NewSetDel, redis.Reply{Kind: redis.Int}},
		"GET of nothing":       {redislocks.NewSetGetDel, redis.Reply{Kind: redis.Nil}},
		"GET of another value": {redislocks.NewSetGetDel, redis.Reply{Kind: redis.Bulk, Str: "other"}},
		"script of nothing":    {redislocks.NewSetLua, redis.Reply{Kind: redis.Int}},
	} {
		d := &desk{}
		lease, err := tt.new(d, redis.Port{Transport: d}, redislocks.Options{TTL: time.Second}).Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		d.answers = []any{tt.answer}
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
		d := &desk{}
		l := redislocks.NewSetLua(d, redis.Port{Transport: d}, redislocks.Options{TTL: time.Second, ReuseID: reuse})
		for i := range want {
			if _, err := l.Acquire(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Fields(d.sent[i])[2]; got != want[i] {
				t.Errorf("reuse %v: acquisition %d wrote %s, want %s", reuse, i+1, got, want[i])
			}
		}
	}
}
