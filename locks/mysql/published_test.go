package mysql_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
	mysqllocks "github.com/lockcheck/lockcheck/locks/mysql"
)

// row stores the row of the lock a with that expiry.
func (d *desk) row(expires time.Duration, queue mysql.Text) {
	d.lastID++
	d.rows["a"] = mysql.Row{ID: d.lastID, Resource: "a", Expires: time.Unix(1000, 0).Add(expires).UnixMilli(), Queue: queue}
}

func (d *desk) queue() mysql.Text { return d.rows["a"].Queue }

// releaseName is the call of a finally block.
func (c *client) releaseName(l locks.Locker) (err error) {
	c.Does(second, func(context.Context) { err = l.(locks.NameReleaser).ReleaseName(c.Life(), "a") })
	return err
}

// The caller's time is the sum of its sleeps.
func TestTheTimeThatATryCounts(t *testing.T) {
	for _, tt := range []struct {
		timeout, slow, want time.Duration
		tries               int
	}{
		{0, 0, ms, 1},
		{100 * ms, 0, 251 * ms, 1},
		{second, 899 * ms, 4600 * ms, 4},
	} {
		d := newDesk(t)
		d.row(never/2, mysql.Text{})
		c := d.client()
		c.slow = tt.slow
		r := c.wants(c.lock(mysqllocks.NewOptimistic), 0, tt.timeout)
		d.Pass(lease)
		if r.acquired != tt.want || len(c.sent) != tt.tries || !errors.Is(r.err, locks.ErrNotAcquired) {
			t.Errorf("%v, statements of %v more: no after %v and %d tries, %v; want %v and %d", tt.timeout, tt.slow, r.acquired, len(c.sent), r.err, tt.want, tt.tries)
		}
	}
}

// Without a timeout only an interrupt ends the wait.
func TestACallerWithoutATimeoutIsInterrupted(t *testing.T) {
	d := newDesk(t)
	d.row(never/2, mysql.Text{})
	c := d.client()
	ctx, interrupt := context.WithCancel(context.Background())
	var err error
	l := c.lock(mysqllocks.NewOptimistic)
	k := c.Start(func(context.Context) { _, err = l.Acquire(ctx, "a") })
	d.Pass(second)
	interrupt()
	if d.Pass(2 * second); !k.Done || !errors.Is(err, locks.ErrNotAcquired) {
		t.Errorf("%v", err)
	}
}

// A release by name frees another's lock, and a late release frees the next
// holder's.
func TestAReleaseFreesWhatItFinds(t *testing.T) {
	d := newDesk(t)
	a, b := d.client(), d.client()
	own := a.lock(mysqllocks.NewOptimistic)
	a.take(own)
	if err := b.releaseName(b.lock(mysqllocks.NewOptimistic)); err != nil || len(d.rows) > 0 {
		t.Errorf("%v, and the row is there: %v", err, d.rows)
	}
	if err := b.releaseName(own); err != nil {
		t.Errorf("a release of a free lock: %v", err)
	}
	late := a.take(own)
	d.Pass(2 * lease)
	b.take(b.lock(mysqllocks.NewOptimistic))
	if err := a.release(late); err != nil || len(d.rows) > 0 {
		t.Errorf("%v, and the next holder's row is there: %v", err, d.rows)
	}
}

// To a client whose clock is ahead a lock seems to have expired.
func TestClocksSayWhatIsOver(t *testing.T) {
	d := newDesk(t)
	a, b, c := d.client(), d.client(), d.client()
	a.take(a.lock(mysqllocks.NewOptimistic))
	b.Skew = 6 * lease
	b.take(b.lock(mysqllocks.NewOptimistic))
	r := c.wants(c.lock(mysqllocks.NewOptimistic), 0, second)
	if d.Pass(lease); r.err == nil {
		t.Error("a lock with a distant expiry counts as expired")
	}
}

