package mysql_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
	mysqllocks "github.com/lockcheck/lockcheck/locks/mysql"
)

type set = func(*mysqllocks.Options)

func token(o *mysqllocks.Options)       { o.Token = true }
func inTx(o *mysqllocks.Options)        { o.InTx = true }
func waitTimeout(o *mysqllocks.Options) { o.WaitTimeout = true }

// Each lock sends exactly the statements of its recipe.
func TestRecipes(t *testing.T) {
	for name, tt := range map[string]struct {
		new  makeLock
		set  []set
		sent []string
	}{
		"optimistic": {
			mysqllocks.NewOptimistic, nil,
			[]string{"select a", "insert a v0 expires=1010001 queue=NULL owner=NULL", "select a", "delete where a v0"},
		},
		"optimistic with a token": {
			mysqllocks.NewOptimistic,
			[]set{token},
			[]string{
				"select a", "insert a v0 expires=1010001 queue=NULL owner=NULL",
				"select a:token", "insert a:token v1 expires=0 queue=NULL owner=NULL", "select a", "delete where a v0",
			},
		},
		"optimistic in a transaction": {
			mysqllocks.NewOptimistic,
			[]set{inTx},
			[]string{
				"select a", "insert a v0 expires=1010001 queue=NULL owner=NULL",
				"begin", "select a", "select a", "delete where a v0", "commit",
			},
		},
		"fair": {
			mysqllocks.NewFair, nil,
			[]string{"select a", "insert a v0 expires=1010001 queue=c1_main, owner=NULL", "select a", "delete where a v0"},
		},
		"fair, fixed": {
			mysqllocks.NewFairFixed, nil,
			[]string{"select a", "insert a v1 queue= owner=c1-1 lease=10s", "update expires=0 owner=NULL where a owner=c1-1"},
		},
		"GET_LOCK": {
			mysqllocks.NewGetLock, nil,
			[]string{"get_lock a 1s", "release_lock a"},
		},
		"GET_LOCK on a session that ends": {
			mysqllocks.NewGetLock,
			[]set{waitTimeout},
			[]string{"set wait_timeout 10s", "get_lock a 999ms", "release_lock a"},
		},
		"GET_LOCK through a pool": {
			mysqllocks.NewGetLockPool, nil,
			[]string{"get_lock a 1s", "release_lock a"},
		},
		"FOR UPDATE": {
			mysqllocks.NewForUpdate, nil,
			[]string{"insert a v0 expires=0 queue=NULL owner=NULL", "begin", "select a for update", "commit"},
		},
		"FOR UPDATE of no row, READ COMMITTED": {
			mysqllocks.NewForUpdate,
			[]set{func(o *mysqllocks.Options) { o.RowAbsent, o.ReadCommitted = true, true }},
			[]string{"set READ COMMITTED", "begin", "select a for update", "commit"},
		},
		"FOR UPDATE outside a transaction": {
			mysqllocks.NewForUpdate,
			[]set{func(o *mysqllocks.Options) { o.Autocommit = true }},
			[]string{"insert a v0 expires=0 queue=NULL owner=NULL", "select a for update"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.client()
			if err := c.release(c.take(c.lock(tt.new, tt.set...))); err != nil {
				t.Error(err)
			}
			if !slices.Equal(c.sent, tt.sent) {
				t.Errorf("sent %q, want %q", c.sent, tt.sent)
			}
		})
	}
}

// Without faults each lock excludes others.
func TestOneAfterTheOther(t *testing.T) {
	for name, create := range map[string]makeLock{
		"optimistic": mysqllocks.NewOptimistic, "fair": mysqllocks.NewFair, "fair, fixed": mysqllocks.NewFairFixed,
		"GET_LOCK": mysqllocks.NewGetLock, "pool": mysqllocks.NewGetLockPool, "FOR UPDATE": mysqllocks.NewForUpdate,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			a, b, c := d.client(), d.client(), d.client()
			first := a.wants(a.lock(create, token), 3*second, lease)
			d.Pass(second)
			second1 := b.wants(b.lock(create, token), second, lease)
			third := c.wants(c.lock(create, token), second, 2*second)
			d.Pass(2 * lease)
			d.Story("c1 in", "c3 no", "c1 out", "c2 in", "c2 out")
			if !errors.Is(third.err, locks.ErrNotAcquired) || first.released != nil || second1.released != nil {
				t.Errorf("%v, %v, %v", third.err, first.released, second1.released)
			}
			if x, y := first.lease.(locks.Fencer).Token(), second1.lease.(locks.Fencer).Token(); x == 0 || y <= x {
				t.Errorf("tokens %d, %d", x, y)
			}
		})
	}
}

// A lease counts from just before the statement that set the expiry, or from the
// reading of the clock that gave the expiry.
func TestUntil(t *testing.T) {
	for name, tt := range map[string]struct {
		new  makeLock
		want time.Duration
	}{
		"optimistic":  {mysqllocks.NewOptimistic, lease + ms},
		"fair":        {mysqllocks.NewFair, lease + ms},
		"fair, fixed": {mysqllocks.NewFairFixed, lease + ms},
	} {
		d := newDesk(t)
		c := d.client()
		if got := c.take(c.lock(tt.new)).(locks.Deadliner).Until(); got != tt.want {
			t.Errorf("%s: until %v, want %v", name, got, tt.want)
		}
	}
	for name, create := range map[string]makeLock{"GET_LOCK": mysqllocks.NewGetLock, "FOR UPDATE": mysqllocks.NewForUpdate} {
		d := newDesk(t)
		c := d.client()
		if _, ok := c.take(c.lock(create)).(locks.Deadliner); ok {
			t.Errorf("%s has a known end", name)
		}
	}
}

