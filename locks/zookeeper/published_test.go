package zookeeper_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
)

// These are the results of a Run that entered nothing, and the nodes that it
// leaves.
func TestWhatARunKnows(t *testing.T) {
	for name, tt := range map[string]struct {
		faults   map[int]fault // of the second client: create, list, watch, and the delete after giving up
		end      time.Duration
		is       error
		definite bool
		left     bool
	}{
		"gives up":                        {nil, second, locks.ErrNotAcquired, true, false},
		"gives up, its delete lost after": {map[int]fault{4: after}, second, nil, false, false},
		"gives up, its delete lost":       {map[int]fault{4: before}, second, nil, false, true},
		"gives up an expired session":     {map[int]fault{4: expiry}, second, locks.ErrNotAcquired, true, false},
		"gives up in the 10 ms":           {nil, 105 * ms, locks.ErrNotAcquired, true, false},
		"over before it began":            {nil, 50 * ms, locks.ErrNotAcquired, true, false},
		"create not sent":                 {map[int]fault{1: unsent}, never, zookeeper.ErrNotConnected, true, false},
		"create lost":                     {map[int]fault{1: before}, never, zookeeper.ErrConnectionLoss, false, false},
		"create lost after":               {map[int]fault{1: after}, never, zookeeper.ErrConnectionLoss, false, true},
		"list lost":                       {map[int]fault{2: before}, never, nil, false, true},
		"watch lost":                      {map[int]fault{3: before}, never, nil, false, true},
		"list of an expired session":      {map[int]fault{2: expiry}, never, zookeeper.ErrSessionExpired, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.client().wants(zklocks.NewPredecessorRecheck, 2*second, never)
			d.Pass(100 * ms)
			c := d.client()
			c.faults = tt.faults
			r := c.wants(zklocks.NewPredecessorRecheck, second, tt.end)
			d.Pass(lease)
			if !r.task.Done || !errors.Is(r.err, tt.is) && tt.is != nil || r.err == nil || locks.IsDefinite(r.err) != tt.definite {
				t.Errorf("it returns %v", r.err)
			}
			if left := d.list("/a"); len(left) > 0 != tt.left {
				t.Errorf("left %q", left)
			}
			d.Story("c1 in", "c1 out")
		})
	}
}

// After an exception a waiter prints it and waits for nothing.
func TestAWaiterThatNothingWakes(t *testing.T) {
	for name, befalls := range map[string]func(*client){
		"its list is lost":          func(c *client) { c.faults[4] = before },
		"its node has been deleted": func(c *client) { c.remove("/a/sub0000000001") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			runs := d.queue(zklocks.NewPredecessorRecheck, 2*second, second)
			befalls(d.clients[1])
			d.Pass(30 * lease)
			d.Story("c1 in", "c1 out")
			if runs[1].task.Done {
				t.Errorf("it returns %v", runs[1].err)
			}
		})
	}
}

// A session that ends while its client waits ends the Run: no node is left.
func TestASessionThatEndsInTheQueue(t *testing.T) {
	for _, name := range []string{"predecessor", "recheck", "children"} {
		d := newDesk(t)
		runs := d.queue(recipes[name], 2*second, second)
		d.clients[1].expire()
		d.Pass(lease)
		if err := runs[1].err; !errors.Is(err, zookeeper.ErrSessionExpired) || !locks.IsDefinite(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// After an entry the error describes the nodes that are left.
func TestTheDeleteOfAnEntry(t *testing.T) {
	for name, tt := range map[string]struct {
		fault    fault
		is       error
		definite bool
	}{
		"lost":    {before, nil, false},
		"expired": {expiry, locks.ErrLost, true},
	} {
		d := newDesk(t)
		c := d.client()
		c.faults[5] = tt.fault // create, create the parent, create, list, delete
		r := c.wants(zklocks.NewPredecessor, second, never)
		d.Pass(lease)
		d.Story("c1 in", "c1 out")
		if r.err == nil || tt.is != nil && !errors.Is(r.err, tt.is) || locks.IsDefinite(r.err) != tt.definite {
			t.Errorf("%s: %v", name, r.err)
		}
	}
}

// Without a session there is no effect.
func TestNoSession(t *testing.T) {
	for _, name := range []string{"predecessor", "children", "recipe"} {
		d := newDesk(t)
		c := d.client()
		c.unreachable = zookeeper.ErrTimeout
		r := c.wants(recipes[name], second, never)
		d.Pass(lease)
		if !r.task.Done || !errors.Is(r.err, zookeeper.ErrTimeout) || !locks.IsDefinite(r.err) {
			t.Errorf("%s: %v", name, r.err)
		}
		r = d.client().wants(recipes[name], second, 0)
		d.Pass(2 * lease)
		if !errors.Is(r.err, locks.ErrNotAcquired) {
			t.Errorf("%s: %v", name, r.err)
		}
	}
}

// A watch left by an earlier Run would not exist in the source: a second use of a
// session must begin like the first.
func TestTheHerdBeginsAnew(t *testing.T) {
	d := newDesk(t)
	runs := d.queue(zklocks.NewChildren, second, second)
	d.Pass(lease)
	d.Log = nil
	d.clients[1].wantsWith(runs[1].lock, second, never)
	d.Pass(2 * lease)
	d.Story("c2 in", "c2 out")
}

// After two entries the error is the less certain one.
func TestTheErrorOfTwoEntries(t *testing.T) {
	for request, definite := range map[int]bool{6: false, 7: false, 8: true} { // at either delete, and at none
		d := newDesk(t)
		c := d.client()
		c.faults[request] = before // create, create the parent, create, list, list, delete, delete
		r := c.wants(zklocks.NewChildren, 2*second, never)
		d.Pass(second)
		d.client().wants(zklocks.NewChildren, second, never)
		d.Pass(lease)
		if r.err == nil || locks.IsDefinite(r.err) != definite {
			t.Errorf("%q: %v", c.sent, r.err)
		}
	}
}
