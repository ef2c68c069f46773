package sim

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// newEnsemble returns a scene on an ensemble of three, led by the last, with a T
// of 10 s. All choices are 0: clients begin with zk-1, a tick is 5 s, and an
// election takes 5 s.
func newEnsemble(acquire func(catalogue.Env, context.Context) error, clients ...string) *group {
	return newEnsembleWith(nil, acquire, clients...)
}

func newEnsembleWith(choices []env.Choice, acquire func(catalogue.Env, context.Context) error, clients ...string) *group {
	g := &group{&scene{}}
	g.World = New(configOf(catalogue.StoreZooKeeper, acquire, clients...), g, replayOf(choices...))
	return g
}

// begins makes a client begin with zk-2.
func begins(client string) []env.Choice {
	return []env.Choice{{Name: env.Name{What: "server", Who: client, N: 1}, Value: 1}}
}

// inSession is a client's use of a session of its own.
type inSession func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error

func (f inSession) acquire(e catalogue.Env, ctx context.Context) error {
	s, err := e.ZooKeeper.Open(ctx, 0, 10*time.Second)
	if err != nil {
		return err
	}
	return f(e, ctx, s)
}

// enters creates /a and the client's own node below it.
func enters(ctx context.Context, s zookeeper.Handle) error {
	s.Create(ctx, 0, "/a", "", zookeeper.Persistent)
	_, err := s.Create(ctx, 0, "/a/n-", "", zookeeper.Ephemeral|zookeeper.Sequential)
	return err
}

// listens notes every event of the session for d.
func (g *group) listens(e catalogue.Env, ctx context.Context, s zookeeper.Handle, d time.Duration) {
	for until := g.now + d; g.now < until; {
		ev, err := s.Next(ctx, until-g.now)
		switch {
		case err == nil:
			g.note("%s %s", eventNames[ev.Type], ev.Path)
		case !errors.Is(err, zookeeper.ErrNoEvent):
			g.note("%v", err)
			return
		}
	}
}

var eventNames = [...]string{"", "created", "deleted", "changed", "children of", "connected", "disconnected", "expired", "closed"}

// stays runs a client that has a node for 40 s, disturbed after a second and healed later,
// and expects these lines after its entry, of it and of its session.
func stays(t *testing.T, disturb, heal func(*group) error, healed time.Duration, after []string) {
	t.Helper()
	var g *group
	g = newEnsemble(inSession(func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
		if err := enters(ctx, s); err != nil {
			return err
		}
		g.listens(e, ctx, s, 40*time.Second)
		return nil
	}).acquire, "c1")
	for at, f := range map[time.Duration]func(*group) error{time.Second: disturb, healed: heal} {
		if f != nil {
			g.After(at, func() { must(t, f(g)) })
		}
	}
	want(t, g.run(t, 2*time.Minute), slices.Concat([]string{"1ms zk-3 grant", "2ms connected "}, after)...)
}

// cut cuts c1 off from all members, and mend ends that.
func (g *group) cut(d faults.Direction) error {
	for i, x := range g.ensemble.members {
		if err := g.Impair(i+1, faults.Impairment{Client: "c1", Server: x.server.name, Direction: d, Action: faults.Hold}); err != nil {
			return err
		}
	}
	return nil
}

