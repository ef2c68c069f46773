package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis/porttest"
)

// realTime is this machine's clock.
type realTime struct{ start time.Time }

func (r realTime) Now() time.Duration    { return time.Since(r.start) }
func (r realTime) Sleep(d time.Duration) { time.Sleep(d) }
func (r realTime) Slack() time.Duration  { return 5 * time.Second }

// peer is a server in a container.
type peer struct {
	t      *testing.T
	member *docker.Member
	args   []string
	port   redis.Port
	of     *peer // its master; nil: none
	cut    bool
	still  bool
	down   bool
}

// newPeer starts a server without keys on m.
func newPeer(t *testing.T, m *docker.Member, args ...string) *peer {
	t.Helper()
	c := client.New(client.Options{Addr: m.Addr})
	t.Cleanup(func() { c.Close() })
	p := &peer{t: t, member: m, args: args, port: redis.Port{Transport: c}, down: true}
	must(t, m.Wipe(t.Context()))
	p.Start()
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// do executes an administrator's command.
func (p *peer) do(words ...string) string {
	p.t.Helper()
	reply, err := p.member.Do(words...)
	if err != nil {
		p.t.Fatalf("%q: %v", words, err)
	}
	return reply
}

// until waits until done returns true.
func (p *peer) until(what string, done func() bool) {
	p.t.Helper()
	for limit := time.Now().Add(2 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			p.t.Fatalf("timeout: not yet: %s", what)
		}
	}
}

func (p *peer) reached() bool { return !p.cut && !p.still && !p.down }

func (p *peer) Port() redis.Port { return p.port }

func (p *peer) Kill() {
	p.t.Helper()
	must(p.t, p.member.Kill(p.t.Context()))
	p.down = true
}

func (p *peer) Start() {
	p.t.Helper()
	args := p.args
	if p.of != nil {
		args = append(args[:len(args):len(args)], "--replicaof", p.of.member.Host, p.of.member.Port)
	}
	must(p.t, p.member.Start(p.t.Context(), args...))
	p.down = false
}

// replication returns the server's INFO replication.
func (p *peer) replication() map[string]string {
	p.t.Helper()
	m := map[string]string{}
	for line := range strings.Lines(p.do("INFO", "replication")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[name] = value
		}
	}
	return m
}

// group is a porttest.Group of real servers.
type group struct {
	realTime
	t     *testing.T
	peers []*peer
}

// newGroup returns a master and two replicas made of members.
func newGroup(t *testing.T, members []*docker.Member) porttest.Group {
	t.Helper()
	g := &group{realTime: realTime{time.Now()}, t: t}
	for _, m := range members {
		g.peers = append(g.peers, newPeer(t, m, "--repl-diskless-sync-delay", "0"))
	}
	g.Follow(1, 0)
	g.Follow(2, 0)
	g.Settle()
	return g
}

func (g *group) Port(n int) redis.Port { return g.peers[n].port }
func (g *group) Kill(n int)            { g.t.Helper(); g.peers[n].Kill() }
func (g *group) Start(n int)           { g.t.Helper(); g.peers[n].Start() }

func (g *group) Cut(n int) {
	g.t.Helper()
	p := g.peers[n]
	var others []*docker.Member
	for _, o := range g.peers {
		if o != p {
			others = append(others, o.member)
		}
	}
	must(g.t, p.member.Cut(g.t.Context(), others...))
	p.cut = true
}

func (g *group) Join(n int) {
	g.t.Helper()
	must(g.t, g.peers[n].member.Heal(g.t.Context()))
	g.peers[n].cut = false
}

func (g *group) Pause(n int) {
	g.t.Helper()
	must(g.t, g.peers[n].member.Pause(g.t.Context()))
	g.peers[n].still = true
}

func (g *group) Continue(n int) {
	g.t.Helper()
	must(g.t, g.peers[n].member.Continue(g.t.Context()))
	g.peers[n].still = false
}

