package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// group is a scene on a master with two replicas and a T of 10 s. All choices are
// 0, so that Sentinels consider a master dead after one second.
type group struct{ *scene }

func newGroup(acquire func(catalogue.Env, context.Context) error, clients ...string) *group {
	return newGroupOn(catalogue.Server{Replicas: 2}, acquire, clients...)
}

func newGroupOn(server catalogue.Server, acquire func(catalogue.Env, context.Context) error, clients ...string) *group {
	g := &group{&scene{}}
	cfg := configOf(catalogue.StoreRedis, acquire, clients...)
	cfg.Server = server
	g.World = New(cfg, g, replayOf())
	return g
}

func (g *group) Server(e history.Entry) {
	if e.By.Set && e.By.V <= 0 {
		g.note("%s %s by %d", e.Process.Name, e.F, e.By.V)
		return
	}
	g.note("%s %s", e.Process.Name, e.F)
}
func (g *group) Report(e history.Entry) { g.note("%s %s until %v", e.Client, e.F, e.ValidUntil) }

// keeps sets the key for ten seconds and waits for d.
func keeps(d time.Duration) func(catalogue.Env, context.Context) error {
	return func(e catalogue.Env, ctx context.Context) error {
		ok, err := e.Redis[0].SetIfAbsent(ctx, 0, "a", e.Host.Unique(), 10*time.Second)
		if err == nil && !ok {
			err = fmt.Errorf("held")
		}
		e.Host.Sleep(ctx, d)
		return err
	}
}

func TestAReplicaTakesTheMastersPlace(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(*group) error
		want    []string
	}{
		"a dead master": {
			func(g *group) error { return g.Stop("redis-1", true) },
			[]string{"0s redis-1 grant", "2s redis-1b promote", "10.001s redis-1b expire"},
		},
		"a paused master": {
			func(g *group) error { return g.Pause("redis-1") },
			[]string{"0s redis-1 grant", "2s redis-1b promote", "10.001s redis-1b expire"},
		},
		"an isolated master, which continues": {
			func(g *group) error { return g.Isolate(1, []string{"redis-1"}) },
			[]string{"0s redis-1 grant", "2s redis-1b promote", "10.001s redis-1 expire", "10.001s redis-1b expire"},
		},
		"no failover: a minority misses the master": {
			func(g *group) error { return g.Isolate(1, []string{"sentinel-1"}) },
			[]string{"0s redis-1 grant", "10.001s redis-1 expire"},
		},
		"no failover: most Sentinels are separated": {
			func(g *group) error {
				g.Isolate(1, []string{"sentinel-1"})
				g.Isolate(2, []string{"sentinel-2"})
				return g.Stop("redis-1", true)
			},
			[]string{"0s redis-1 grant"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(keeps(15*time.Second), "c1")
			g.After(time.Second, func() { must(t, c.disturb(g)) })
			want(t, g.run(t, time.Minute), append(c.want, "15s c1 ends: <nil>")...)
		})
	}
}

// A failover loses a grant that the dying master has not sent, and brings back an
// entry whose removal it has not sent.
func TestAFailoverForgets(t *testing.T) {
	t.Run("a grant", func(t *testing.T) {
		g := newGroup(keeps(5*time.Second), "c1")
		must(t, g.Isolate(1, []string{"redis-1b", "redis-1c"}))
		g.After(time.Second, func() {
			must(t, g.Stop("redis-1", true))
			g.Restore(1)
		})
		want(t, g.run(t, time.Minute), "0s redis-1 grant", "2s redis-1b promote", "2s redis-1b lose", "5s c1 ends: <nil>")
	})
	t.Run("a release", func(t *testing.T) {
		g := newGroup(func(e catalogue.Env, ctx context.Context) error {
			e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", 0)
			e.Host.Sleep(ctx, time.Second)
			e.Redis[0].Del(ctx, 0, "a")
			return e.Host.Sleep(ctx, 5*time.Second)
		}, "c1")
		g.After(time.Second/2, func() { must(t, g.Isolate(1, []string{"redis-1"})) })
		want(t, g.run(t, time.Minute), "0s redis-1 grant", "1s redis-1 remove", "1.5s redis-1b promote", "1.5s redis-1b grant", "6s c1 ends: <nil>")
	})
}

