package sim

import (
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// memory is what a world leaves to its successor: allocated objects, and
// coroutines that wait for a script. The objects' contents mean nothing: the next
// user overwrites all of it.
type memory struct {
	idle       []*task
	clients    pool[client]
	servers    pool[server]
	conns      pool[conn]
	messages   pool[message]
	journals   pool[journal]
	nodes      pool[node]
	stores     pool[model.Server]
	operations pool[operation]
	ensemble   ensemble
	members    pool[member]
	sessions   pool[session]
	zkCalls    pool[zkCall]
	group      databases
	databases  pool[database]
	connPools  pool[connPool]
	pinned     pool[pinnedConn]
	lockTasks  pool[background]
	portRoom   []redis.Port
	order      order
	laid       bool  // there was a run
	shape      shape // the shape of that run, and its layout
	layout     catalogue.Layout
	text       strings.Builder
}

// recycle makes all of it available for the next run.
func (m *memory) recycle() {
	m.clients.used, m.servers.used, m.conns.used, m.messages.used, m.journals.used = 0, 0, 0, 0, 0
	m.nodes.used, m.stores.used, m.operations.used = 0, 0, 0
	m.members.used, m.sessions.used, m.zkCalls.used = 0, 0, 0
	m.databases.used, m.connPools.used, m.pinned.used, m.lockTasks.used = 0, 0, 0, 0
	m.portRoom = m.portRoom[:0]
}

// shape is everything that a layout depends on.
type shape struct {
	store           catalogue.Store
	nodes, replicas int
	server          catalogue.Server
	tokens          bool
}

// layoutOf returns the layout of a run. It is mostly the previous run's.
func (m *memory) layoutOf(cfg *env.Config) *catalogue.Layout {
	if s := (shape{cfg.Lock.Store, cfg.Lock.Nodes, cfg.Lock.Replicas, cfg.Server, cfg.Options.OwnToken}); !m.laid || s != m.shape {
		m.laid, m.shape, m.layout = true, s, catalogue.NewLayout(&cfg.Lock, cfg.Server, cfg.Options)
	}
	return &m.layout
}

// ports returns room for n ports.
func (m *memory) ports(n int) []redis.Port {
	if cap(m.portRoom)-len(m.portRoom) < n {
		m.portRoom = make([]redis.Port, 0, 16*n)
	}
	from := len(m.portRoom)
	m.portRoom = m.portRoom[:from+n]
	return m.portRoom[from : from+n : from+n]
}

// pool hands out objects, those of earlier runs first. Their contents are left as
// they were.
type pool[T any] struct {
	made []*T
	used int
}

func (p *pool[T]) next() *T {
	if p.used == len(p.made) {
		p.made = append(p.made, new(T))
	}
	p.used++
	return p.made[p.used-1]
}

// join returns a + sep + b. Strings are cut from one long buffer that is never
// overwritten: they stay valid, and hundreds of them take one allocation.
func (m *memory) join(a, sep, b string) string {
	from := m.line()
	m.text.WriteString(a)
	m.text.WriteString(sep)
	m.text.WriteString(b)
	return m.text.String()[from:]
}

// numberedName returns name-n; see join.
func (m *memory) numberedName(name string, n int) string {
	var digits [20]byte
	from := m.line()
	m.text.WriteString(name)
	m.text.WriteByte('-')
	m.text.Write(strconv.AppendInt(digits[:0], int64(n), 10))
	return m.text.String()[from:]
}

// line returns where the next string begins.
func (m *memory) line() int {
	const room, longest = 4096, 128
	if m.text.Cap()-m.text.Len() < longest {
		m.text.Reset()
		m.text.Grow(room)
	}
	return m.text.Len()
}
