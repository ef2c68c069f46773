package mysql_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	mysqllocks "github.com/lockcheck/lockcheck/locks/mysql"
)

// A heartbeat every T/3 keeps a session from being idle, until the release.
func TestHeartbeats(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	g := c.take(c.lock(mysqllocks.NewGetLock, waitTimeout))
	d.Pass(lease)
	if want := []string{"ping", "ping"}; !slices.Equal(c.sent[2:], want) {
		t.Errorf("in T: %q", c.sent[2:])
	}
	if err := c.release(g); err != nil {
		t.Fatal(err)
	}
	sent := len(c.sent)
	if d.Pass(d.Time + 2*lease); len(c.sent) != sent || len(c.Lost) != 0 || len(c.idle) != 1 {
		t.Errorf("after the release %q, losses at %v, and %d sessions in the pool", c.sent[sent:], c.Lost, len(c.idle))
	}
}

// A holder is notified of its session's end at the first heartbeat that finds it.
func TestAHeartbeatReportsALoss(t *testing.T) {
	for what, want := range map[fault]time.Duration{
		over:     lease / 3,
		lostCall: lease / 3 * 2, // it waits for the answer
	} {
		d := newDesk(t)
		c := d.client()
		g := c.take(c.lock(mysqllocks.NewGetLock, waitTimeout))
		c.faults[len(c.sent)+1] = what
		if d.Pass(2 * lease); len(c.Lost) != 1 || c.Lost[0] < want || c.Lost[0] > want+10*ms {
			t.Errorf("fault %d: losses at %v, want %v", what, c.Lost, want)
		}
		if err := c.release(g); !errors.Is(err, locks.ErrLost) {
			t.Errorf("fault %d: %v", what, err)
		}
	}
	d := newDesk(t)
	c := d.client()
	c.take(c.lock(mysqllocks.NewGetLock))
	sent := len(c.sent)
	if d.Pass(2 * lease); len(c.sent) != sent {
		t.Errorf("without the option: %q", c.sent[sent:])
	}
}

// In case of doubt the connection is closed, which frees the lock. Otherwise it
// returns to the pool.
func TestInDoubtTheConnectionIsClosed(t *testing.T) {
	for name, tt := range map[string]struct {
		new   makeLock
		fault fault // of the release
		idle  int
	}{
		"GET_LOCK":              {mysqllocks.NewGetLock, 0, 1},
		"GET_LOCK, no answer":   {mysqllocks.NewGetLock, lostCall, 0},
		"FOR UPDATE":            {mysqllocks.NewForUpdate, 0, 1},
		"FOR UPDATE, no answer": {mysqllocks.NewForUpdate, lostCall, 0},
	} {
		d := newDesk(t)
		c := d.client()
		g := c.take(c.lock(tt.new))
		c.faults[len(c.sent)+1] = tt.fault
		_ = c.release(g)
		if len(c.idle) != tt.idle || len(d.names)+len(d.locked) > 0 {
			t.Errorf("%s: %d sessions in the pool, locks %v, %v", name, len(c.idle), d.names, d.locked)
		}
	}
}

// Two clients that share a pool get one lock twice. A release on another
// connection has no effect.
func TestAPoolLendsTheLock(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	a, b := c.lock(mysqllocks.NewGetLockPool), c.lock(mysqllocks.NewGetLockPool)
	c.take(a)
	g := c.take(b)
	own := c.idle
	c.idle = nil // another caller has borrowed it
	if err := c.release(g); err != nil || len(d.names) != 1 {
		t.Errorf("%v, and the lock is %v", err, d.names)
	}
	c.idle = own
	if err := c.releaseName(a); err != nil || len(d.names) != 0 {
		t.Errorf("%v, and the lock is %v", err, d.names)
	}
}

// Without a row or a transaction there is no wait.
func TestWhatForUpdateNeeds(t *testing.T) {
	for name, tt := range map[string]struct {
		set   set
		waits bool
	}{
		"a row, in a transaction": {func(*mysqllocks.Options) {}, true},
		"no row":                  {func(o *mysqllocks.Options) { o.RowAbsent = true }, false},
		"no transaction":          {func(o *mysqllocks.Options) { o.Autocommit = true }, false},
	} {
		d := newDesk(t)
		a, b := d.client(), d.client()
		a.take(a.lock(mysqllocks.NewForUpdate, tt.set))
		r := b.wants(b.lock(mysqllocks.NewForUpdate, tt.set), lease, d.Time+second)
		if d.Pass(d.Time + 2*second); (r.err != nil) != tt.waits {
			t.Errorf("%s: %v", name, r.err)
		}
	}
}

// A waiter for a row repeats its request on another session after a while. It has
// the server kill the earlier session, because closing it would not end the wait.
func TestAWaitForARowIsEnded(t *testing.T) {
	d := newDesk(t)
	a, b := d.client(), d.client()
	a.take(a.lock(mysqllocks.NewForUpdate))
	l := b.lock(mysqllocks.NewForUpdate)
	r := b.wants(l, 0, d.Time+3*second)
	d.Pass(d.Time + 4*second)
	want := []string{"insert a v0 expires=0 queue=NULL owner=NULL", "begin", "select a for update", "kill 2", "begin", "select a for update", "kill 3"}
	if !errors.Is(r.err, locks.ErrNotAcquired) || !slices.Equal(b.sent, want) {
		t.Errorf("%v; sent %q, want %q", r.err, b.sent, want)
	}
	b.wants(l, 0, d.Time+lease)
	if d.Pass(d.Time + ms); b.sent[len(want)] != "begin" {
		t.Errorf("the row is there already, and it sent %q", b.sent[len(want):])
	}
}

// A deleted row is created again.
func TestADeletedRow(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	l := c.lock(mysqllocks.NewForUpdate)
	if err := c.release(c.take(l)); err != nil {
		t.Fatal(err)
	}
	delete(d.rows, "a")
	c.take(l)
	if len(d.locked) != 1 {
		t.Errorf("it holds %v; sent %q", d.locked, c.sent)
	}
}
