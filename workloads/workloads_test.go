package workloads_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// client records the calls of a workload, and gives prepared answers.
type client struct {
	now      time.Duration
	draws    map[string]int64
	done     []string
	acquires []workloads.Result // in order; OK after the last
	takes    time.Duration      // how long a failed acquire takes; 0: its timeout
	read     workloads.Result
	healed   time.Duration
	broken   bool // a fault is in force
	until    time.Duration
}

func (c *client) note(format string, args ...any) {
	c.done = append(c.done, fmt.Sprintf("%v %s", c.now, fmt.Sprintf(format, args...)))
}
func (c *client) Now() time.Duration              { return c.now }
func (c *client) Sleep(d time.Duration)           { c.now += max(d, 0) }
func (c *client) Rand(what string, n int64) int64 { return min(c.draws[what], n-1) }
func (c *client) Next()                           { c.note("next") }

func (c *client) Acquire(timeout time.Duration, unfair bool) workloads.Result {
	how := "acquire"
	if unfair {
		how = "acquire out of turn"
	}
	c.note("%s %v", how, timeout)
	if len(c.acquires) == 0 {
		return workloads.OK
	}
	res := c.acquires[0]
	c.acquires = c.acquires[1:]
	if c.takes > 0 {
		timeout = c.takes
	}
	if res != workloads.OK {
		c.now += timeout
	}
	return res
}

func (c *client) CanTry() bool                       { return false }
func (c *client) Try(time.Duration) workloads.Result { panic("it cannot") }
func (c *client) CanExtend() bool                    { return false }
func (c *client) Extend() workloads.Result           { panic("it cannot") }

func (c *client) Abandon() workloads.Result { c.note("abandon"); return workloads.Unknown }

func (c *client) Read(timeout time.Duration) workloads.Result {
	c.note("read %v", timeout)
	return c.read
}

func (c *client) Write(timeout time.Duration) workloads.Result {
	c.note("write %v", timeout)
	return workloads.OK
}
func (c *client) Until() time.Duration          { return c.until }
func (c *client) Release() workloads.Result     { c.note("release"); return workloads.OK }
func (c *client) ReleaseName() workloads.Result { c.note("release-name"); return workloads.OK }
func (c *client) Healed() (time.Duration, bool) { return c.healed, !c.broken }

func (c *client) wants(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.done, want) {
		t.Errorf("did\n  %q\nwant\n  %q", c.done, want)
	}
}

func TestAScriptKeepsItsTimes(t *testing.T) {
	c := &client{}
	workloads.Script{Client: "c1", Steps: []workloads.Step{
		{Do: history.Acquire, At: time.Second, Limit: 3 * time.Second},
		{Do: history.Read},
		{Do: history.Write, Wait: 2 * time.Second, Limit: time.Second},
		{At: 5 * time.Second},
		{Do: history.Release},
	}}.Run(c, 10*time.Second)
	c.wants(t, "1s next", "1s acquire 3s", "1s read 0s", "3s write 1s", "5s release")
}

// A client that watches its lease does nothing after its end but release, at once.
func TestAScriptEndsWithItsLease(t *testing.T) {
	for until, want := range map[time.Duration][]string{
		0:               {"0s next", "0s acquire 1s", "0s read 0s", "2s write 0s", "2s release"},
		3 * time.Second: {"0s next", "0s acquire 1s", "0s read 0s", "2s write 0s", "2s release"},
		time.Second:     {"0s next", "0s acquire 1s", "0s read 0s", "1s release"},
	} {
		c := &client{until: until}
		workloads.Script{Steps: []workloads.Step{
			{Do: history.Acquire, Limit: time.Second},
			{Do: history.Read},
			{Do: history.Write, At: 2 * time.Second, Leased: true},
			{Do: history.Release},
		}}.Run(c, 10*time.Second)
		c.wants(t, want...)
	}
	c := &losing{}
	workloads.Script{Steps: []workloads.Step{{Do: history.Acquire}, {Do: history.Read}, {Do: history.Write, Wait: time.Second, Leased: true}, {Do: history.Release}}}.Run(c, time.Second)
	c.wants(t, "0s next", "0s acquire 0s", "0s read 0s", "1s release")
}

// losing learns during a sleep that its lock is lost.
type losing struct{ client }

func (c *losing) Sleep(d time.Duration) {
	c.client.Sleep(d)
	c.until = c.now
}

// Without the lock a client neither touches the resource nor releases.
func TestAScriptWithoutTheLockGoesOnToTheNextAcquire(t *testing.T) {
	section := []workloads.Step{{Do: history.Acquire, Limit: time.Second}, {Do: history.Read}, {Do: history.Write}, {Do: history.Release}}
	c := &client{acquires: []workloads.Result{workloads.No, workloads.Unknown}}
	workloads.Script{Steps: slices.Concat(section, section, section)}.Run(c, 10*time.Second)
	c.wants(t, "0s next", "0s acquire 1s", "1s next", "1s acquire 1s", "2s next", "2s acquire 1s", "2s read 0s", "2s write 0s", "2s release")
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
	c := &client{}
	workloads.Random{Acquires: 2, Lease: 10 * time.Second}.Run(c)
	one := []string{"0s next", "0s acquire 10s", "0s read 0s", "0s write 0s", "0s release"}
	c.wants(t, slices.Concat(one, one)...)
}

