package workloads_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// client writes down what a workload asks of it, and answers as told.
type client struct {
	now      time.Duration
	done     []string
	acquires []workloads.Result // in order; then OK
	takes    time.Duration      // an acquire that is not OK takes so long; 0: its time-out
	read     workloads.Result
	value    int64
	healed   time.Duration
	broken   bool // a fault is in force
}

func (c *client) note(format string, args ...any) {
	c.done = append(c.done, fmt.Sprintf("%v %s", c.now, fmt.Sprintf(format, args...)))
}
func (c *client) Now() time.Duration       { return c.now }
func (c *client) Sleep(d time.Duration)    { c.now += max(d, 0) }
func (c *client) Rand(string, int64) int64 { return 0 }
func (c *client) Next()                    { c.note("next") }
func (c *client) Acquire(timeout time.Duration) workloads.Result {
	c.note("acquire %v", timeout)
	if len(c.acquires) == 0 {
		return workloads.OK
	}
	res := c.acquires[0]
	c.acquires = c.acquires[1:]
	if c.takes > 0 {
		timeout = c.takes
	}
	c.now += timeout
	return res
}

func (c *client) Abandon() workloads.Result { c.note("abandon"); return workloads.Unknown }

func (c *client) Read(timeout time.Duration) (int64, workloads.Result) {
	c.note("read %v", timeout)
	return c.value, c.read
}

func (c *client) Write(v int64, timeout time.Duration) workloads.Result {
	c.note("write %d %v", v, timeout)
	return workloads.OK
}
func (c *client) Release() workloads.Result     { c.note("release"); return workloads.OK }
func (c *client) Healed() (time.Duration, bool) { return c.healed, !c.broken }

func (c *client) wants(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.done, want) {
		t.Errorf("did\n  %q\nwant\n  %q", c.done, want)
	}
}

func TestAScriptKeepsItsTimes(t *testing.T) {
	c := &client{value: 7}
	workloads.Script{Client: "c1", Steps: []workloads.Step{
		{Do: history.Acquire, At: time.Second, Limit: 3 * time.Second},
		{Do: history.Read},
		{Do: history.Write, Wait: 2 * time.Second, Limit: time.Second},
		{At: 5 * time.Second},
		{Do: history.Release},
	}}.Run(c, 10*time.Second)
	c.wants(t, "1s next", "1s acquire 3s", "1s read 0s", "3s write 8 1s", "5s release")
}

// Without the lock a client neither touches what it guards nor releases it.
func TestAScriptWithoutTheLockGoesOnToTheNextAcquire(t *testing.T) {
	section := []workloads.Step{{Do: history.Acquire, Limit: time.Second}, {Do: history.Read}, {Do: history.Write}, {Do: history.Release}}
	c := &client{acquires: []workloads.Result{workloads.No, workloads.Unknown}}
	workloads.Script{Steps: slices.Concat(section, section, section)}.Run(c, 10*time.Second)
	c.wants(t, "0s next", "0s acquire 1s", "1s next", "1s acquire 1s", "2s next", "2s acquire 1s", "2s read 0s", "2s write 1 0s", "2s release")
}

func TestAScriptAsksAgainWhenItsRequestFoundNoServer(t *testing.T) {
	c := &client{acquires: []workloads.Result{workloads.No, workloads.No}, takes: 100 * time.Millisecond}
	workloads.Script{Steps: []workloads.Step{{Do: history.Acquire, Limit: time.Second}}}.Run(c, 10*time.Second)
	c.wants(t, "0s next", "0s acquire 1s", "300ms acquire 700ms", "600ms acquire 400ms")
}

func TestAWriteNeedsARead(t *testing.T) {
	c := &client{read: workloads.No}
	workloads.Script{Steps: []workloads.Step{{Do: history.Acquire, Limit: time.Second}, {Do: history.Read}, {Do: history.Write}, {Do: history.Release}}}.Run(c, time.Second)
	c.wants(t, "0s next", "0s acquire 1s", "0s read 0s", "0s release")
}

func TestADeadClientDoesNothing(t *testing.T) {
	c := &client{acquires: []workloads.Result{workloads.Dead}, takes: 1}
	workloads.Script{Steps: []workloads.Step{{Do: history.Acquire}, {Do: history.Read}, {Do: history.Release}}}.Run(c, time.Second)
	workloads.Random{Acquires: 3, Lease: time.Second}.Run(&client{acquires: []workloads.Result{workloads.Dead}})
	c.wants(t, "0s next", "0s acquire 0s")
}

func TestRandomGoesThroughCriticalSections(t *testing.T) {
	c := &client{value: 3}
	workloads.Random{Acquires: 2, Lease: 10 * time.Second}.Run(c)
	one := []string{"0s next", "0s acquire 10s", "0s read 0s", "0s write 4 0s", "0s release"}
	c.wants(t, slices.Concat(one, one)...)
}

// A client goes on asking until nobody can say any more that it should have
// waited: 4 T after its first request and after the last fault.
func TestPatience(t *testing.T) {
	const lease = 10 * time.Second
	asked := func(c *client) int {
		for range 100 {
			c.acquires = append(c.acquires, workloads.No)
		}
		workloads.Random{Acquires: 1, Lease: lease}.Run(c)
		return len(c.done) - 1
	}
	if n := asked(&client{}); n < 4 || n > 6 {
		t.Errorf("asked %d times for T each", n)
	}
	if n := asked(&client{healed: 10 * lease}); n < 14 || n > 16 {
		t.Errorf("asked %d times where a fault ended after 10 T", n)
	}
	if n := asked(&client{broken: true}); n < 100 {
		t.Errorf("asked %d times while a fault was in force", n)
	}
}

func TestTheResourceRefusesStaleTokens(t *testing.T) {
	type access struct {
		write bool
		token uint64
		stale bool
	}
	for _, tt := range []struct {
		name     string
		fencing  history.Fencing
		accesses []access
	}{
		{"off: nobody looks", history.FencingOff, []access{{true, 34, false}, {true, 33, false}, {false, 33, false}}},
		{"a stale write", history.FencingAll, []access{{true, 33, false}, {true, 34, false}, {true, 33, true}}},
		{"a read shows the token, too", history.FencingAll, []access{{true, 33, false}, {false, 34, false}, {true, 33, true}}},
		{"a stale read", history.FencingAll, []access{{true, 34, false}, {false, 33, true}}},
		{"the same token again", history.FencingAll, []access{{true, 34, false}, {true, 34, false}, {false, 34, false}}},
		{"no token is below every token", history.FencingAll, []access{{false, 1, false}, {true, 0, true}}},
		{"writes only: a stale write before the first newer one gets in", history.FencingWrites, []access{{true, 33, false}, {false, 34, false}, {true, 33, false}, {true, 34, false}, {true, 33, true}}},
	} {
		g := workloads.Guarded{Fencing: tt.fencing}
		for i, a := range tt.accesses {
			var stale bool
			if a.write {
				_, stale = g.Write(a.token, int64(i))
			} else {
				_, stale = g.Read(a.token)
			}
			if stale != a.stale {
				t.Errorf("%s: access %d: stale %v", tt.name, i+1, stale)
			}
		}
	}
}
