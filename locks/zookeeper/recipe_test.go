package zookeeper_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
)

// With a fault at any of its requests the recipe grants in the order of the
// queue, to one client at a time, and leaves no node.
func TestTheRecipeSurvivesEachRequest(t *testing.T) {
	for name, f := range map[string]fault{"lost before": before, "lost after": after, "late": late, "not connected": unsent, "expired before": expiry} {
		for request := 1; request <= 5; request++ { // create, list, exists, list, delete
			t.Run(fmt.Sprintf("%s %d", name, request), func(t *testing.T) {
				d := newDesk(t)
				d.client().wants(zklocks.NewRecipe, 3*second, never)
				d.Pass(100 * ms)
				c := d.client()
				c.faults[request] = f
				middle := c.wants(zklocks.NewRecipe, second, never)
				d.Pass(2 * second)
				d.client().wants(zklocks.NewRecipe, second, never)
				d.Pass(3 * lease)
				if d.most != 1 || len(d.Log) != 6 || len(d.list("/a")) != 0 {
					t.Errorf("%d were in: %q; left %q", d.most, d.Log, d.list("/a"))
				}
				if overtakes := d.Log[2] == "c3 in"; overtakes && f != expiry {
					t.Errorf("%q", d.Log)
				}
				// An expiry at the last request takes the grant away.
				if want := f == expiry && request == 5; errors.Is(middle.err, locks.ErrLost) != want || middle.err != nil && !want {
					t.Errorf("the release returns %v; sent %q", middle.err, c.sent)
				}
				if len(c.Lost) > 0 {
					t.Errorf("losses at %v", c.Lost)
				}
			})
		}
	}
}

// The first client has two faults, so the parent node of the queue may be
// missing.
func TestTheRecipeSurvivesTwoFaults(t *testing.T) {
	faults := []fault{before, after, late, unsent, expiry}
	for one := 1; one <= 9; one++ {
		for two := one + 1; two <= 10; two++ {
			for i := range faults {
				for j := range faults {
					d := newDesk(t)
					c := d.client()
					c.faults[one], c.faults[two] = faults[i], faults[j]
					c.wants(zklocks.NewRecipe, second, never)
					d.Pass(5 * ms)
					for range 2 {
						d.client().wants(zklocks.NewRecipe, second, never)
						d.Pass(d.Time + 5*ms)
					}
					d.Pass(3 * lease)
					if d.most != 1 || len(d.Log) != 6 || len(d.list("/a")) != 0 {
						t.Errorf("%v at %d, %v at %d: %d were in: %q; left %q", faults[i], one, faults[j], two, d.most, d.Log, d.list("/a"))
					}
				}
			}
		}
	}
}

// After a create without an answer it looks for its node: once, on a server that
// has caught up.
func TestTheRecipeAdoptsItsNode(t *testing.T) {
	for name, tt := range map[string]struct {
		fault fault
		sent  []string
	}{
		"executed": {after, []string{"create /a/c2-1-lock-", "sync /a", "list /a", "list /a", "delete /a/c2-1-lock-0000000001"}},
		"not":      {before, []string{"create /a/c2-1-lock-", "sync /a", "list /a", "create /a/c2-1-lock-", "list /a", "delete /a/c2-1-lock-0000000001"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.client().wants(zklocks.NewRecipe, 0, never)
			d.Pass(second)
			c := d.client()
			c.faults[1] = tt.fault
			c.wants(zklocks.NewRecipe, second, never)
			d.Pass(lease)
			// The earlier loss of the connection causes one more list.
			want := slices.Insert(slices.Clone(tt.sent), len(tt.sent)-1, "list /a")
			if !slices.Equal(c.sent, want) {
				t.Errorf("sent %q, want %q", c.sent, want)
			}
		})
	}
}

// The same while it gives up: no node is left, or the error is not definite.
func TestTheRecipeGivesUp(t *testing.T) {
	for name, tt := range map[string]struct {
		faults map[int]fault
		sure   bool
	}{
		"all answered":               {nil, true},
		"delete lost before":         {map[int]fault{4: before}, true},
		"delete lost after":          {map[int]fault{4: after}, true},
		"session expired":            {map[int]fault{4: expiry}, true},
		"no answer for very long":    {map[int]fault{4: {err: zookeeper.ErrTimeout, held: 2 * lease}}, false},
		"create in doubt to the end": {map[int]fault{1: {err: zookeeper.ErrTimeout, executed: true, held: second}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.client().wants(zklocks.NewRecipe, lease, never)
			d.Pass(100 * ms)
			c := d.client()
			c.faults = tt.faults
			r := c.wants(zklocks.NewRecipe, second, second)
			d.Pass(4 * lease)
			if !r.task.Done || errors.Is(r.err, locks.ErrNotAcquired) != tt.sure || locks.IsDefinite(r.err) != tt.sure {
				t.Errorf("it returns %v", r.err)
			}
			if left := d.list("/a"); len(left) != 0 {
				t.Errorf("left %q of %q", left, c.sent)
			}
			d.Story("c1 in", "c1 out")
		})
	}
}

// take returns the lease of an acquire that must succeed.
func (c *client) take(l locks.Locker, name string) (got locks.Lease) {
	c.T.Helper()
	var err error
	c.Does(lease, func(ctx context.Context) { got, err = l.Acquire(ctx, name) })
	if err != nil {
		c.T.Fatalf("the acquire of %s: %v", name, err)
	}
	return got
}

func (c *client) release(l locks.Lease) (err error) {
	c.T.Helper()
	c.Does(lease, func(ctx context.Context) { err = l.Release(ctx) })
	return err
}