// A replica that becomes the master may still have the entry of an earlier lock.
// That one had ended; the later one is lost.
func TestAFailoverForgetsTheLaterOfTwo(t *testing.T) {
	g := newGroup(func(e catalogue.Env, ctx context.Context) error {
		_, err := e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", 1800*time.Millisecond)
		return err
	}, "c1")
	g.After(time.Second, func() { must(t, g.Isolate(1, []string{"redis-1"})) })
	g.Go(func() {
		for i := range 2 {
			_, err := g.Client("c1").Acquire(env.Op{Index: i + 1, Acquisition: i + 1, Lock: "a"}, time.Minute)
			g.note("c1 ends: %v", err)
			g.Sleep(1900 * time.Millisecond)
		}
	})
	must(t, g.Run())
	want(t, g.seen, "0s redis-1 grant", "0s c1 ends: <nil>", "1.801s redis-1 expire",
		"1.9s redis-1 grant", "1.9s c1 ends: <nil>", "2s redis-1b promote", "2s redis-1b lose", "3.701s redis-1 expire")
}

// A server that is shut down waits for the replicas that it reaches, and only for
// those (Redis manual, SHUTDOWN).
func TestAGoodEndForgetsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		isolate []string
		want    string
	}{
		"reached": {[]string{"sentinel-1"}, "5.001s redis-1b expire"},
		"cut off": {[]string{"redis-1"}, "1s redis-1b lose"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(func(e catalogue.Env, ctx context.Context) error {
				_, err := e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", 5*time.Second)
				e.Host.Sleep(ctx, 6*time.Second)
				return err
			}, "c1")
			must(t, g.Isolate(1, c.isolate))
			g.After(latencyMin+latencyMin/2, func() { must(t, g.Stop("redis-1", false)) })
			want(t, g.run(t, time.Minute), "0s redis-1 grant", "1s redis-1b promote", c.want, "6s c1 ends: <nil>")
		})
	}
}

// An old master that returns has old data, which no longer counts: entries that
// were released meanwhile stay removed.
func TestAnOldMasterBringsNothingBack(t *testing.T) {
	g := newGroup(func(e catalogue.Env, ctx context.Context) error {
		e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", 10*time.Second)
		e.Host.Sleep(ctx, 3*time.Second)
		e.Redis[0].Del(ctx, 0, "a")
		return e.Host.Sleep(ctx, 2*time.Second)
	}, "c1")
	g.After(time.Second, func() { must(t, g.Stop("redis-1", false)) })
	g.After(4*time.Second, func() { must(t, g.Start("redis-1")) })
	want(t, g.run(t, time.Minute), "0s redis-1 grant", "2s redis-1b promote", "3s redis-1b remove", "5s c1 ends: <nil>")
}

// A master that was cut off serves clients that do not know its successor. When
// it learns of the successor it drops the entries that it granted alone.
func TestTwoMasters(t *testing.T) {
	g := newGroup(keeps(10*time.Second), "c1", "c2")
	must(t, g.Isolate(1, []string{"redis-1"}))
	for i := range 3 { // c1 receives nothing from the Sentinels
		must(t, g.Impair(2+i, faults.Impairment{Client: "c1", Server: fmt.Sprint("sentinel-", i+1), Action: faults.Hold}))
	}
	for i, c := range []string{"c1", "c2"} {
		g.Go(func() {
			g.Sleep(2 * time.Second)
			_, err := g.Client(c).Acquire(env.Op{Index: i + 1, Acquisition: 1, Lock: "a"}, time.Minute)
			g.note("%s ends: %v", c, err)
		})
	}
	g.After(4*time.Second, func() { g.Restore(1) })
	must(t, g.Run())
	want(t, g.seen, "1s redis-1b promote", "2s redis-1 grant", "2s redis-1b grant", "4s redis-1 lose", "12s c1 ends: <nil>", "12s c2 ends: <nil>")
}

func TestAnEmptyMasterWipesItsReplicas(t *testing.T) {
	g := newGroup(keeps(5*time.Second), "c1")
	g.After(time.Second, func() { must(t, g.Stop("redis-1", true)) })
	g.After(3*time.Second/2, func() { must(t, g.Start("redis-1")) })
	g.After(2*time.Second, func() {
		for _, s := range g.nodes[0].members {
			for key := range s.redis.Entries {
				t.Errorf("%s holds %s", s.name, key)
			}
		}
	})
	want(t, g.run(t, time.Minute), "0s redis-1 grant", "1.5s redis-1 lose", "5s c1 ends: <nil>")
}