// In a transaction a release reads the state of the beginning again and again.
// When its stack is full the transaction is rolled back: the row is unlocked, and
// still has its owner.
func TestAReleaseInATransactionFillsTheStack(t *testing.T) {
	for name, tt := range map[string]struct {
		new      makeLock
		change   func(*mysql.Row)
		released bool
	}{
		"nothing has changed": {mysqllocks.NewOptimistic, func(*mysql.Row) {}, true},
		"another version":     {mysqllocks.NewOptimistic, func(r *mysql.Row) { r.Version++ }, false},
		"another queue":       {mysqllocks.NewFair, func(r *mysql.Row) { r.Version, r.Queue.S = r.Version+1, r.Queue.S+"x," }, false},
	} {
		d := newDesk(t)
		c := d.client()
		g := c.take(c.lock(tt.new, inTx))
		row := d.rows["a"]
		tt.change(&row)
		d.rows["a"] = row
		var err error
		returned := false
		c.Start(func(context.Context) { err, returned = g.Release(c.Life()), true })
		d.Pass(4 * second)
		if !returned || (err == nil) != tt.released || !tt.released && (!locks.IsDefinite(err) || len(c.sent) < 600) {
			t.Errorf("%s: returned %v with %v after %d statements", name, returned, err, len(c.sent))
		}
		if _, there := d.rows["a"]; there == tt.released {
			t.Errorf("%s: the row is there: %v", name, there)
		}
		if tt.released {
			continue
		}
		other := d.client()
		if n, err := other.port().Delete(t.Context(), second, mysql.Resource, mysql.Row{Resource: "a"}); n != 1 || err != nil {
			t.Errorf("%s: the row is still locked: %d, %v", name, n, err)
		}
	}
}

// A caller that needs a transaction or a token does not get the lock without it.
func TestAGrantHasAllThatWasAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(*mysqllocks.Options)
		at   int
		want error
	}{
		"no token":     {token, 3, errRefused},
		"no begin":     {inTx, 3, errRefused},
		"no snapshot":  {inTx, 4, errRefused},
		"session over": {inTx, 3, mysql.ErrSessionOver},
	} {
		d := newDesk(t)
		c := d.client()
		c.faults[tt.at] = map[error]fault{errRefused: refused, mysql.ErrSessionOver: over}[tt.want]
		r := c.wants(c.lock(mysqllocks.NewOptimistic, tt.set), 0, second)
		if d.Pass(second); !errors.Is(r.err, tt.want) || !locks.IsDefinite(r.err) || len(d.rows) > 0 {
			t.Errorf("%s: %v, and the rows are %v", name, r.err, d.rows)
		}
	}
}

// These are the effects of a fair try on the queue that it finds, and its
// reports.
func TestFairTries(t *testing.T) {
	some := mysql.Some
	full := strings.Repeat("x,", 21)
	for name, tt := range map[string]struct {
		over    bool
		before  mysql.Text
		after   mysql.Text
		granted bool
		queued  bool
	}{
		"no waiter":                             {false, some("x,"), some("x,c1_main,"), false, true},
		"one waiter":                            {false, some("x,y,"), some("x,y,c1_main,"), false, true},
		"it waits already":                      {false, some("x,c1_main,"), some("x,c1_main,"), false, false},
		"it is the head":                        {false, some("c1_main,x,"), some("c1_main,x,"), true, false},
		"the holder did not queue":              {false, mysql.Text{}, some("c1_main,"), false, true},
		"its name is the end of another":        {false, some("xc1_main,"), some("xc1_main,c1_main,"), false, true},
		"twenty wait":                           {false, some(full[2:]), some(full[2:] + "c1_main,"), false, true},
		"twenty-one wait":                       {false, some(full), some(full), false, false},
		"expired, no waiter":                    {true, some("x,"), some("c1_main,"), false, true},
		"expired, and it waits":                 {true, some("x,c1_main,y,"), some("c1_main,y,"), false, false},
		"expired, and it is the head":           {true, some("c1_main,x,"), some("x,c1_main,"), false, false},
		"expired, and the holder did not queue": {true, mysql.Text{}, some(""), true, false},
		"expired, and the holder did not, but an earlier one did": {true, some(""), some("c1_main,"), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.Pass(second)
			expires := 2 * second
			if tt.over {
				expires = second / 2
			}
			d.row(expires, tt.before)
			c := d.client()
			r := c.wants(c.lock(mysqllocks.NewFair), lease, d.Time)
			d.Pass(d.Time + second/2)
			if (r.err == nil) != tt.granted || d.queue() != tt.after || (len(c.Places) == 1) != tt.queued {
				t.Errorf("granted %v, the queue %v, places %v; want %v, %v, %v", r.err == nil, d.queue(), c.Places, tt.granted, tt.after, tt.queued)
			}
		})
	}
}

