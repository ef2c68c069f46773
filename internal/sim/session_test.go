package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// A member sends the event of a change before it shows the change.
func TestAnEventComesBeforeWhatItIsAbout(t *testing.T) {
	var g *group
	g = newEnsemble(inSession(func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
		if e.Host.Unique() == "c2-2" {
			e.Host.Sleep(ctx, time.Second/10)
			return s.Delete(ctx, 0, "/a/n-0000000000", zookeeper.AnyVersion)
		}
		if err := enters(ctx, s); err != nil {
			return err
		}
		s.Exists(ctx, 0, "/a/n-0000000000", true)
		s.Next(ctx, 0) // connected
		for there := true; there; {
			e.Host.Sleep(ctx, latencyMin)
			_, there, _ = s.Exists(ctx, 0, "/a/n-0000000000", false)
		}
		g.listens(e, ctx, s, time.Nanosecond)
		return nil
	}).acquire, "c1", "c2")
	want(t, g.run(t, time.Minute),
		"1ms zk-3 grant", "101ms zk-3 remove", "101ms c2 ends: <nil>", "101ms deleted /a/n-0000000000", "101ms c1 ends: <nil>")
}

// A member may not show a change yet that another has shown, until it has caught
// up.
func TestAMemberLags(t *testing.T) {
	const slow = 4000
	choices := begins("c2")
	for n := range 100 {
		choices = append(choices, env.Choice{Name: env.Name{What: "latency", Who: "zk-3→zk-2", N: n + 1}, Value: slow})
	}
	for name, c := range map[string]struct {
		sync bool
		want bool
	}{
		"and shows what was": {false, false},
		"and catches up":     {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newEnsembleWith(choices, inSession(func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
				if s.ID() != 0 && e.Host.Unique()[:2] == "c1" {
					e.Host.Sleep(ctx, time.Second)
					_, err := s.Create(ctx, 0, "/b", "", zookeeper.Persistent)
					return err
				}
				e.Host.Sleep(ctx, time.Second+2*time.Millisecond-e.Host.Mono())
				if c.sync {
					s.Sync(ctx, 0, "/")
				}
				_, there, err := s.Exists(ctx, 0, "/b", false)
				if there != c.want {
					t.Errorf("there is a node: %v", there)
				}
				return err
			}).acquire, "c1", "c2")
			got := g.run(t, time.Minute)
			if len(got) != 2 {
				t.Error(got)
			}
		})
	}
}

// A client that loses its connection continues on another member, with its
// session and its watches. A member that has seen less than the client refuses
// it.
func TestAClientGoesOnElsewhere(t *testing.T) {
	var g *group
	g = newEnsemble(inSession(func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
		if err := enters(ctx, s); err != nil {
			return err
		}
		if e.Host.Unique()[:2] == "c2" {
			e.Host.Sleep(ctx, time.Second-e.Host.Mono())
			return s.Delete(ctx, 0, "/a/n-0000000001", zookeeper.AnyVersion)
		}
		id := s.ID()
		s.Exists(ctx, 0, "/a/n-0000000001", true)
		g.listens(e, ctx, s, 30*time.Second)
		if s.ID() != id {
			t.Error("it has another session")
		}
		return nil
	}).acquire, "c1", "c2")
	g.After(time.Second/2, func() {
		for _, zk := range []string{"zk-1", "zk-2"} {
			must(t, g.Impair(len(g.impairments)+1, faults.Impairment{Client: "c1", Server: zk, Action: faults.Hold}))
		}
	})
	want(t, g.run(t, time.Minute),
		"1ms zk-3 grant", "1ms zk-3 grant", "2ms connected ",
		"1s zk-3 remove", "1s c2 ends: <nil>",
		"6.668s disconnected ", "7.669s connected ", "7.669s deleted /a/n-0000000001",
		"30.002s c1 ends: <nil>")
}

func TestWhoHasSeenMoreIsRefused(t *testing.T) {
	var g *group
	g = newEnsemble(inSession(func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
		e.Host.Sleep(ctx, time.Second)
		err := enters(ctx, s)
		g.listens(e, ctx, s, 5*time.Second)
		return err
	}).acquire, "c1")
	must(t, g.Isolate(1, []string{"zk-2"}))
	g.After(2*time.Second, func() { must(t, g.Stop("zk-1", false)) })
	// zk-2 has not given up the leader yet, and serves other clients.
	g.After(3*time.Second, func() {
		if n := len(g.ensemble.members[1].clients); n != 0 || !g.ensemble.members[1].serves {
			t.Errorf("zk-2 has %d clients", n)
		}
		if n := len(g.ensemble.members[2].clients); n != 1 {
			t.Errorf("zk-3 has %d clients", n)
		}
	})
	want(t, g.run(t, time.Minute), "1.001s zk-3 grant", "1.002s connected ", "2s disconnected ", "2s connected ", "6.002s c1 ends: <nil>")
}

