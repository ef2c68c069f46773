package harness

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/workloads"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// simulate executes a plan.
func simulate(t *testing.T, p *Plan) *Judged {
	t.Helper()
	j, _, err := Simulate(sim.Simulator, p)
	must(t, err)
	return j
}

// randomPlan returns a run of lock under faults of one kind.
func randomPlan(lock, fault string, seed uint64) *Plan {
	p := &Plan{
		Lock: lock, On: "sim", Seed: seed, Lease: 10 * time.Second,
		Clients: []string{"c1", "c2", "c3"}, Acquires: 8,
	}
	f, _ := faults.Find(fault)
	l, _ := catalogue.FindLock(lock)
	layout := catalogue.NewLayout(&l, catalogue.Server{}, catalogue.Options{})
	servers := layout.Masters()
	if l.Store == catalogue.StoreRedis {
		servers = servers[:1]
	}
	p.Faults = faults.Random(faults.Scope{
		Kinds: []faults.Fault{f}, Count: 2, Clients: p.Clients, Servers: servers,
		Acquires: 8, Lease: p.Lease, Length: 8 * time.Second,
	}, rand.New(rand.NewPCG(seed, 0)).Int64N)
	return p
}

// applicableFaults returns the faults that apply to lock. Under the race detector it returns
// a quarter of them, different ones for different locks.
func applicableFaults(lock catalogue.Lock) []faults.Fault {
	apply := slices.DeleteFunc(faults.All(), func(f faults.Fault) bool { return lock.Applies(f, catalogue.Server{}) != nil })
	if alltests.Wanted() {
		return apply
	}
	var few []faults.Fault
	for i := len(lock.ID) % 4; i < len(apply); i += 4 {
		few = append(few, apply[i])
	}
	return few
}

// execute executes a plan in a buffer with the decisions d, and returns its history.
func execute(t *testing.T, b *Buffer, p *Plan, d env.Decisions) string {
	t.Helper()
	h, err := b.Simulate(p, d, nil)
	if err != nil {
		t.Fatalf("%s under %v, seed %d: %v", p.Lock, p.Faults, p.Seed, err)
	}
	var text bytes.Buffer
	must(t, history.Encode(&text, h))
	return text.String()
}

// seeds returns n, and a fifth of n under the race detector, which has little to check:
// one goroutine runs at a time.
func seeds(n uint64) uint64 { return alltests.Budget(n, n/5) }

// One seed gives one history, and so does its record of choices, through a file: for
// every lock under every fault.
func TestOneSeedGivesOneHistory(t *testing.T) {
	t.Parallel()
	buffer := NewBuffer(sim.Simulator)
	defer buffer.Close()
	for _, lock := range catalogue.Locks {
		for _, f := range applicableFaults(lock) {
			for seed := range seeds(5) {
				p := randomPlan(lock.ID, f.Name, seed)
				first := execute(t, buffer, p, p.Decide(false))
				p = randomPlan(lock.ID, f.Name, seed)
				if again := execute(t, buffer, p, p.Decide(true)); again != first {
					t.Fatalf("%s under %s, seed %d: two runs differ", lock.ID, f.Name, seed)
				}
				p.Choices = buffer.Decided().Choices
				var file bytes.Buffer
				must(t, p.Write(&file))
				saved, err := ReadPlan(&file)
				must(t, err)
				replayed := execute(t, buffer, saved, saved.Decide(true))
				if d := buffer.Decided(); d.Missing+d.Unused > 0 {
					t.Errorf("%s under %s, seed %d: replayed with %d choices missing and %d left over", lock.ID, f.Name, seed, d.Missing, d.Unused)
				}
				if replayed != first {
					t.Fatalf("%s under %s, seed %d: the replay differs", lock.ID, f.Name, seed)
				}
			}
		}
	}
}

// check accepts every history that a run writes.
func TestHistoriesAreValid(t *testing.T) {
	t.Parallel()
	buffer := NewBuffer(sim.Simulator)
	defer buffer.Close()
	for _, lock := range catalogue.Locks {
		for _, f := range applicableFaults(lock) {
			for seed := range seeds(20) {
				p := randomPlan(lock.ID, f.Name, seed)
				h, err := buffer.Simulate(p, p.Decide(false), nil)
				if err != nil {
					t.Fatalf("%s under %s, seed %d: %v", lock.ID, f.Name, seed, err)
				}
				j := Judge(p, h)
				if err := history.Check(h); err != nil {
					t.Errorf("%s under %s, seed %d: %v", lock.ID, f.Name, seed, err)
				}
				for _, v := range j.Verdicts {
					// Without any grant only liveness can be judged.
					never := j.Reached[checker.Grants] == 0 && j.Outcome(checker.Liveness) == checker.Violated
					if v.Outcome == checker.Unknown && !never {
						t.Errorf("%s under %s, seed %d: %s is unknown: %s", lock.ID, f.Name, seed, v.Property, v.Reason)
					}
				}
			}
		}
	}
}