// Places can be compared in one row and across new rows.
func TestPlacesGrow(t *testing.T) {
	d := newDesk(t)
	var places []int64
	for range 2 {
		a, b, c := d.client(), d.client(), d.client()
		g := a.take(a.lock(mysqllocks.NewFair))
		for _, w := range []*client{b, c} {
			w.wants(w.lock(mysqllocks.NewFair), 0, d.Time+lease)
			d.Pass(d.Time + second)
		}
		if err := a.release(g); err != nil {
			t.Fatal(err)
		}
		places = slices.Concat(places, a.Places, b.Places, c.Places)
	}
	if len(places) != 6 || !slices.IsSorted(places) || len(slices.Compact(places)) != 6 {
		t.Errorf("places %v", places)
	}
}

// The head of the queue has the lock, and so has any client with its name.
func TestTheHeadHasTheLock(t *testing.T) {
	alike := func(o *mysqllocks.Options) { o.Address = "127.0.1.1" }
	d := newDesk(t)
	a, b := d.client(), d.client()
	a.take(a.lock(mysqllocks.NewFair, alike))
	b.take(b.lock(mysqllocks.NewFair, alike))

	d = newDesk(t)
	a = d.client()
	l := a.lock(mysqllocks.NewFair)
	a.take(l)
	if err := a.release(a.take(l)); err != nil || len(d.rows) > 0 {
		t.Errorf("%v; the inner release leaves %v", err, d.rows)
	}

	d = newDesk(t)
	a, b = d.client(), d.client()
	unfair := a.lock(mysqllocks.NewFair)
	a.Does(second, func(context.Context) {
		if _, err := unfair.(locks.UnfairLocker).AcquireUnfair(a.Life(), "a"); err != nil {
			t.Error(err)
		}
	})
	b.take(b.lock(mysqllocks.NewFair))
	if err := a.releaseName(unfair); err != nil || d.queue() != mysql.Some("c2_main,") {
		t.Errorf("%v; the release of a holder that did not queue leaves %v", err, d.queue())
	}
}

// The head takes the lock by the row's id, whatever has happened to the row.
func TestTheHeadDoesNotLookTwice(t *testing.T) {
	for _, gone := range []bool{false, true} {
		d := newDesk(t)
		d.row(second, mysql.Some("c1_main,x,"))
		c := d.client()
		c.slow = 100 * ms
		r := c.wants(c.lock(mysqllocks.NewFair), 0, second)
		d.Pass(150 * ms)
		d.row(lease, mysql.Some("x,c1_main,"))
		if gone {
			delete(d.rows, "a")
		}
		if d.Pass(second); r.err != nil {
			t.Errorf("gone %v: %v", gone, r.err)
		}
	}
}

// Each entry of a dead client delays the others by a lease.
func TestDeadWaitersCostALease(t *testing.T) {
	for dead := range 3 {
		d := newDesk(t)
		d.row(lease, mysql.Some("x,"+strings.Repeat("dead,", dead)))
		c := d.client()
		r := c.wants(c.lock(mysqllocks.NewFair), 0, 10*lease)
		d.Pass(10 * lease)
		if least := time.Duration(dead+1) * lease; r.err != nil || r.acquired < least || r.acquired > least+3*second {
			t.Errorf("%d dead: %v after %v", dead, r.err, r.acquired)
		}
	}
}