func (g *group) mend() error {
	for i := range g.ensemble.members {
		if _, err := g.Restore(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// A session ends by the leader's clock, and its node with it.
func TestASessionGoesByTheLeadersClock(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(*group) error
		heal    func(*group) error
		want    []string
	}{
		"undisturbed": {nil, nil, []string{"40.002s c1 ends: <nil>"}},
		"the client is paused": {
			func(g *group) error { return g.Pause("c1") },
			func(g *group) error { return g.Resume("c1") },
			[]string{"15s zk-3 expire", "20s disconnected ", "20s expired ", "20s zookeeper: session expired", "20s c1 ends: <nil>"},
		},
		"the client hangs, its library does not": {
			func(g *group) error { return g.Hang("c1") },
			func(g *group) error { return g.Unhang("c1") },
			[]string{"40.002s c1 ends: <nil>"},
		},
		"the client is dead": {
			func(g *group) error {
				g.Go(func() { g.Sleep(39 * time.Second) })
				return g.Kill("c1")
			},
			nil,
			[]string{"1s c1 ends: the client crashed", "15s zk-3 expire"},
		},
		"the client reaches no member": {
			func(g *group) error { return g.cut(faults.Both) },
			func(g *group) error { return g.mend() },
			[]string{"6.668s disconnected ", "15s zk-3 expire", "20s expired ", "20s zookeeper: session expired", "20s c1 ends: <nil>"},
		},
		"the client receives nothing, but sends heartbeats": {
			func(g *group) error { return g.cut(faults.ToClient) },
			func(g *group) error { return g.mend() },
			[]string{"6.668s disconnected ", "20s zk-3 expire", "20s expired ", "20s zookeeper: session expired", "20s c1 ends: <nil>"},
		},
		"wall clocks jump": {
			func(g *group) error { g.Jump("zk-3", time.Hour); return g.Jump("c1", -time.Hour) },
			nil,
			[]string{"40.002s c1 ends: <nil>"},
		},
		"closed by a fault": {
			func(g *group) error { return g.ExpireSession("c1") },
			nil,
			[]string{"1s zk-3 expire", "1s disconnected ", "1.001s expired ", "1.001s zookeeper: session expired", "1.001s c1 ends: <nil>"},
		},
		"an operator deletes its node": {
			func(g *group) error { return g.Tamper("zk-1", faults.Removal, 0) },
			nil,
			[]string{"1s zk-3 remove", "40.002s c1 ends: <nil>"},
		},
		"an operator changes its node": {
			func(g *group) error { return g.Tamper("zk-1", faults.Overwriting, 0) },
			nil,
			[]string{"1s zk-3 change", "40.002s c1 ends: <nil>"},
		},
		"an operator asks a member that is paused": {
			func(g *group) error {
				return errors.Join(g.Pause("zk-2"), g.Tamper("zk-2", faults.Removal, 0), g.Resume("zk-2"))
			},
			nil,
			[]string{"40.002s c1 ends: <nil>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			stays(t, c.disturb, c.heal, 20*time.Second, c.want)
		})
	}
}

// The ensemble reacts to a missing member.
func TestAMemberIsMissed(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(*group) error
		want    []string
	}{
		"the leader, dead":             {func(g *group) error { return g.Stop("zk-3", false) }, []string{"1s disconnected ", "6s zk-2 promote", "6.005s connected ", "40.002s c1 ends: <nil>"}},
		"the leader, paused":           {func(g *group) error { return g.Pause("zk-3") }, []string{"11s disconnected ", "16s zk-2 promote", "30s zk-2 expire", "40.002s c1 ends: <nil>"}},
		"the leader, cut off":          {func(g *group) error { return g.Isolate(1, []string{"zk-3"}) }, []string{"11s disconnected ", "16s zk-2 promote", "16.006s connected ", "40.002s c1 ends: <nil>"}},
		"the client's server, dead":    {func(g *group) error { return g.Stop("zk-1", false) }, []string{"1s disconnected ", "1s connected ", "40.002s c1 ends: <nil>"}},
		"the client's server, cut off": {func(g *group) error { return g.Isolate(1, []string{"zk-1"}) }, []string{"11s disconnected ", "11s connected ", "40.002s c1 ends: <nil>"}},
		"another member":               {func(g *group) error { return g.Stop("zk-2", false) }, []string{"40.002s c1 ends: <nil>"}},
		"two members":                  {func(g *group) error { g.Stop("zk-3", false); return g.Stop("zk-2", false) }, []string{"1s disconnected ", "40.002s c1 ends: <nil>"}},
	} {
		t.Run(name, func(t *testing.T) {
			stays(t, c.disturb, nil, 0, c.want)
		})
	}
}

// A restart may lose nodes and sessions.
func TestWhatAnEnsembleKeeps(t *testing.T) {
	all := []string{"zk-1", "zk-2", "zk-3"}
	for name, c := range map[string]struct {
		stopped []string
		lose    bool
		want    []string
	}{
		"one comes back":              {all[2:], false, []string{"1s disconnected ", "6.006s connected ", "40.002s c1 ends: <nil>"}},
		"one comes back with nothing": {all[2:], true, []string{"1s disconnected ", "6s zk-2 promote", "6.006s connected ", "40.002s c1 ends: <nil>"}},
		"all come back":               {all, false, []string{"1s disconnected ", "7.007s connected ", "40.002s c1 ends: <nil>"}},
		"two come back with nothing":  {all[1:], true, []string{"1s disconnected ", "7s zk-1 promote", "7.006s connected ", "40.002s c1 ends: <nil>"}},
		"all come back with nothing":  {all, true, []string{"1s disconnected ", "7s zk-3 lose", "40.002s c1 ends: <nil>"}},
	} {
		t.Run(name, func(t *testing.T) {
			stop := func(g *group) error {
				for _, s := range c.stopped {
					must(t, g.Stop(s, c.lose))
				}
				return nil
			}
			start := func(g *group) error {
				for _, s := range c.stopped {
					must(t, g.Start(s))
				}
				return nil
			}
			stays(t, stop, start, 2*time.Second, c.want)
		})
	}
}
