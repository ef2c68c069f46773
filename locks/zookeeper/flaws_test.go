package zookeeper_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
)

// These are the published flaws: each shows in the locks that have it, and the
// same faults at the same requests do no harm to the recipe.

const ms = time.Millisecond

// queue starts clients 10 ms apart, each with its own lock.
func (d *desk) queue(create makeLock, works ...time.Duration) (runs []*run) {
	for _, w := range works {
		runs = append(runs, d.client().wants(create, w, never))
		d.Pass(d.Time + 100*ms)
	}
	return runs
}

func TestAWaiterThatDiesLetsTheNextOneIn(t *testing.T) {
	for name, most := range map[string]int{
		"predecessor": 2,
		"recheck":     1,
		"leaky":       1,
		"children":    2, // even without a fault
		"recipe":      1,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.queue(recipes[name], 20*second, 0, second)
			d.clients[1].Kill()
			d.Pass(6 * second)
			d.clients[1].expire()
			d.Pass(60 * second)
			if d.most != most {
				t.Errorf("%d were in, want %d: %q", d.most, most, d.Log)
			}
		})
	}
}

// The last of four lists the queue while the third is gone. It is paused before
// it sets its watch, while the second goes as well.
func TestTwoWaitersThatDieLetTheLastOneIn(t *testing.T) {
	for name, most := range map[string]int{
		"recheck": 2,
		"leaky":   2,
		"recipe":  1,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.queue(recipes[name], 20*second, second, second)
			last := d.client()
			last.faults[5] = fault{held: 2 * second} // create, list, watch, list, watch
			last.wants(recipes[name], second, never)
			d.Pass(second)
			d.clients[2].Kill()
			d.clients[2].expire()
			d.Pass(2 * second)
			d.clients[1].Kill()
			d.clients[1].expire()
			d.Pass(60 * second)
			if d.most != most {
				t.Errorf("%d were in, want %d: %q", d.most, most, d.Log)
			}
			if got := last.sent[4]; !strings.HasPrefix(got, "exists ") {
				t.Errorf("held before %q", got)
			}
		})
	}
}

// The second is paused between its list and its watch, while the holder leaves.
func TestAPredecessorThatGoesBeforeTheWatch(t *testing.T) {
	for name, zombie := range map[string]bool{
		"predecessor": true,
		"recheck":     true,
		"recipe":      false,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			first := d.client()
			first.wants(recipes[name], second, never)
			d.Pass(100 * ms)
			slow := d.client()
			slow.faults[3] = fault{held: 2 * second}
			second := slow.wants(recipes[name], second, never)
			d.Pass(200 * ms)
			third := d.client().wants(recipes[name], 0, never)
			d.Pass(300 * lease)
			if !zombie {
				d.Story("c1 in", "c1 out", "c2 in", "c2 out", "c3 in", "c3 out")
				return
			}
			d.Story("c1 in", "c1 out")
			if second.err == nil || locks.IsDefinite(second.err) || third.task.Done {
				t.Errorf("the zombie returns %v; the waiter behind it has ended: %v", second.err, third.task.Done)
			}
		})
	}
}

// A client comes while another is inside. That one enters again, from its event
// thread, and is still inside when its main thread's delete admits the next one.
func TestTheHerdEntersTwice(t *testing.T) {
	d := newDesk(t)
	first := d.client().wants(zklocks.NewChildren, 2*second, never)
	d.Pass(second)
	d.client().wants(zklocks.NewChildren, 2*second, never)
	d.Pass(lease)
	d.Story("c1 in", "c1 in", "c1 out", "c2 in", "c1 out", "c2 out")
	if !errors.Is(first.err, locks.ErrNotHeld) {
		t.Errorf("the second delete returns %v", first.err)
	}
	d = newDesk(t)
	d.queue(zklocks.NewRecipe, 2*second, 2*second)
	d.Pass(lease)
	d.Story("c1 in", "c1 out", "c2 in", "c2 out")
}

// Two clients come in the 10 ms in which both wait before they list.
func TestTheHerdMissesItsHead(t *testing.T) {
	d := newDesk(t)
	for range 2 {
		d.client().wants(zklocks.NewChildren, second, never)
		d.Pass(d.Time + 4*ms)
	}
	d.Pass(30 * lease)
	d.Story()
	d.client().wants(zklocks.NewChildren, second, never) // wakes the head
	d.Pass(40 * lease)
	if len(d.Log) == 0 || d.Log[0] != "c1 in" {
		t.Errorf("after a third one: %q", d.Log)
	}
	d = newDesk(t)
	for range 2 {
		d.client().wants(zklocks.NewRecipe, second, never)
		d.Pass(d.Time + 4*ms)
	}
	d.Pass(lease)
	d.Story("c1 in", "c1 out", "c2 in", "c2 out")
}

// A waiter gives up.
func TestATimeoutThatLeavesItsNode(t *testing.T) {
	for name, leaks := range map[string]bool{
		"predecessor": false,
		"recheck":     false,
		"leaky":       true,
		"children":    false,
		"recipe":      false,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.client().wants(recipes[name], second, never)
			d.Pass(100 * ms)
			waiter := d.client().wants(recipes[name], second, 600*ms)
			d.Pass(3 * second)
			d.client().wants(recipes[name], second, never)
			d.Pass(300 * lease)
			entered := d.Log[len(d.Log)-1] == "c3 out"
			if errors.Is(waiter.err, locks.ErrNotAcquired) == leaks || locks.IsDefinite(waiter.err) == leaks || entered == leaks {
				t.Errorf("%v; %q", waiter.err, d.Log)
			}
			if left := len(d.list("/a")); left > 0 != leaks {
				t.Errorf("%d nodes left", left)
			}
		})
	}
}

// A create is executed, but its answer is lost.
func TestANodeThatNobodyKnows(t *testing.T) {
	for name, orphan := range map[string]bool{
		"predecessor": true,
		"recheck":     true,
		"children":    true,
		"recipe":      false,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			first := d.client()
			first.faults[3] = after // create, create the parent, create
			r := first.wants(recipes[name], second, never)
			d.Pass(second)
			d.client().wants(recipes[name], second, never)
			d.Pass(300 * lease)
			if !orphan {
				d.Story("c1 in", "c1 out", "c2 in", "c2 out")
				return
			}
			d.Story()
			if r.err == nil || locks.IsDefinite(r.err) {
				t.Errorf("it returns %v", r.err)
			}
		})
	}
}

// Events of a session are not processed while the critical section runs in the
// event thread.
func TestTheEventThreadIsBlocked(t *testing.T) {
	for name, told := range map[string]bool{
		"predecessor": false,
		"recheck":     false,
		"children":    false,
		"recipe":      true,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			runs := d.queue(recipes[name], 0, second, 20*second)
			holder := d.clients[2]
			d.Pass(5 * second)
			if !slices.Contains(d.Log, "c3 in") || slices.Contains(d.Log, "c3 out") {
				t.Fatalf("%q", d.Log)
			}
			holder.expire()
			d.Pass(60 * second)
			if len(holder.Lost) > 0 != told || !errors.Is(runs[2].err, locks.ErrLost) {
				t.Errorf("losses at %v, finally %v", holder.Lost, runs[2].err)
			}
		})
	}
}