// The client is notified of a loss at once and once, and the rest is still
// released.
func TestTheRecipeReportsALoss(t *testing.T) {
	for name, tt := range map[string]struct {
		befalls func(*client)
		err     error
	}{
		"disconnected": {func(c *client) { c.opened[0].blink() }, nil},
		"expired":      {(*client).expire, locks.ErrLost},
		"both": {func(c *client) {
			c.opened[0].blink()
			c.expire()
		}, locks.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.client()
			l := zklocks.NewRecipe(c, c.port(), options)
			g := c.take(l, "a")
			at := d.Time
			tt.befalls(c)
			d.Pass(at + lease)
			if want := []time.Duration{at + ms/2}; !slices.Equal(c.Lost, want) {
				t.Errorf("losses at %v, want %v", c.Lost, want)
			}
			if err := c.release(g); !errors.Is(err, tt.err) {
				t.Errorf("the release returns %v, want %v", err, tt.err)
			}
			if len(d.list("/a")) != 0 {
				t.Errorf("left %q", d.list("/a"))
			}
			c.Lost = nil
			if err := c.release(c.take(l, "a")); err != nil || len(c.Lost) != 0 {
				t.Errorf("the next grant: %v, losses at %v", err, c.Lost)
			}
		})
	}
}

// Events of a session between two holds are not reported for the next grant.
func TestAnOldLossIsNoNews(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	l := zklocks.NewRecipe(c, c.port(), options)
	if err := c.release(c.take(l, "a")); err != nil {
		t.Fatal(err)
	}
	c.opened[0].blink()
	d.Pass(d.Time + second)
	sent := len(c.sent)
	g := c.take(l, "a")
	if len(c.Lost) != 0 {
		t.Errorf("losses at %v", c.Lost)
	}
	want := []string{"create /a/c1-2-lock-", "list /a", "list /a"}
	if got := c.sent[sent:]; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q: it lists once more", got, want)
	}
	if err := c.release(g); err != nil {
		t.Error(err)
	}
}

// Its session expires while it waits, so it queues again in another one.
func TestTheRecipeWaitsAnew(t *testing.T) {
	d := newDesk(t)
	d.queue(zklocks.NewRecipe, 3*second, second)
	d.clients[1].expire()
	d.Pass(lease)
	d.Story("c1 in", "c1 out", "c2 in", "c2 out")
	if n := len(d.clients[1].opened); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// After a new connection it lists again, once: its watch may be lost. Without a
// connection it sends no request.
func TestTheRecipeLooksAgain(t *testing.T) {
	d := newDesk(t)
	d.queue(zklocks.NewRecipe, 3*second, second)
	c := d.clients[1]
	sent := len(c.sent)
	c.opened[0].deliver(zookeeper.Event{Type: zookeeper.Disconnected})
	d.Pass(second)
	if got := c.sent[sent:]; len(got) != 0 {
		t.Errorf("without a connection it sent %q", got)
	}
	c.opened[0].deliver(zookeeper.Event{Type: zookeeper.Connected})
	d.Pass(2 * second)
	want := []string{"list /a", "exists /a/c1-1-lock-0000000000 watch"}
	if got := c.sent[sent:]; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
	d.Pass(lease)
	d.Story("c1 in", "c1 out", "c2 in", "c2 out")
}

// Another client deletes its node: a waiter creates a new one, and a release
// returns ErrNotHeld.
func TestTheNodeIsDeletedByAnother(t *testing.T) {
	d := newDesk(t)
	d.queue(zklocks.NewRecipe, 3*second, second, second)
	d.remove("/a/c2-1-lock-0000000001")
	d.Pass(lease)
	d.Story("c1 in", "c1 out", "c3 in", "c3 out", "c2 in", "c2 out")

	d = newDesk(t)
	c := d.client()
	g := c.take(zklocks.NewRecipe(c, c.port(), options), "a")
	d.remove("/a/c1-1-lock-0000000000")
	for range 2 {
		if err := c.release(g); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("the release returns %v", err)
		}
	}
}

// A client that holds one lock and waits for another has two sessions, so that it
// learns of a loss while it waits. It keeps both.
func TestTwoLocksAtOnce(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	l := zklocks.NewRecipe(c, c.port(), options)
	a, b := c.take(l, "a"), c.take(l, "b")
	c.opened[0].blink()
	d.Pass(d.Time + second)
	if len(c.Lost) != 1 {
		t.Errorf("%d losses", len(c.Lost))
	}
	for _, g := range []locks.Lease{b, a, c.take(l, "c")} {
		if err := c.release(g); err != nil {
			t.Error(err)
		}
	}
	last := c.take(l, "a")
	c.Does(second, func(ctx context.Context) {
		if err := l.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	if open := slices.IndexFunc(c.opened, func(s *session) bool { return s.ended == nil }); open < 0 {
		t.Error("a close has ended a lease")
	}
	if err := c.release(last); err != nil {
		t.Error(err)
	}
	for _, s := range c.opened {
		if s.ended == nil {
			t.Error("a session is left")
		}
	}
}

// An invalid name gives a definite error.
func TestARefusal(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	c.faults[1] = fault{err: locks.Definite(zookeeper.BadArguments)}
	r := c.wants(zklocks.NewRecipe, second, never)
	d.Pass(lease)
	if !r.task.Done || !locks.IsDefinite(r.err) || !errors.Is(r.err, zookeeper.BadArguments) {
		t.Errorf("it returns %v", r.err)
	}
}
