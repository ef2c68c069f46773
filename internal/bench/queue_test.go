package bench_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/locks"
)

// queue returns a short queue in sim.
func queue(t *testing.T, lock string, waiters int) bench.Queue {
	t.Helper()
	l, ok := catalogue.FindLock(lock)
	if !ok {
		t.Fatalf("no lock %q", lock)
	}
	return bench.Queue{Lock: l, Waiters: waiters, Lease: lease, For: time.Second, Seed: 1}
}

func queueInSim(t *testing.T, q bench.Queue) bench.Changes {
	t.Helper()
	c, err := bench.QueueInSim(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// costs are the costs of one change by the recipes, with n waiters behind the holder:
// of leaving and of coming, for each lock.
var costs = map[string]func(n int) (left, came bench.Traffic){
	// All waiters are notified, and list the queue. When a client comes, the holder is
	// notified, too, but looks at that only after it has left and come again. So the
	// count is that of all notified clients.
	"zk-children": func(n int) (left, came bench.Traffic) {
		return bench.Traffic{Requests: 1 + n, Notified: n, Listed: n * n},
			bench.Traffic{Requests: 1 + n, Notified: n, Listed: n * (n + 1), Joined: 1}
	},
	"zk-recipe": func(n int) (left, came bench.Traffic) {
		return bench.Traffic{Requests: 2, Notified: 1, Listed: n},
			bench.Traffic{Requests: 3, Listed: n + 1, Joined: 1}
	},
}

// holdToCosts checks that at most some changes of each kind cost something else than
// the recipe says.
func holdToCosts(t *testing.T, q bench.Queue, c bench.Changes, some func(all int) int) {
	t.Helper()
	left, came := costs[q.Lock.ID](q.Waiters)
	leaving := func(x bench.Change) bool { return x.Traffic != left || x.Enters <= 0 || x.Rests < x.Enters*9/10 }
	coming := func(x bench.Change) bool { return x.Traffic != came || x.Enters != 0 || x.Rests <= 0 }
	check := func(did string, changes []bench.Change, other func(bench.Change) bool, want bench.Traffic) {
		t.Helper()
		n := 0
		for _, x := range changes {
			if other(x) {
				n++
			}
		}
		if len(changes) < 3 || n > some(len(changes)) {
			t.Errorf("%s, %d waiters: %d of %d times, %s costs something else than %+v: %+v", q.Lock.ID, q.Waiters, n, len(changes), did, want, changes)
		}
	}
	check("leaving", c.Left, leaving, left)
	check("coming", c.Came, coming, came)
}

func none(int) int { return 0 }

// aMinority: real clients count as at rest after 100 ms without a message. Where the
// machine stops for longer, what one change causes counts for the next.
func aMinority(all int) int { return (all - 1) / 2 }

func TestWhatAChangeOfAQueueCosts(t *testing.T) {
	for lock := range costs {
		for _, n := range []int{1, 2, 3, 8, 21} {
			for seed := range uint64(4) {
				q := queue(t, lock, n)
				q.Seed = seed
				holdToCosts(t, q, queueInSim(t, q), none)
			}
		}
	}
}

func TestEqualQueuesHaveEqualChanges(t *testing.T) {
	for lock := range costs {
		q := queue(t, lock, 5)
		first := queueInSim(t, q)
		if again := queueInSim(t, q); !reflect.DeepEqual(first, again) {
			t.Errorf("%s: %+v and then %+v", lock, first, again)
		}
		q.Seed++
		if other := queueInSim(t, q); reflect.DeepEqual(first, other) {
			t.Errorf("%s: another seed changes nothing", lock)
		}
	}
}

// The measure of the catalogue has the same counts as the queue.
func TestTheHerdOfTheCatalogue(t *testing.T) {
	c, ok := catalogue.FindCase("zk-herd-effect")
	if !ok {
		t.Fatal("no such case")
	}
	flawed, _, remedied := harness.CasePlans(c, c.Schedules[0], "sim", lease)
	var each [2]bench.Traffic // of the flawed lock, and of its remedy
	for i, plan := range []*harness.Plan{flawed, remedied} {
		judged, _, err := harness.Simulate(sim.Simulator, plan)
		if err != nil {
			t.Fatal(err)
		}
		var world *sim.World
		var sum func() bench.Traffic
		_, err = harness.Run(plan, func(cfg env.Config, o env.Observer) (env.Environment, error) {
			cfg.Lock, sum = bench.Counting(cfg.Lock)
			world = sim.New(cfg, o, env.Decisions{Seed: plan.Seed})
			return world, nil
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		each[i] = sum()
		if each[i].Requests != world.Requests() || each[i].Requests != judged.Requests {
			t.Errorf("%s: %d requests counted at the ports, %d in the world, %d by the case",
				plan.Lock, each[i].Requests, world.Requests(), judged.Requests)
		}
		if per := float64(each[i].Requests) / float64(judged.Reached[checker.Grants]); per != judged.Measure(c.Figure.Of) {
			t.Errorf("%s: %v requests for each grant, and the case says %v", plan.Lock, per, judged.Measure(c.Figure.Of))
		}
	}
	if each[0].Notified < 5*each[1].Notified || each[0].Listed < 5*each[1].Listed {
		t.Errorf("%s: %+v, %s: %+v", flawed.Lock, each[0], remedied.Lock, each[1])
	}
}

// fake is a locker that grants at once, or fails.
type fake struct{ err error }

func (f fake) Acquire(context.Context, string) (locks.Lease, error) { return f, f.err }
func (fake) Release(context.Context) error                          { return nil }
func (fake) Close(context.Context) error                            { return nil }

func TestQueuesThatCannotBeMeasured(t *testing.T) {
	short := queue(t, "zk-recipe", 3)
	short.For = 0
	broken, boundless := queue(t, "zk-recipe", 3), queue(t, "zk-recipe", 3)
	wrong := errors.New("something is wrong")
	broken.Lock.New = func(catalogue.Env) locks.Locker { return fake{wrong} }
	boundless.Lock.New = func(catalogue.Env) locks.Locker { return fake{} } // all enter, and nobody queues
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx  context.Context
		q    bench.Queue
		want error
	}{
		"too short":   {t.Context(), short, bench.ErrNoHandOver},
		"broken":      {t.Context(), broken, wrong},
		"no queue":    {t.Context(), boundless, bench.ErrStuck},
		"interrupted": {ended, queue(t, "zk-children", 3), context.Canceled},
	} {
		if _, err := bench.QueueInSim(c.ctx, c.q); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestQueuesOnARealEnsemble(t *testing.T) {
	addrs := dockertest.ZooKeeper(t).Addrs()
	for lock := range costs {
		q := queue(t, lock, 3)
		q.For = 8 * time.Second // a busy machine has few changes in a second
		c, err := bench.QueueOnEnsemble(t.Context(), addrs, q)
		if err != nil {
			t.Fatal(err)
		}
		holdToCosts(t, q, c, aMinority)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	q := queue(t, "zk-children", 3)
	q.For = time.Hour
	if _, err := bench.QueueOnEnsemble(ctx, addrs, q); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("interrupted after 1 s, it ended after %v", took)
	}
}
