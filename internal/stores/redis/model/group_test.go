package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis/porttest"
)

// clock is a clock that only Sleep moves.
type clock struct{ now time.Duration }

func (c *clock) Now() time.Duration    { return c.now }
func (c *clock) Sleep(d time.Duration) { c.now += max(d, 0) }
func (c *clock) Slack() time.Duration  { return 0 }

// begin is the start of the tests' clocks, since 1970.
const begin = 1_700_000_000 * time.Second

// group is servers that replicate without delay while they are connected.
type group struct {
	*clock
	members []*member
}

type member struct {
	group  *group
	server *model.Server
	of     *member // its leader; nil: none
	cut    bool
	still  bool
	down   bool
	synced bool // it has all of its leader's data and receives further writes
}

func newGroup() *group {
	g := &group{clock: &clock{begin}}
	for range 3 {
		g.members = append(g.members, &member{group: g, server: model.New(model.Options{Replicated: true})})
	}
	g.Follow(1, 0)
	g.Follow(2, 0)
	g.Settle()
	return g
}

func (g *group) Port(n int) redis.Port { return redis.Port{Transport: g.members[n]} }
func (g *group) Join(n int)            { g.members[n].cut = false }

func (g *group) Cut(n int) {
	g.members[n].cut = true
	g.missWrites()
}

func (g *group) Pause(n int) {
	g.members[n].still = true
	g.missWrites()
}

func (g *group) Continue(n int) { g.members[n].still = false }

func (g *group) Kill(n int) {
	m := g.members[n]
	m.server.Kill(g.now)
	m.down = true
	g.missWrites()
}

func (g *group) Start(n int) {
	m := g.members[n]
	m.server.Restart(g.now)
	m.down = false
}

func (g *group) Follow(n, of int) {
	m := g.members[n]
	m.server.Follow()
	m.of, m.synced = g.members[of], false
}

func (g *group) Promote(n int) {
	m := g.members[n]
	m.server.Lead(g.now)
	m.of, m.synced = nil, false
}

// missWrites makes followers without a connection miss the leader's later writes.
func (g *group) missWrites() {
	for _, m := range g.members {
		m.synced = m.synced && m.hasLeader()
	}
}

// hasLeader reports whether m has a leader and a connection to it.
func (m *member) hasLeader() bool {
	return m.of != nil && m.isReachable() && m.of.isReachable()
}

func (m *member) isReachable() bool { return !m.cut && !m.still && !m.down }

// Settle updates all followers with a connection to their leader.
func (g *group) Settle() {
	for _, m := range g.members {
		m.replicate()
	}
	for _, m := range g.members {
		if m.hasLeader() && !m.synced {
			m.server.CopyFrom(g.now, m.of.server)
			m.synced = true
		}
	}
}

// replicate sends the writes of m to its followers.
func (m *member) replicate() {
	if m.down {
		return
	}
	m.server.Expire(m.group.now)
	for _, w := range m.server.Writes() {
		for _, f := range m.group.members {
			if f.of == m && f.synced {
				f.server.Replicate(m.group.now, w)
			}
		}
	}
}

// Do implements redis.Transport. It answers WAIT like a server with replicas.
func (m *member) Do(_ context.Context, _ time.Duration, c redis.Command) (redis.Reply, error) {
	g := m.group
	r := m.server.Apply(g.now, 1, c)
	m.replicate()
	if c.Verb != redis.Wait || r.Kind != redis.Int {
		return r, nil
	}
	for _, f := range g.members {
		if f.of == m && f.synced {
			r.Int++
		}
	}
	if r.Int < c.N {
		g.Sleep(c.TTL)
	}
	return r, nil
}

func TestReplicas(t *testing.T) {
	porttest.RunReplicas(t, func(*testing.T) porttest.Group { return newGroup() })
}

// single is one server for porttest.
type single struct {
	*clock
	server *model.Server
}

func (s *single) Port() redis.Port { return redis.Port{Transport: s} }
func (s *single) Kill()            { s.server.Kill(s.now) }
func (s *single) PowerLoss()       { s.server.Crash(s.now) }
func (s *single) Start()           { s.server.Restart(s.now) }
func (s *single) Evict()           { s.server.Evict(s.now) }
func (s *single) Relieve()         { s.server.Relieve() }

func (s *single) Do(_ context.Context, _ time.Duration, c redis.Command) (redis.Reply, error) {
	return s.server.Apply(s.now, 1, c), nil
}

func newSingle(_ *testing.T, o model.Options) porttest.Server {
	return &single{&clock{begin}, model.New(o)}
}

func TestDurability(t *testing.T) { porttest.RunDurability(t, newSingle) }
func TestMemory(t *testing.T)     { porttest.RunMemory(t, newSingle) }

func TestSlots(t *testing.T) {
	porttest.RunCluster(t, func(*testing.T) porttest.Cluster {
		c := []model.SlotRange{{From: 0, To: 8000, Addr: "a:1"}, {From: 8001, To: 12000, Addr: "b:1"}}
		s := &single{&clock{begin}, model.New(model.Options{Cluster: c})}
		return porttest.Cluster{Port: s.Port(), Other: "b:1", Clock: s}
	})
}