// These are the errors of an acquire after a failed statement. The published
// locks return ErrNotAcquired in every case.
func TestWhatAnAcquireKnows(t *testing.T) {
	for name, tt := range map[string]struct {
		new      makeLock
		set      []set
		faults   map[int]fault
		granted  bool
		definite bool
	}{
		"optimistic, no answer to the INSERT":       {mysqllocks.NewOptimistic, nil, map[int]fault{2: lostWord}, false, true},
		"fair, no answer to the INSERT":             {mysqllocks.NewFair, nil, map[int]fault{2: lostWord}, true, true},
		"no token":                                  {mysqllocks.NewOptimistic, []set{token}, map[int]fault{3: refused}, false, true},
		"no token, and the release has no answer":   {mysqllocks.NewOptimistic, []set{token}, map[int]fault{3: refused, 4: lostCall}, false, false},
		"fixed, no answer to the INSERT":            {mysqllocks.NewFairFixed, nil, map[int]fault{2: lostWord}, true, true},
		"fixed, an INSERT that comes late":          {mysqllocks.NewFairFixed, nil, map[int]fault{2: lateCall}, true, true},
		"GET_LOCK, no answer":                       {mysqllocks.NewGetLock, nil, map[int]fault{1: lostWord}, false, false},
		"GET_LOCK, refused":                         {mysqllocks.NewGetLock, nil, map[int]fault{1: deadlock}, false, true},
		"GET_LOCK, on a session that had ended":     {mysqllocks.NewGetLock, nil, map[int]fault{1: over}, true, true},
		"wait_timeout, on a session that had ended": {mysqllocks.NewGetLock, []set{waitTimeout}, map[int]fault{1: over, 2: lostCall}, true, true},
		"GET_LOCK, no token":                        {mysqllocks.NewGetLock, []set{token}, map[int]fault{2: refused}, false, true},
		"pool, no answer":                           {mysqllocks.NewGetLockPool, nil, map[int]fault{1: lostWord}, false, false},
		"FOR UPDATE, the row has no answer":         {mysqllocks.NewForUpdate, nil, map[int]fault{1: lostWord}, false, true},
		"FOR UPDATE, no answer":                     {mysqllocks.NewForUpdate, nil, map[int]fault{3: lostWord}, true, true},
		"FOR UPDATE, nor to the KILL":               {mysqllocks.NewForUpdate, nil, map[int]fault{3: lostWord, 4: lostWord}, false, false},
		"FOR UPDATE, a deadlock":                    {mysqllocks.NewForUpdate, nil, map[int]fault{3: deadlock}, true, true},
		"FOR UPDATE, no token":                      {mysqllocks.NewForUpdate, []set{token}, map[int]fault{4: refused}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.client()
			c.faults = tt.faults
			r := c.wants(c.lock(tt.new, tt.set...), 0, 5*second)
			d.Pass(lease)
			if (r.err == nil) != tt.granted || r.err != nil && locks.IsDefinite(r.err) != tt.definite {
				t.Errorf("%v, definite %v; sent %q", r.err, locks.IsDefinite(r.err), c.sent)
			}
		})
	}
}

// These are the errors of a release.
func TestWhatAReleaseKnows(t *testing.T) {
	for name, tt := range map[string]struct {
		new  makeLock
		then func(*client)
		want error // nil: any error that is not definite
	}{
		"fixed, the row is another's": {mysqllocks.NewFairFixed, func(c *client) { c.rows["a"] = mysql.Row{Resource: "a", Owner: mysql.Some("x")} }, locks.ErrNotHeld},
		"GET_LOCK, another has it":    {mysqllocks.NewGetLock, func(c *client) { c.names["a"] = &session{} }, locks.ErrNotHeld},
		"GET_LOCK, the session ended": {mysqllocks.NewGetLock, func(c *client) { c.faults[len(c.sent)+1] = over }, locks.ErrLost},
		"GET_LOCK, no answer":         {mysqllocks.NewGetLock, func(c *client) { c.faults[len(c.sent)+1] = lostWord }, nil},
		"FOR UPDATE, it ended":        {mysqllocks.NewForUpdate, func(c *client) { c.faults[len(c.sent)+1] = over }, locks.ErrLost},
		"FOR UPDATE, no answer":       {mysqllocks.NewForUpdate, func(c *client) { c.faults[len(c.sent)+1] = lostWord }, nil},
		"optimistic, no answer":       {mysqllocks.NewOptimistic, func(c *client) { c.faults[len(c.sent)+2] = lostWord }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.client()
			g := c.take(c.lock(tt.new))
			tt.then(c)
			err := c.release(g)
			if tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && (err == nil || locks.IsDefinite(err)) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}
