package redis_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

// With a T of 10 s the time in a key is 11 s ahead, as in the source.
var tenSeconds = redislocks.Options{TTL: 10 * time.Second}

func TestALockThatHasEndedIsTaken(t *testing.T) {
	gone := redis.Reply{Kind: redis.Nil}
	for _, tt := range []struct {
		name    string
		new     makeLock
		held    string // the key's value at 20 s
		answers []any
		sent    []string // of the first try
		until   time.Duration
	}{
		{"its time has passed", redislocks.NewSetNXGetSet, "19999", nil, []string{"SETNX a 31000", "GET a", "GETSET a 31002"}, 31002 * time.Millisecond},
		{"it is gone at the GETSET", redislocks.NewSetNXGetSet, "19999", []any{nil, nil, gone}, []string{"SETNX a 31000", "GET a", "GETSET a 31002"}, 31002 * time.Millisecond},
		{"by DEL", redislocks.NewSetNXDelStale, "19999", nil, []string{"SETNX a 31000", "GET a", "DEL a", "SETNX a 31003"}, 31003 * time.Millisecond},
		{"its time has not passed", redislocks.NewSetNXGetSet, "20002", nil, []string{"SETNX a 31000", "GET a"}, 0},
		{"another client was first", redislocks.NewSetNXGetSet, "19999", []any{nil, nil, bulk("31001")}, []string{"SETNX a 31000", "GET a", "GETSET a 31002"}, 0},
		{"another client was first, reply ignored", redislocks.NewSetNXGetSetUnread, "19999", []any{nil, nil, bulk("31001")}, []string{"SETNX a 31000", "GET a", "GETSET a 31002"}, 31002 * time.Millisecond},
		{"it holds no time", redislocks.NewSetNXGetSet, "tomorrow", nil, []string{"SETNX a 31000", "GET a"}, 0},
		{"it is gone at the GET", redislocks.NewSetNXGetSet, "19999", []any{nil, gone}, []string{"SETNX a 31000", "GET a"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.answers...)
			d.Time = 20 * time.Second
			d.nodes[0].holds(tt.held, 0)
			lease, err := tt.new(d, d.port(), tenSeconds).Acquire(d.Ends(20*time.Second+50*time.Millisecond), "a")
			if granted := err == nil; granted != (tt.until > 0) || granted && until(lease) != tt.until {
				t.Errorf("got %v, %v; want it until %v", lease, err, tt.until)
			}
			if !slices.Equal(d.sent, tt.sent) {
				t.Errorf("sent %q, want %q", d.sent, tt.sent)
			}
		})
	}
}

// A time left in another's key makes the error uncertain.
func TestALateGETSETIsUncertain(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name     string
		after    []any         // the answers to a second try
		end      time.Duration // the end of the caller's context
		definite bool
	}{
		{"not read again", nil, 50 * ms, false},
		{"still there", []any{reply(0), bulk("11002")}, 150 * ms, false},
		{"replaced", []any{reply(0), bulk("99999")}, 150 * ms, true},
		{"still there, then cut off", []any{reply(0), bulk("11002"), errNever}, time.Second, false},
		{"replaced, then cut off", []any{reply(0), bulk("99999"), errNever}, time.Second, true},
		{"cut off", []any{errNever}, time.Second, false},
	} {
		d := newDesk(t, append([]any{reply(0), bulk("-1"), bulk("11001")}, tt.after...)...)
		_, err := redislocks.NewSetNXGetSet(d, d.port(), tenSeconds).Acquire(d.Ends(tt.end), "a")
		if err == nil || locks.IsDefinite(err) != tt.definite {
			t.Errorf("%s: %v, definite %v", tt.name, err, locks.IsDefinite(err))
		}
	}
}

// The source's release deletes expired keys, the manual's deletes the others.
// Neither checks the owner.
func TestWhatTheReleaseOfATimeDeletes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		new     makeLock
		now     time.Duration // the time of the release
		holds   string        // the key's value then; "": unchanged
		want    error
		deleted bool
	}{
		{"as worded, in time", redislocks.NewSetNXGetSet, time.Second, "", nil, false},
		{"as worded, late", redislocks.NewSetNXGetSet, 12 * time.Second, "", nil, true},
		{"as worded, late, another's", redislocks.NewSetNXGetSet, 12 * time.Second, "11500", nil, true},
		{"fixed, in time", redislocks.NewSetNXGetSetFixed, time.Second, "", nil, true},
		{"fixed, late", redislocks.NewSetNXGetSetFixed, 12 * time.Second, "", locks.ErrNotHeld, false},
		{"fixed, late, another's", redislocks.NewSetNXGetSetFixed, 12 * time.Second, "22500", nil, true},
		{"DEL and SETNX, late, another's", redislocks.NewSetNXDelStale, 12 * time.Second, "22500", nil, true},
	} {
		d := newDesk(t)
		lease := take(t, tt.new(d, d.port(), tenSeconds))
		d.Pass(tt.now)
		if tt.holds != "" {
			d.nodes[0].holds(tt.holds, 0)
		}
		if err := lease.Release(t.Context()); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if deleted := d.nodes[0].value() == ""; deleted != tt.deleted {
			t.Errorf("%s: deleted %v, want %v", tt.name, deleted, tt.deleted)
		}
	}
	for _, create := range []makeLock{redislocks.NewSetNXGetSet, redislocks.NewSetNXGetSetFixed} {
		d := newDesk(t)
		lease := take(t, create(d, d.port(), tenSeconds))
		d.nodes[0].answers = []any{redis.Reply{Kind: redis.Nil}}
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("a missing key: %v", err)
		}
	}
}

// The time in the key is the wall clock's. The client's own belief uses the
// monotonic clock.
func TestTimesAreTheWallClocks(t *testing.T) {
	d := newDesk(t)
	d.Skew = -15 * time.Second
	if got := until(take(t, redislocks.NewSetNXGetSet(d, d.port(), tenSeconds))); got != 11*time.Second || d.nodes[0].value() != "-4000" {
		t.Errorf("until %v with %s in the key", got, d.nodes[0].value())
	}
}