// A request can end in these ways.
func TestWhatBecomesOfARequest(t *testing.T) {
	creates := func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
		s.Create(ctx, 0, "/a", "", zookeeper.Persistent)
		e.Host.Sleep(ctx, time.Second-e.Host.Mono())
		_, err := s.Create(ctx, 8*time.Second, "/a/n", "", zookeeper.Ephemeral)
		e.Host.Sleep(ctx, 20*time.Second)
		_, there, _ := s.Exists(ctx, 0, "/a/n", false)
		if err != nil && there {
			return errThere{err}
		}
		return err
	}
	before := time.Second - time.Millisecond
	for name, c := range map[string]struct {
		at      time.Duration
		disturb func(*group) error
		want    []string
	}{
		"its answer is lost": {
			before, func(g *group) error {
				return g.Impair(1, faults.Impairment{Client: "c1", Server: "zk-1", Direction: faults.ToClient, Action: faults.Swallow})
			},
			[]string{"1s zk-3 grant", "26.668s c1 ends: zookeeper: connection loss, and the node is there"},
		},
		"its connection is reset": {
			before, func(g *group) error {
				return g.Impair(1, faults.Impairment{Client: "c1", Server: "zk-1", Direction: faults.ToServer, Action: faults.Reset})
			},
			[]string{"21s c1 ends: zookeeper: connection loss"},
		},
		"no server is reachable": {
			before, func(g *group) error {
				for _, x := range g.ensemble.members {
					g.Stop(x.server.name, false)
				}
				return nil
			},
			[]string{"31.5s c1 ends: zookeeper: not connected"},
		},
		"no answer comes": {
			before, func(g *group) error { return g.Pause("zk-1") },
			[]string{"26.668s c1 ends: zookeeper: connection loss"},
		},
		"its session is over": {
			before, func(g *group) error { return g.ExpireSession("c1") },
			[]string{"21s c1 ends: zookeeper: session expired"},
		},
		// The leader has sent it to the followers, which have it on disk: the
		// next leader commits it, although no reply was sent.
		"its leader dies, and others have it": {
			time.Second + 3*latencyMin + latencyMin/2, func(g *group) error { return g.Stop("zk-3", false) },
			[]string{"6s zk-2 promote", "6s zk-2 grant", "21s c1 ends: zookeeper: connection loss, and the node is there"},
		},
		"its leader dies, and no other has it": {
			time.Second + 2*latencyMin + latencyMin/2, func(g *group) error { return g.Stop("zk-3", false) },
			[]string{"6s zk-2 promote", "21s c1 ends: zookeeper: connection loss"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newEnsemble(inSession(creates).acquire, "c1")
			g.After(c.at, func() { must(t, c.disturb(g)) })
			got := g.run(t, time.Minute)
			want(t, got, c.want...)
		})
	}
}

// errThere is the error of a request that was executed.
type errThere struct{ error }

func (e errThere) Error() string { return e.error.Error() + ", and the node is there" }

// A request on an old connection has no effect once another connection carries
// the session. Otherwise the client could not find out whether it was executed.
func TestALateRequestOfAnOldConnectionIsIgnored(t *testing.T) {
	var g *group
	g = newEnsemble(inSession(func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
		s.Create(ctx, 0, "/a", "", zookeeper.Persistent)
		e.Host.Sleep(ctx, time.Second-e.Host.Mono())
		_, err := s.Create(ctx, 0, "/a/n", "", zookeeper.Ephemeral)
		if err == nil {
			t.Error("it was answered")
		}
		g.listens(e, ctx, s, 30*time.Second)
		return nil
	}).acquire, "c1")
	g.After(time.Second/2, func() {
		must(t, g.Impair(1, faults.Impairment{Client: "c1", Server: "zk-1", Direction: faults.ToServer, Action: faults.Hold}))
	})
	g.After(20*time.Second, func() { g.Restore(1) })
	got := g.run(t, time.Minute)
	if slices.ContainsFunc(got, func(s string) bool { return s == "20s zk-3 grant" }) {
		t.Errorf("the node was created: %v", got)
	}
}

// An ensemble that has lost everything counts from the beginning and reuses
// session numbers. A session from before is not valid then.
func TestASessionOfAnEarlierLifeIsOver(t *testing.T) {
	var g *group
	g = newEnsemble(inSession(func(e catalogue.Env, ctx context.Context, s zookeeper.Handle) error {
		g.note("%s has session %x", e.Host.Unique()[:2], s.ID())
		g.listens(e, ctx, s, 25*time.Second)
		return nil
	}).acquire, "c1", "c2")
	must(t, g.Pause("c2"))
	g.After(time.Second, func() {
		must(t, g.Pause("c1"))
		for _, x := range g.ensemble.members {
			must(t, g.Stop(x.server.name, true))
			must(t, g.Start(x.server.name))
		}
	})
	g.After(12*time.Second, func() { must(t, g.Resume("c2")) })
	g.After(20*time.Second, func() { must(t, g.Resume("c1")) })
	want(t, g.run(t, time.Minute),
		"0s c1 has session 100000001", "0s connected ",
		"12s c2 has session 100000001", "12s connected ",
		"20s disconnected ", "20s expired ", "20s zookeeper: session expired", "20s c1 ends: <nil>",
		"37s c2 ends: <nil>")
}

// Messages to a stopped member arrive before messages that are sent later.
func TestAMemberThatGoesOnHearsInOrder(t *testing.T) {
	g := newEnsemble(func(e catalogue.Env, ctx context.Context) error { return e.Host.Sleep(ctx, 2*time.Second) }, "c1")
	x := g.ensemble.members[0]
	propose := func(zxid int64) {
		p := x.down.parcel(proposal)
		p.entry.txn.Zxid = zxid
		x.down.send(p)
	}
	g.After(0, func() {
		propose(101)
		must(t, g.Pause("zk-1"))
		propose(102)
	})
	g.After(time.Second, func() {
		propose(103)
		must(t, g.Resume("zk-1"))
		propose(104)
	})
	g.run(t, time.Minute)
	var got []int64
	for _, l := range x.log {
		got = append(got, l.txn.Zxid)
	}
	if !slices.Equal(got, []int64{101, 102, 103, 104}) {
		t.Errorf("it has %v", got)
	}
}