func TestWaitCountsReplicas(t *testing.T) {
	for name, c := range map[string]struct {
		isolate []string
		want    string
	}{
		"both":  {nil, "0s c1 ends: 2 have it"},
		"one":   {[]string{"redis-1c"}, "500ms c1 ends: 1 have it"},
		"none":  {[]string{"redis-1"}, "500ms c1 ends: 0 have it"},
		"again": {[]string{"sentinel-3"}, "0s c1 ends: 2 have it"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(func(e catalogue.Env, ctx context.Context) error {
				e.Redis[0].Set(ctx, 0, "b", "v", 0)
				n, err := e.Redis[0].Wait(ctx, time.Second, 2, time.Second/2)
				if err != nil {
					return err
				}
				return fmt.Errorf("%d have it", n)
			}, "c1")
			if c.isolate != nil {
				must(t, g.Isolate(1, c.isolate))
			}
			want(t, g.run(t, time.Minute), c.want)
		})
	}
}

// The new master's clock may be ahead: a long lease from the old one ends at
// once.
func TestAPromotedServerGoesByItsOwnClock(t *testing.T) {
	g := newGroup(keeps(5*time.Second), "c1")
	must(t, g.Jump("redis-1b", time.Minute))
	g.After(time.Second, func() { must(t, g.Stop("redis-1", true)) })
	want(t, g.run(t, time.Minute), "0s redis-1 grant", "2s redis-1b promote", "2s redis-1b expire", "5s c1 ends: <nil>")
}

func TestAServerThatStandsStillAnswersLater(t *testing.T) {
	s := newScene(set, "c1")
	must(t, s.Pause("redis-1"))
	s.After(time.Second, func() { must(t, s.Resume("redis-1")) })
	want(t, s.run(t, time.Minute), "1s grant by 1", "1s c1 ends: <nil>")
}

func TestEviction(t *testing.T) {
	for policy, wants := range map[catalogue.Eviction][]string{
		catalogue.EvictVolatile: {"0s redis-1 grant", "1s redis-1 lose", "5s c1 ends: <nil>"},
		catalogue.EvictNothing:  {"0s redis-1 grant", "5s c1 ends: <nil>"},
	} {
		g := newGroupOn(catalogue.Server{Eviction: policy}, keeps(5*time.Second), "c1")
		g.After(time.Second, func() { must(t, g.Evict("redis-1")) })
		g.After(2*time.Second, func() { must(t, g.Relieve("redis-1")) })
		want(t, g.run(t, time.Minute), wants...)
	}
}

// An operator removes the key of a holder, who is not told. Without a key, and on a
// replica or a paused server, nothing happens. The line has no "by": the process of no
// client did it.
func TestAnOperatorRemovesAKey(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(*group) error
		want    []string
	}{
		"the key of a holder": {func(g *group) error { return g.Tamper("redis-1", faults.Removal, 3) }, []string{"0s redis-1 grant", "1s redis-1 remove", "5s c1 ends: <nil>"}},
		"on a replica":        {func(g *group) error { return g.Tamper("redis-1b", faults.Removal, 0) }, []string{"0s redis-1 grant", "5s c1 ends: <nil>"}},
		"a key that is gone": {func(g *group) error {
			return errors.Join(g.Tamper("redis-1", faults.Removal, 0), g.Tamper("redis-1", faults.Removal, 0))
		}, []string{"0s redis-1 grant", "1s redis-1 remove", "5s c1 ends: <nil>"}},
		"on a paused server": {func(g *group) error {
			return errors.Join(g.Pause("redis-1"), g.Tamper("redis-1", faults.Removal, 0), g.Resume("redis-1"))
		}, []string{"0s redis-1 grant", "5s c1 ends: <nil>"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(keeps(5*time.Second), "c1")
			g.After(time.Second, func() { must(t, c.disturb(g)) })
			want(t, g.run(t, time.Minute), c.want...)
		})
	}
}

// An operator gives a key another value: it keeps its expiry, and is nobody's from then on.
// In a hash that is the value of the first field. A second operator finds nothing to change.
func TestAnOperatorChangesAKey(t *testing.T) {
	inHash := func(e catalogue.Env, ctx context.Context) error {
		do := func(c redis.Command) string {
			c.Key = "a"
			reply, err := e.Redis[0].Do(ctx, 0, c)
			must(t, err)
			return reply.Str
		}
		do(redis.Command{Verb: redis.HSet, Field: "owner", Value: "c1"})
		do(redis.Command{Verb: redis.HSet, Field: "since", Value: "0"})
		e.Host.Sleep(ctx, 5*time.Second)
		text := ""
		for field, value := range redis.Fields(do(redis.Command{Verb: redis.HGetAll})) {
			text += field + " " + value + ", "
		}
		return errors.New(text)
	}
	for name, c := range map[string]struct {
		does func(catalogue.Env, context.Context) error
		want []string
	}{
		"that expires": {keeps(15 * time.Second), []string{"0s redis-1 grant", "1s redis-1 takeover", "10.001s redis-1 expire", "15s c1 ends: <nil>"}},
		"a hash":       {inHash, []string{"0s redis-1 grant", "1s redis-1 takeover", "5s c1 ends: owner operator, since 0, "}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(c.does, "c1")
			for range 2 {
				g.After(time.Second, func() { must(t, g.Tamper("redis-1", faults.Overwriting, 0)) })
			}
			want(t, g.run(t, time.Minute), c.want...)
		})
	}
}

