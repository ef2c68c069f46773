package sim

import (
	"context"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/porttest"
)

// The suite that compares the model with real servers also checks the simulated
// ensemble: messages between members, the client library's session handling, and
// random latencies.
func TestConformance(t *testing.T) {
	porttest.Run(t, func(t *testing.T) porttest.World { return newPortWorld(t) })
}

// While creates are under way an ensemble gives numbers beyond 2147483647, and
// none after that. Real servers do the same while their followers stand still.
func TestNumbersOverflowUnderWay(t *testing.T) {
	p := newPortWorld(t)
	p.Preset("/p", math.MaxInt32)
	leader := p.ensemble.leader
	var handles []zookeeper.Handle
	for range 3 {
		handles = append(handles, p.Open(leader.n, 10*time.Second))
	}
	must(t, p.Isolate(1, []string{leader.server.name}))
	var got []string
	for i, h := range handles {
		s := h.Session.(outsideZKSession)
		p.Go(func() {
			must(t, s.client.do(&env.Op{Index: 1}, history.Acquire, func() {
				prefix := string(rune('a'+i)) + "-"
				path, err := zookeeper.Handle{Session: s.session}.Create(t.Context(), time.Second, "/p/"+prefix, "", zookeeper.Sequential)
				must(t, err)
				got = append(got, path)
			}))
		})
		p.Sleep(20 * time.Millisecond)
	}
	if len(got) > 0 {
		t.Errorf("%q was created without the followers", got)
	}
	_, err := p.Restore(1)
	must(t, err)
	p.runUntil(func() bool { return len(got) == len(handles) })
	slices.Sort(got) // answers come in any order
	path, err := handles[0].Create(t.Context(), time.Second, "/p/d-", "", zookeeper.Sequential)
	must(t, err)
	want(t, append(got, path), "/p/a-2147483647", "/p/b--2147483648", "/p/c--2147483647", "/p/d-2147483647")
}

// newPortWorld returns a world whose T is the suite's shortest session.
func newPortWorld(t *testing.T) *portWorld {
	return &portWorld{outsideWorld: newOuter(t, catalogue.StoreZooKeeper)}
}

// outsideWorld is a world that a test uses from outside: it lets events happen until a
// condition holds.
type outsideWorld struct {
	*World
	t       *testing.T
	choices *choices
}

func newOuter(t *testing.T, store catalogue.Store) *outsideWorld {
	p := &outsideWorld{t: t}
	s := &scene{}
	cfg := configOf(store, nil)
	cfg.Lease, cfg.Names = time.Second, nil
	p.World = New(cfg, s, env.Decisions{Seed: 1, Record: true})
	p.choices, s.World = p.World.choices, p.World
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

// runUntil lets events happen until done.
func (p *outsideWorld) runUntil(done func() bool) {
	for !done() {
		p.step()
		if p.err != nil {
			p.t.Fatal(p.err)
		}
	}
}

// Sleep lets time pass.
func (p *outsideWorld) Sleep(d time.Duration) {
	over := false
	p.After(d, func() { over = true })
	p.runUntil(func() bool { return over })
}

// newClient returns a new client.
func (p *outsideWorld) newClient() *client {
	return p.addClient("c" + strconv.Itoa(len(p.clients)+1))
}

// runOn runs f on a client.
func (p *outsideWorld) runOn(c *client, f func()) {
	done := false
	p.Go(func() {
		if err := c.do(&env.Op{Index: 1}, history.Acquire, f); err != nil {
			p.t.Error(err)
		}
		done = true
	})
	p.runUntil(func() bool { return done })
}

// portWorld is a porttest.World of an ensemble.
type portWorld struct {
	*outsideWorld
	killed *member
}

// Open opens a session with the least latencies, so that a server can be chosen.
func (p *portWorld) Open(server int, length time.Duration) (h zookeeper.Handle) {
	c := p.newClient()
	p.World.choices = replay([]env.Choice{{Name: env.Name{What: "server", Who: c.name, N: 1}, Value: int64(max(server, 0))}})
	defer func() { p.World.choices = p.choices }()
	p.runOn(c, func() {
		s, err := (*zkTransport)(c).Open(context.Background(), 10*time.Second, length)
		if err != nil {
			p.t.Error(err)
			return
		}
		h.Session = outsideZKSession{p, s.(*session)}
	})
	return h
}

func (p *portWorld) Disconnect(h zookeeper.Handle) { h.Session.(outsideZKSession).conn.sever() }
func (p *portWorld) Freeze(h zookeeper.Handle) {
	must(p.t, p.Pause(h.Session.(outsideZKSession).client.name))
}

func (p *portWorld) Thaw(h zookeeper.Handle) {
	must(p.t, p.Resume(h.Session.(outsideZKSession).client.name))
}

func (p *portWorld) Cut(h zookeeper.Handle) {
	s := h.Session.(outsideZKSession)
	for _, x := range p.ensemble.members {
		must(p.t, p.Impair(p.cut(s, x), faults.Impairment{Client: s.client.name, Server: x.server.name, Action: faults.Hold}))
	}
	s.conn.sever()
}

func (p *portWorld) Join(h zookeeper.Handle) {
	s := h.Session.(outsideZKSession)
	for _, x := range p.ensemble.members {
		_, err := p.Restore(p.cut(s, x))
		must(p.t, err)
	}
}

// cut returns the number of a disturbance.
func (p *portWorld) cut(s outsideZKSession, x *member) int {
	return s.client.n*len(p.ensemble.members) + x.n
}

func (p *portWorld) Slack() time.Duration { return 0 }

func (p *portWorld) KillLeader() {
	p.killed = p.ensemble.leader
	must(p.t, p.Stop(p.killed.server.name, false))
	p.runUntil(func() bool {
		for _, x := range p.ensemble.members {
			if x != p.killed && !x.serves {
				return false
			}
		}
		return true
	})
}

func (p *portWorld) StartKilled() {
	must(p.t, p.Start(p.killed.server.name))
	p.runUntil(func() bool { return p.killed.serves })
}

// Preset first lets all members learn every decision.
func (p *portWorld) Preset(path string, counter int32) {
	p.Sleep(time.Second)
	p.ensemble.preset(path, counter)
}

// outsideZKSession is a session that a test calls from outside of the simulation.
type outsideZKSession struct {
	world *portWorld
	*session
}

func (s outsideZKSession) Do(ctx context.Context, timeout time.Duration, c zookeeper.Command) (r zookeeper.Reply, err error) {
	s.world.runOn(s.client, func() { r, err = s.session.Do(ctx, timeout, c) })
	return r, err
}

func (s outsideZKSession) Next(ctx context.Context, timeout time.Duration) (e zookeeper.Event, err error) {
	s.world.runOn(s.client, func() { e, err = s.session.Next(ctx, timeout) })
	return e, err
}

func (s outsideZKSession) Close(ctx context.Context, timeout time.Duration) (err error) {
	s.world.runOn(s.client, func() { err = s.session.Close(ctx, timeout) })
	return err
}