// A record of choices with gaps or leftovers can be replayed, and the replay reports
// both.
func TestAReplayWithGapsTakesTheLeastDisturbingValues(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	simulate(t, p)
	p.Choices = p.Choices[:len(p.Choices)/2]
	p.Choices[0].Name.Who = "nobody"
	_, fit, err := Simulate(sim.Simulator, p)
	must(t, err)
	if fit.Defaulted == 0 || fit.Unused == 0 {
		t.Errorf("replayed with %+v", fit)
	}
}

func TestAFaultIsRecordedBeforeItsEffect(t *testing.T) {
	c, _ := catalogue.FindCase("redis-single-crash-nopersist")
	flawed, _, _ := CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	j := simulate(t, flawed)
	var order []string
	for _, e := range j.History.Entries {
		if e.F == "restart-lost" || e.F == "restart-lost-end" || e.F == history.Lose {
			order = append(order, e.F)
		}
	}
	if want := "restart-lost lose restart-lost-end"; strings.Join(order, " ") != want {
		t.Errorf("the order is %q, want %q", order, want)
	}
}

// After an uncertain end a client goes on under a new number. A killed client does
// nothing more.
func TestProcessNumbersRetire(t *testing.T) {
	for seed := range uint64(50) {
		j := simulate(t, randomPlan("redis-set-lua", "drop-reply", seed))
		retired := map[int]bool{}
		for _, e := range j.History.Entries {
			if !e.Process.Client() {
				continue
			}
			if retired[e.Process.N] {
				t.Fatalf("seed %d: process %d goes on after an uncertain end", seed, e.Process.N)
			}
			retired[e.Process.N] = e.Type == history.Info
		}
	}
	j := simulate(t, randomPlan("redis-set-lua", "kill", 1))
	dead := map[string]bool{}
	for _, e := range j.History.Entries {
		if e.F == "kill" {
			dead[e.On[0]] = true
		}
		if e.Type == history.Invoke && dead[e.Client] {
			t.Errorf("%s invokes an operation after its death", e.Client)
		}
	}
	if len(dead) == 0 {
		t.Error("no client was killed")
	}
}

func TestPlansSurviveWritingAndReading(t *testing.T) {
	p := randomPlan("redis-set-del", "delay", 3)
	p.Options, p.Fencing, p.Server = catalogue.Options{Token: true, Spin: true}, history.FencingWrites, catalogue.Server{Fsync: catalogue.FsyncAlways}
	p.Strategy, p.Depth = PCT, 3
	simulate(t, p)
	var b bytes.Buffer
	must(t, p.Write(&b))
	got, err := ReadPlan(&b)
	must(t, err)
	if !reflect.DeepEqual(got, p) {
		t.Errorf("read\n%+v\nwrote\n%+v", got, p)
	}
}

// The run of a Go test is replayed by that test, which has the lock.
func TestPlansOfGoTests(t *testing.T) {
	for _, on := range []string{env.Bubble, "docker"} {
		p := randomPlan("redis-set-lua", "partition", 1)
		p.Use(&catalogue.Lock{ID: "TestOrders/small"})
		p.On = on
		var b bytes.Buffer
		must(t, p.Write(&b))
		text := b.String()
		if _, err := ReadPlan(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "go test -run '^TestOrders$' -lockcheck.on="+on) {
			t.Errorf("on %s: %v", on, err)
		}
		if _, err := ReadPlanOf(strings.NewReader(text), &catalogue.Lock{ID: p.Lock}); err != nil {
			t.Errorf("on %s, by its test: %v", on, err)
		}
	}
}

