package harness

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// fakeEnvironment is an environment of goroutines, like docker, in which every operation
// succeeds at once. It records the calls of faults.
type fakeEnvironment struct {
	env.Environment // for methods that the test does not call
	mu              sync.Mutex
	done            []string
	tasks           sync.WaitGroup
	start           time.Time
	client          fakeClient
	closed          error
}

type fakeClient struct {
	before   func(string)
	acquires func(op int)
	releases func(acquire int)
}

func (p *fakeEnvironment) note(what string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = append(p.done, what)
	return nil
}
func (p *fakeEnvironment) Observes() []string               { return nil }
func (p *fakeEnvironment) Go(f func())                      { p.tasks.Go(f) }
func (p *fakeEnvironment) After(d time.Duration, f func())  { time.AfterFunc(d, f) }
func (p *fakeEnvironment) Run() error                       { p.tasks.Wait(); return nil }
func (p *fakeEnvironment) Rand(string, string, int64) int64 { return 0 }
func (p *fakeEnvironment) Now() time.Duration               { return time.Since(p.start) }
func (p *fakeEnvironment) Sleep(d time.Duration)            { time.Sleep(d) }
func (p *fakeEnvironment) Close() error                     { return p.closed }
func (p *fakeEnvironment) Client(string) env.Client         { return p.client }
func (p *fakeEnvironment) Pause(c string) error             { return p.note("pause " + c) }
func (p *fakeEnvironment) Resume(c string) error            { return p.note("resume " + c) }
func (p *fakeEnvironment) Kill(c string) error              { return p.note("kill " + c) }
func (c fakeClient) Read(env.Op) (int64, error)             { return 0, nil }
func (c fakeClient) Write(env.Op, int64) error              { return nil }
func (c fakeClient) Release(op env.Op) error {
	if c.releases != nil {
		c.releases(op.Acquire)
	}
	return nil
}

func (c fakeClient) Acquire(op env.Op, _ time.Duration) (env.Grant, error) {
	if c.before != nil {
		c.before(history.Acquire)
	}
	if c.acquires != nil {
		c.acquires(op.Index)
	}
	return env.Grant{}, nil
}

// A client may still answer between the line of its kill and the signal. Its answer
// must not be recorded as certain: that would be a hold that begins after its end.
func TestNoOkAfterAClientsDeath(t *testing.T) {
	for range 50 {
		p := randomPlan("redis-set-lua", "kill", 1)
		p.Clients, p.Acquires, p.Lease = []string{"c1"}, 50, 200*time.Millisecond
		p.Faults = []faults.Injection{{Fault: "kill", On: []string{"c1"}, At: time.Millisecond}}
		h, err := Run(p, func(_ env.Config, o env.Observer) (env.Environment, error) {
			// A slow client, so that the kill comes while it asks.
			return &fakeEnvironment{start: time.Now(), client: fakeClient{before: func(string) { time.Sleep(300 * time.Microsecond) }}}, nil
		}, nil, nil)
		must(t, err)
		must(t, history.Check(h))
		dead := false
		for _, e := range h.Entries {
			if dead && e.Process.Client() && e.Type != history.Info {
				t.Fatalf("after its death the client has %s %s", e.Type, e.F)
			}
			dead = dead || e.F == "kill"
		}
		if !dead {
			t.Fatal("no client was killed")
		}
	}
}

// slowEnvironment has servers that take their time to stop and to start.
type slowEnvironment struct {
	*fakeEnvironment
	gone, back time.Duration // when the server did
}