func TestAScriptReleasesByNameAfterARefusal(t *testing.T) {
	c := &client{acquires: []workloads.Result{workloads.No}, takes: 1}
	workloads.Script{Steps: []workloads.Step{
		{Do: workloads.ReleaseName},
		{Do: history.Acquire},
		{Do: history.Release}, // skipped: there is no grant
		{Do: workloads.ReleaseName},
		{Do: history.Acquire, Unfair: true},
		{Do: workloads.ReleaseName},
		{Do: history.Read},
	}}.Run(c, time.Second)
	c.wants(t, "0s release-name", "0s next", "0s acquire 0s", "1ns release-name", "1ns next", "1ns acquire out of turn 0s", "1ns release-name")
}

// A nested grant is released first. A refused nested acquire does not change the outer
// section.
func TestAScriptNests(t *testing.T) {
	inner := []workloads.Step{{Do: history.Acquire}, {Do: history.Read}, {Do: history.Write}, {Do: history.Release}}
	all := slices.Concat([]workloads.Step{{Do: history.Acquire}, {Do: history.Read}}, inner, []workloads.Step{{Do: history.Write}, {Do: history.Release}})
	before := []string{"0s next", "0s acquire 0s", "0s read 0s", "0s next", "0s acquire 0s"}
	after := []string{"0s write 0s", "0s release"}
	for _, tt := range []struct {
		answer workloads.Result
		inside []string
	}{
		{workloads.OK, []string{"0s read 0s", "0s write 0s", "0s release"}},
		{workloads.No, nil},
	} {
		c := &client{acquires: []workloads.Result{workloads.OK, tt.answer}}
		workloads.Script{Steps: all}.Run(c, time.Second)
		c.wants(t, slices.Concat(before, tt.inside, after)...)
	}
}

func TestWorkloads(t *testing.T) {
	const lease = 10 * time.Second
	ok, no, dead := workloads.OK, workloads.No, workloads.Dead
	for _, tt := range []struct {
		name     string
		nth      int
		acquires []workloads.Result
		draws    map[string]int64
		want     []string
	}{
		{"", 0, []workloads.Result{ok}, nil, []string{"0s next", "0s acquire 10s", "0s read 0s", "0s write 0s", "0s release"}},
		{"finally", 0, []workloads.Result{ok}, nil, []string{"0s next", "0s acquire 500ms", "0s read 0s", "0s write 0s", "0s release-name"}},
		{"finally", 0, []workloads.Result{no}, map[string]int64{"patience": 100_000}, []string{"0s next", "0s acquire 600ms", "1ns release-name"}},
		{"finally", 0, []workloads.Result{dead}, nil, []string{"0s next", "0s acquire 500ms"}},
		{"mixed", 0, []workloads.Result{ok}, nil, []string{"0s next", "0s acquire out of turn 10s", "0s read 0s", "0s write 0s", "0s release"}},
		{"mixed", 1, []workloads.Result{ok}, nil, []string{"0s next", "0s acquire 10s", "0s read 0s", "0s write 0s", "0s release"}},
		{"nested", 0, []workloads.Result{ok, ok}, nil, []string{"0s next", "0s acquire 10s", "0s read 0s", "0s acquire 500ms", "0s read 0s", "0s write 0s", "0s release", "0s write 0s", "0s release"}},
		{"nested", 0, []workloads.Result{ok, no}, nil, []string{"0s next", "0s acquire 10s", "0s read 0s", "0s acquire 500ms", "1ns write 0s", "1ns release"}},
		{"nested", 0, []workloads.Result{ok, dead}, nil, []string{"0s next", "0s acquire 10s", "0s read 0s", "0s acquire 500ms"}},
		{"give-up", 0, []workloads.Result{ok}, nil, []string{"0s next", "0s acquire 10s", "0s read 0s", "0s write 0s", "0s release"}},
		{"give-up", 0, []workloads.Result{no, ok}, map[string]int64{"gives up": 1, "away": 19_000_000}, []string{"0s next", "0s acquire 500ms", "25.000000001s next", "25.000000001s acquire 500ms", "25.000000001s read 0s", "25.000000001s write 0s", "25.000000001s release"}},
	} {
		w, found := workloads.Find(tt.name)
		if !found {
			t.Fatalf("no workload %q", tt.name)
		}
		c := &client{draws: tt.draws, acquires: tt.acquires, takes: 1}
		sections := 1
		if tt.name == "give-up" {
			sections = len(tt.acquires)
		}
		workloads.Random{Workload: w, Nth: tt.nth, Acquires: sections, Lease: lease}.Run(c)
		c.wants(t, tt.want...)
	}
}

// A client goes on asking for longer than liveness allows: 4 T after its first request
// and after the last fault.
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
		{"off: tokens are ignored", history.FencingOff, []access{{true, 34, false}, {true, 33, false}, {false, 33, false}}},
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