func TestReadPlanRejectsInvalidPlans(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":          ``,
		"no JSON":          `hello`,
		"another document": `{"lock":"redis-set-lua"}`,
		"a later format":   `{"lockcheck_schedule":99}`,
		"an unknown fault": `{"lockcheck_schedule":1,"faults":[{"fault":"flood","on":["c1"]}]}`,
		"an unknown field": `{"lockcheck_schedule":1,"lokc":"redis-set-lua"}`,
	} {
		if _, err := ReadPlan(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read as a plan", name)
		}
	}
	for name, edit := range map[string]func(*Plan){
		"an unknown lock":               func(p *Plan) { p.Lock = "redis-flood" },
		"a fault without a target":      func(p *Plan) { p.Faults[0].On = nil },
		"a fault on a client not there": func(p *Plan) { p.Faults[0].On = []string{"c9"} },
		"a fault on a server not there": func(p *Plan) { p.Faults[0].On = []string{"c1", "redis-9"} },
		"a negative length":             func(p *Plan) { p.Faults[0].For = -1 },
		"a point of no client": func(p *Plan) {
			p.Faults[0].Point = &faults.Point{Client: "c9", Op: "acquire", Acquisition: 1, Last: true}
		},
		"a point nowhere": func(p *Plan) { p.Faults[0].Point = &faults.Point{Client: "c1", Op: "acquire", Acquisition: 1} },
		"a point in an operation not there": func(p *Plan) {
			p.Faults[0].Point = &faults.Point{Client: "c1", Op: "aquire", Acquisition: 1, Last: true}
		},
		"a lease below the minimum":     func(p *Plan) { p.Lease = time.Millisecond },
		"a lease above the maximum":     func(p *Plan) { p.Lease = time.Hour },
		"no clients":                    func(p *Plan) { p.Clients = nil },
		"a client twice":                func(p *Plan) { p.Clients[1] = "c1" },
		"a client with a long name":     func(p *Plan) { p.Clients[1], p.Faults = strings.Repeat("c", 101), nil },
		"nothing to do":                 func(p *Plan) { p.Acquires = 0 },
		"an unknown strategy":           func(p *Plan) { p.Strategy, p.Depth = "luck", 1 },
		"a strategy without its depth":  func(p *Plan) { p.Strategy = PCT },
		"a depth above the maximum":     func(p *Plan) { p.Strategy, p.Depth = PCT, MaxDepth+1 },
		"a depth without a strategy":    func(p *Plan) { p.Depth = 1 },
		"latencies that are not chosen": func(p *Plan) { p.On, p.Strategy, p.Depth = "docker", PCT, 1 },
		"a script missing":              func(p *Plan) { p.Scripts = []workloads.Script{{Client: "c1"}} },
		"an unknown step": func(p *Plan) {
			p.Scripts = []workloads.Script{{Client: "c1", Steps: []workloads.Step{{Do: "lock"}}}, {Client: "c2"}, {Client: "c3"}}
		},
	} {
		p := randomPlan("redis-set-lua", "partition", 1)
		edit(p)
		var b bytes.Buffer
		must(t, p.Write(&b))
		if _, err := ReadPlan(&b); err == nil {
			t.Errorf("a plan with %s is accepted", name)
		}
	}
}

// A point in a history names its request and the one before it. It is never "last": the
// release of redis-setnx-getset has one request or two.
func TestPointsNameTheirRequests(t *testing.T) {
	for _, tt := range []struct {
		lock, op string
		point    faults.Point
		want     string
	}{
		{"redis-set-get-del", history.Release, faults.Point{Last: true}, "c1 release: before request 2, DEL after GET"},
		{"redis-setnx-getset", history.Release, faults.Point{Last: true, After: true}, "c1 release: after request 1, GET"},
		{"redis-set-lua", history.Release, faults.Point{Last: true}, "c1 release: before request 1, script"},
		{"redis-set-lua", history.Write, faults.Point{Last: true}, "c1 write: before request 1"},
		{"zk-recipe", history.Release, faults.Point{Last: true}, "c1 release: before request 1, delete"},
		{"mysql-get-lock", history.Release, faults.Point{Last: true}, "c1 release: before request 1, RELEASE_LOCK"},
		{"mysql-fair", history.Acquire, faults.Point{Last: true}, "c1 acquire: before request 2, INSERT after SELECT"},
	} {
		tt.point.Client, tt.point.Acquisition, tt.point.Op = "c1", 1, tt.op
		p := &Plan{Lock: tt.lock, On: "sim", Lease: 10 * time.Second, Clients: []string{"c1"}, Acquires: 1}
		p.Faults = []faults.Injection{{Fault: "pause", On: []string{"c1"}, For: time.Second, Point: &tt.point}}
		j := simulate(t, p)
		i := slices.IndexFunc(j.History.Entries, func(e history.Entry) bool { return e.F == "pause" })
		if i < 0 || j.History.Entries[i].Point != tt.want {
			t.Errorf("%s: the pause is not at %q", tt.lock, tt.want)
		}
	}
}