func (p *slowEnvironment) takes(at *time.Duration) error {
	time.Sleep(10 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	*at = p.Now()
	return nil
}

func (p *slowEnvironment) Stop(string, bool) error { return p.takes(&p.gone) }
func (p *slowEnvironment) Start(string) error      { return p.takes(&p.back) }

// strikingEnvironment has a link that loses its message at once.
type strikingEnvironment struct {
	*fakeEnvironment
	struck func(id int)
}

func (p *strikingEnvironment) WhenStruck(f func(id int)) { p.struck = f }
func (p *strikingEnvironment) Restore(int) (int, error)  { return 1, nil }
func (p *strikingEnvironment) Impair(id int, _ faults.Impairment) error {
	go p.struck(id)
	return nil
}

// A fault that strikes one message ends when it has struck: what follows is a time without
// faults.
func TestAFaultThatStrikesOnceEndsThen(t *testing.T) {
	p := randomPlan("redis-set-lua", "kill-connection", 1)
	p.Clients, p.Acquires = []string{"c1"}, 3
	p.Faults = []faults.Injection{{Fault: "kill-connection", On: []string{"c1", "redis-1"}, At: time.Millisecond, For: time.Minute}}
	environment := &strikingEnvironment{fakeEnvironment: &fakeEnvironment{start: time.Now(), client: fakeClient{before: func(string) { time.Sleep(20 * time.Millisecond) }}}}
	h, err := Run(p, func(env.Config, env.Observer) (env.Environment, error) { return environment, nil }, nil, nil)
	must(t, err)
	ended, after := 0, 0
	for _, e := range h.Entries {
		switch {
		case e.F == "kill-connection"+history.EndSuffix:
			ended++
		case ended > 0 && e.F == history.Acquire:
			after++
		}
	}
	if ended != 1 || after == 0 {
		t.Errorf("it ended %d times, and %d lines of acquires followed", ended, after)
	}
}

// In real time a fault has a line before its effect and one after it, and so has its
// end: no effect comes before the first line, and the server's restart is not the
// lock's delay.
func TestAFaultHasALineBeforeAndAfterItsEffect(t *testing.T) {
	p := randomPlan("redis-set-lua", "restart", 1)
	p.Clients, p.Acquires = []string{"c1"}, 3
	p.Faults = []faults.Injection{{Fault: "restart", On: []string{"redis-1"}, At: time.Millisecond, For: 5 * time.Millisecond}}
	environment := &slowEnvironment{fakeEnvironment: &fakeEnvironment{start: time.Now(), client: fakeClient{before: func(string) { time.Sleep(20 * time.Millisecond) }}}}
	h, err := Run(p, func(env.Config, env.Observer) (env.Environment, error) { return environment, nil }, nil, nil)
	must(t, err)
	at := map[string]time.Duration{}
	for _, e := range h.Entries {
		if e.ID == 1 {
			at[e.F] = e.Time
		}
	}
	if len(at) != 4 {
		t.Errorf("the fault has the lines %v", at)
	}
	order := []time.Duration{at["restart"], environment.gone, at["restart-done"], at["restart-end"], environment.back, at["restart-end-done"]}
	if !slices.IsSorted(order) || order[0] == 0 {
		t.Errorf("lines and effects came at %v", order)
	}
}

// Of two faults that share a state, the second takes effect when the first does.
func TestASecondFaultWaitsForTheSharedEffect(t *testing.T) {
	p := randomPlan("redis-set-lua", "restart", 1)
	p.Clients, p.Acquires, p.Faults = []string{"c1"}, 3, nil
	for _, at := range []time.Duration{time.Millisecond, 2 * time.Millisecond} {
		p.Faults = append(p.Faults, faults.Injection{Fault: "restart", On: []string{"redis-1"}, At: at, For: 20 * time.Millisecond})
	}
	environment := &slowEnvironment{fakeEnvironment: &fakeEnvironment{start: time.Now(), client: fakeClient{before: func(string) { time.Sleep(20 * time.Millisecond) }}}}
	h, err := Run(p, func(env.Config, env.Observer) (env.Environment, error) { return environment, nil }, nil, nil)
	must(t, err)
	done := 0
	for _, e := range h.Entries {
		if e.F == "restart-done" {
			if done++; e.Time < environment.gone {
				t.Errorf("fault %d is recorded as done at %v, and the server stopped at %v", e.ID, e.Time, environment.gone)
			}
		}
	}
	if done != 2 {
		t.Errorf("%d faults are done", done)
	}
}

// A second failover waits for the server of the first one: without a majority no server
// takes over.
func TestOneFailoverAtATime(t *testing.T) {
	p := randomPlan("zk-recipe", "failover", 1)
	p.Clients, p.Acquires, p.Faults = []string{"c1"}, 5, nil
	for i, name := range []string{"zk-1", "zk-2"} {
		p.Faults = append(p.Faults, faults.Injection{Fault: "failover", On: []string{name}, At: time.Duration(i+1) * time.Millisecond, For: 5 * time.Millisecond})
	}
	environment := &slowEnvironment{fakeEnvironment: &fakeEnvironment{start: time.Now(), client: fakeClient{before: func(string) { time.Sleep(20 * time.Millisecond) }}}}
	h, err := Run(p, func(env.Config, env.Observer) (env.Environment, error) { return environment, nil }, nil, nil)
	must(t, err)
	var lines []string
	var ids []int
	for _, e := range h.Entries {
		if strings.HasPrefix(e.F, "failover") {
			lines, ids = append(lines, e.F), append(ids, e.ID)
		}
	}
	one := []string{"failover", "failover-done", "failover-end", "failover-end-done"}
	if !slices.Equal(lines, slices.Repeat(one, 2)) || slices.Min(ids[:4]) != slices.Max(ids[:4]) {
		t.Errorf("got %q of %v", lines, ids)
	}
}

// In no history does a paused client finish an operation, or a stopped server do
// anything.
func TestStoppedClientsAndServersDoNothing(t *testing.T) {
	for _, kind := range []string{"pause", "restart", "restart-lost"} {
		for seed := range uint64(300) {
			p := randomPlan("redis-set-lua", kind, seed)
			p.Faults = append(p.Faults, randomPlan("redis-set-lua", kind, seed+1000).Faults...)
			j := simulate(t, p)
			stopped := map[string]int{}
			for _, e := range j.History.Entries {
				switch {
				case e.F == kind:
					stopped[e.On[0]]++
				case e.F == kind+history.EndSuffix:
					stopped[e.On[0]]--
				case stopped[e.Client] > 0 && e.Type == history.OK:
					t.Fatalf("%s, seed %d: %s finishes %s while it is paused (line %d)", kind, seed, e.Client, e.F, e.Index)
				case stopped[e.Process.Name] > 0 && (e.F == history.Granted || e.F == history.Remove):
					t.Fatalf("%s, seed %d: %s does %s while it is down (line %d)", kind, seed, e.Process.Name, e.F, e.Index)
				}
			}
		}
	}
}

// A worker may report before the run has begun. Nothing is recorded then, because there
// is no time yet.
func TestNewsBeforeTheRunBeginsIsNotRecorded(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	p.Faults = nil
	h, err := Run(p, func(_ env.Config, o env.Observer) (env.Environment, error) {
		o.Report(history.Entry{Client: "c1", F: history.Queued})
		o.Server(history.Entry{F: history.Expire})
		return &fakeEnvironment{start: time.Now()}, nil
	}, nil, nil)
	must(t, err)
	for _, e := range h.Entries {
		if e.F == history.Queued || e.F == history.Expire {
			t.Errorf("%s is recorded", e.F)
		}
	}
	if checker.Reach(h)[checker.Grants] == 0 {
		t.Error("the run has no entries")
	}
}

// A late answer is recorded with its acquire, which has no grant.
func TestALateAnswerIsRecorded(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	p.Clients, p.Acquires, p.Lease, p.Faults = []string{"c1"}, 3, 200*time.Millisecond, nil
	var late []int64
	h, err := Run(p, func(_ env.Config, o env.Observer) (env.Environment, error) {
		say := func(op int) {
			late = append(late, int64(op))
			o.Report(history.Entry{Client: "c1", F: history.Late, Lock: LockName, Op: history.Some(int64(op)), Text: "acquire answered late: ok"})
		}
		return &fakeEnvironment{start: time.Now(), client: fakeClient{acquires: say}}, nil
	}, nil, nil)
	must(t, err)
	must(t, history.Check(h))
	var recorded []int64
	for _, e := range h.Entries {
		if e.F == history.Late {
			recorded = append(recorded, e.Op.V)
		}
	}
	if len(late) == 0 || !slices.Equal(recorded, late) {
		t.Errorf("recorded: %v, want %v", recorded, late)
	}
}

// A place in the queue belongs to an open acquire, and names it.
func TestAPlaceInTheQueueNamesItsAcquire(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	p.Clients, p.Acquires, p.Lease, p.Faults = []string{"c1"}, 3, 200*time.Millisecond, nil
	h, err := Run(p, func(_ env.Config, o env.Observer) (env.Environment, error) {
		said := 0
		say := func(op int) {
			said++
			o.Report(history.Entry{Client: "c1", F: history.Queued, Lock: LockName, Op: history.Some(int64(op)), Value: history.Some(int64(said))})
		}
		return &fakeEnvironment{start: time.Now(), client: fakeClient{acquires: say, releases: say}}, nil
	}, nil, nil)
	must(t, err)
	if err := history.Check(h); err != nil {
		t.Error(err)
	}
	asked, places := int64(0), ""
	for _, e := range h.Entries {
		if e.F == history.Acquire && e.Type == history.Invoke {
			asked = int64(e.Index)
		}
		if e.F == history.Queued {
			places += fmt.Sprint(e.Value.V, " ")
			if e.Op != history.Some(asked) || e.Process.N != 1 || e.Grant != 0 {
				t.Errorf("%+v, and the acquire's index is %d", e, asked)
			}
		}
	}
	if places != "1 3 5 " {
		t.Errorf("places %q", places)
	}
}

// Unrequested entries go on beside the client's script, without data races in
// environments of goroutines (run with -race).
func TestEntriesBesideTheScript(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	p.Clients, p.Acquires, p.Faults = []string{"c1", "c2"}, 20, nil
	var entries sync.WaitGroup
	h, err := Run(p, func(_ env.Config, o env.Observer) (env.Environment, error) {
		enter := func() {
			if op := o.Enter("c1", env.Grant{}); op.Index != 0 {
				o.Section("c1", op)
			}
		}
		return &fakeEnvironment{start: time.Now(), client: fakeClient{before: func(string) { entries.Go(enter) }}}, nil
	}, nil, nil)
	entries.Wait()
	must(t, err)
	if err := history.Check(h); err != nil {
		t.Error(err)
	}
	if n := checker.Reach(h)[checker.Grants]; n <= 40 {
		t.Errorf("%d grants, want more than those of the scripts", n)
	}
}

// heldEnvironment has a server that is back only when the client has taken the lock again.
type heldEnvironment struct {
	*fakeEnvironment
	again chan struct{}
	stuck bool
}

func (p *heldEnvironment) Stop(string, bool) error { return nil }

func (p *heldEnvironment) Start(string) error {
	select {
	case <-p.again:
	case <-time.After(10 * time.Second):
		p.stuck = true
	}
	return nil
}

// A client at the point of a second failover does not wait for the server of the first
// one: it would hold the lock meanwhile.
func TestNoClientWaitsForReplicas(t *testing.T) {
	p := randomPlan("zk-recipe", "failover", 1)
	p.Clients, p.Acquires, p.Faults = []string{"c1"}, 5, nil
	for i, name := range []string{"zk-1", "zk-2"} {
		p.Faults = append(p.Faults, faults.Injection{Fault: "failover", On: []string{name}, For: time.Millisecond, Point: &faults.Point{
			Client: "c1", Acquisition: i + 1, Op: history.Acquire, After: true, OK: true,
		}})
	}
	environment := &heldEnvironment{again: make(chan struct{}, p.Acquires)}
	asked := 0
	environment.fakeEnvironment = &fakeEnvironment{start: time.Now(), client: fakeClient{acquires: func(int) {
		if asked++; asked > 2 {
			environment.again <- struct{}{}
		}
	}}}
	_, err := Run(p, func(env.Config, env.Observer) (env.Environment, error) { return environment, nil }, nil, nil)
	must(t, err)
	if environment.stuck {
		t.Error("the client waits")
	}
}