// The masters of a cluster divide the keys among them.
func TestNodesOfACluster(t *testing.T) {
	g := newGroupOn(catalogue.Server{Nodes: 3, Cluster: true}, func(e catalogue.Env, ctx context.Context) error {
		text := ""
		for _, p := range e.Redis {
			_, err := p.SetIfAbsent(ctx, 0, "a", "v", time.Second)
			text += fmt.Sprint(err, "; ")
		}
		return fmt.Errorf("%s", text)
	}, "c1")
	want(t, g.run(t, time.Minute), "0s redis-3 grant",
		"0s c1 ends: redis: MOVED 15495 redis-3:6379; redis: MOVED 15495 redis-3:6379; <nil>; ")
}

// Every task that waits for an answer of the old master learns at once that it
// will not come.
func TestAllTasksLeaveTheOldMaster(t *testing.T) {
	g := newGroup(func(e catalogue.Env, ctx context.Context) error {
		var ended [3]time.Duration
		var tasks []locks.Task
		for i := range ended {
			tasks = append(tasks, e.Host.Go(func(ctx context.Context) {
				e.Redis[0].Get(ctx, time.Hour, "b")
				ended[i] = e.Host.Mono().Truncate(time.Millisecond)
			}))
		}
		for _, task := range tasks {
			task.Wait()
		}
		return fmt.Errorf("%v", ended)
	}, "c1")
	must(t, g.Pause("redis-1"))
	want(t, g.run(t, time.Minute), "1s redis-1b promote", "1s c1 ends: [1s 1s 1s]")
}

// Sentinels that were separated hold the election after they are connected again.
func TestAMissedElectionComesLater(t *testing.T) {
	g := newGroup(keeps(6*time.Second), "c1")
	must(t, g.Isolate(1, []string{"sentinel-1"}))
	must(t, g.Isolate(2, []string{"sentinel-2"}))
	g.After(time.Second, func() { must(t, g.Stop("redis-1", true)) })
	g.After(4*time.Second, func() { g.Restore(1); g.Restore(2) })
	want(t, g.run(t, time.Minute), "0s redis-1 grant", "4s redis-1b promote", "6s c1 ends: <nil>")
}

// Sentinels choose an empty replica last.
func TestAnEmptyReplicaIsNotChosen(t *testing.T) {
	g := newGroup(keeps(6*time.Second), "c1")
	g.After(time.Second, func() {
		must(t, g.Isolate(1, []string{"redis-1"}))
		must(t, g.Stop("redis-1b", true))
		must(t, g.Start("redis-1b"))
	})
	want(t, g.run(t, time.Minute), "0s redis-1 grant", "2s redis-1c promote", "6s c1 ends: <nil>")
}

// An entry that times out while its server is down has expired; it is not lost.
func TestWhatExpiresDuringARestartIsNotLost(t *testing.T) {
	g := newGroup(keeps(12*time.Second), "c1")
	g.After(9500*time.Millisecond, func() { must(t, g.Stop("redis-1", false)) })
	g.After(10200*time.Millisecond, func() { must(t, g.Start("redis-1")) })
	want(t, g.run(t, time.Minute), "0s redis-1 grant", "10.2s redis-1 expire", "12s c1 ends: <nil>")
}

// A paused client learns of a new master when it resumes, after the answers that
// have arrived.
func TestAPausedClientLearnsLater(t *testing.T) {
	g := newGroup(func(e catalogue.Env, ctx context.Context) error {
		e.Host.Sleep(ctx, time.Second)
		_, err := e.Redis[0].SetIfAbsent(ctx, 20*time.Second, "a", "v", 0)
		return err
	}, "c1")
	g.After(time.Second+latencyMin, func() {
		must(t, g.Pause("c1"))
		must(t, g.Isolate(1, []string{"redis-1"}))
	})
	g.After(9*time.Second, func() { must(t, g.Resume("c1")) })
	want(t, g.run(t, time.Minute), "1s redis-1 grant", "2s redis-1b promote", "2s redis-1b lose", "9s c1 ends: <nil>")
}