func (g *group) Follow(n, of int) {
	g.t.Helper()
	p, master := g.peers[n], g.peers[of]
	p.do("REPLICAOF", master.member.Host, master.member.Port)
	p.of = master
}

func (g *group) Promote(n int) {
	g.t.Helper()
	g.peers[n].do("REPLICAOF", "NO", "ONE")
	g.peers[n].of = nil
}

func (g *group) Settle() {
	g.t.Helper()
	for _, p := range g.peers {
		if p.of == nil || !p.reached() || !p.of.reached() {
			continue
		}
		p.until("a replica has what its master has", func() bool {
			m, r := p.of.replication(), p.replication()
			return r["master_link_status"] == "up" && r["master_replid"] == m["master_replid"] &&
				r["slave_repl_offset"] == m["master_repl_offset"]
		})
	}
}

// single is a porttest.Server.
type single struct {
	realTime
	*peer
	policy model.Policy
}

// Kill waits until the log is written and kills the process: during a sync the
// server delays the write for a moment.
func (s *single) Kill() {
	s.t.Helper()
	s.until("its log is written", func() bool {
		said := s.do("INFO", "persistence")
		return strings.Contains(said, "aof_enabled:0") || strings.Contains(said, "aof_buffer_length:0")
	})
	s.peer.Kill()
}

// settings returns the arguments of a server with the options o.
func settings(o model.Options) []string {
	args := []string{"--maxmemory-policy", o.Policy.String()}
	switch o.Fsync {
	case model.Everysec:
		args = append(args, "--appendonly", "yes", "--appendfsync", "everysec")
	case model.Always:
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	return args
}

// Evict leaves no memory. Redis would refuse commands even after it has evicted
// all that it may, so a policy that evicts gets memory again.
func (s *single) Evict() {
	s.t.Helper()
	s.do("CONFIG", "SET", "maxmemory", "1")
	var left string // keys that still have to go
	switch s.policy {
	case model.NoEviction:
		return
	case model.VolatileLRU:
		left = ",expires="
	case model.AllKeys:
		left = "db0:keys="
	}
	s.until("all is evicted", func() bool {
		keys := s.do("INFO", "keyspace")
		return !strings.Contains(keys, left) || strings.Contains(keys, left+"0")
	})
	s.Relieve()
}

func (s *single) Relieve() { s.t.Helper(); s.do("CONFIG", "SET", "maxmemory", "0") }

// newCluster returns the cluster of porttest.RunCluster made of two members.
func newCluster(t *testing.T, members []*docker.Member) porttest.Cluster {
	t.Helper()
	own := newPeer(t, members[0], "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
	other := newPeer(t, members[1], own.args...)
	own.do("CLUSTER", "ADDSLOTSRANGE", "0", "8000")
	other.do("CLUSTER", "ADDSLOTSRANGE", "8001", "12000")
	own.do("CLUSTER", "MEET", other.member.Host, other.member.Port)
	own.until("the servers know each other's slots", func() bool {
		info := own.do("CLUSTER", "INFO")
		return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_assigned:12001")
	})
	return porttest.Cluster{Port: own.port, Other: other.member.Peer(), Clock: realTime{time.Now()}}
}

// The model is compared with three real servers, which are rebuilt for each case.
func TestGroups(t *testing.T) {
	members := dockertest.Group(t, 3)
	newSingle := func(t *testing.T, o model.Options) porttest.Server {
		return &single{realTime{time.Now()}, newPeer(t, members[0], settings(o)...), o.Policy}
	}
	t.Run("replicas", func(t *testing.T) {
		porttest.RunReplicas(t, func(t *testing.T) porttest.Group { return newGroup(t, members) })
	})
	t.Run("durability", func(t *testing.T) { porttest.RunDurability(t, newSingle) })
	t.Run("memory", func(t *testing.T) { porttest.RunMemory(t, newSingle) })
	t.Run("slots", func(t *testing.T) {
		porttest.RunCluster(t, func(t *testing.T) porttest.Cluster { return newCluster(t, members) })
	})
}