// After the last answer every server has made its entry, whichever request it was that
// was answered last.
func TestTheLastAnswerOfRequestsSideBySide(t *testing.T) {
	for seed := range uint64(50) {
		p := &Plan{Lock: "redlock", On: "sim", Seed: seed, Lease: 10 * time.Second, Clients: []string{"c1"}, Acquires: 1}
		p.Faults = []faults.Injection{{
			Fault: "pause", On: []string{"c1"}, For: time.Second,
			Point: &faults.Point{Client: "c1", Op: history.Acquire, Acquisition: 1, Last: true, After: true},
		}}
		j := simulate(t, p)
		entries := 0
		for _, e := range j.History.Entries {
			if e.F == "pause" {
				break
			}
			if e.F == history.Granted {
				entries++
			}
		}
		if entries != 5 {
			t.Errorf("seed %d: %d servers had made entries", seed, entries)
		}
	}
}

// The catalogue has the number of requests of an undisturbed operation: points depend
// on it.
func TestLocksSendAsManyRequestsAsTheySay(t *testing.T) {
	for _, lock := range catalogue.Locks {
		for f, steps := range map[string]int{history.Acquire: lock.Steps.Acquire, history.Release: lock.Steps.Release} {
			for request := 1; request <= steps+1; request++ {
				p := &Plan{Lock: lock.ID, On: "sim", Lease: 10 * time.Second, Clients: []string{"c1"}, Acquires: 1}
				p.Faults = []faults.Injection{{
					Fault: "kill", On: []string{"c1"},
					Point: &faults.Point{Client: "c1", Acquisition: 1, Op: f, Request: request, After: true},
				}}
				j := simulate(t, p)
				last := ""
				for _, e := range j.History.Entries {
					if e.F == "kill" {
						last = e.Point
					}
				}
				last, _, _ = strings.Cut(last, ", ")
				want := faults.Point{Client: "c1", Op: f, Request: min(request, steps), After: true}.String()
				if last != want {
					t.Errorf("%s: a kill after request %d of %s struck at %q, want %q", lock.ID, request, f, last, want)
				}
			}
		}
	}
}

// A used buffer gives the same runs as a new one, also after a run that failed, and
// whether choices are recorded or not.
func TestAUsedBufferIsAsGoodAsANewOne(t *testing.T) {
	t.Parallel()
	buffer := NewBuffer(sim.Simulator)
	defer buffer.Close()
	in := func(p *Plan, b *Buffer, record bool) (string, []env.Choice) {
		text := execute(t, b, p, p.Decide(record))
		return text, b.Decided().Choices
	}
	for i, lock := range catalogue.Locks {
		for j, f := range applicableFaults(lock) {
			p := randomPlan(lock.ID, f.Name, uint64(i+j))
			p.Clients = append(p.Clients, "c4", "c5")[:3+(i+j)%3] // sometimes more clients, sometimes fewer
			fresh := NewBuffer(sim.Simulator)
			want, made := in(p, fresh, true)
			fresh.Close()
			if got, again := in(p, buffer, true); got != want || !slices.Equal(again, made) {
				t.Errorf("%s under %s: another history than in a new buffer", lock.ID, f.Name)
			}
			if got, _ := in(p, buffer, false); got != want {
				t.Errorf("%s under %s: another history where no choice is recorded", lock.ID, f.Name)
			}
			broken := randomPlan(lock.ID, f.Name, 1)
			broken.Faults = []faults.Injection{{Fault: "restart", On: []string{"nobody"}, At: time.Second, For: time.Second}}
			if _, err := buffer.Simulate(broken, env.Decisions{Seed: 1}, nil); err == nil {
				t.Fatal("a fault on an unknown server is no error")
			}
		}
	}
}

// A setting of Redis servers is an error for locks without any.
func TestAnEnsembleHasNoSettingsOfRedis(t *testing.T) {
	for _, s := range []catalogue.Server{{Fsync: catalogue.FsyncAlways}, {Replicas: 2}, {Nodes: 5}, {Cluster: true}, {Eviction: catalogue.EvictNothing}} {
		p := randomPlan("zk-recipe", "pause", 1)
		p.Server = s
		if _, _, err := Simulate(sim.Simulator, p); err == nil || !strings.Contains(err.Error(), "settings of Redis servers") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
