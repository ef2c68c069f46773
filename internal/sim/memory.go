package sim

import (
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// memory is what a world leaves to the next one in its place: room, and
// coroutines that wait for a script. What lies in it says nothing about a run:
// whoever takes a piece of it fills in all of it.
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
	pinned     pool[pinned]
	portRoom   []redis.Port
	laid       bool  // there was a run,
	shape      shape // of this shape and with this
	layout     catalogue.Layout
	text       strings.Builder
}

// again makes everything available that is not in use between two runs.
func (m *memory) again() {
	m.clients.used, m.servers.used, m.conns.used, m.messages.used, m.journals.used = 0, 0, 0, 0, 0
	m.nodes.used, m.stores.used, m.operations.used = 0, 0, 0
	m.members.used, m.sessions.used, m.zkCalls.used = 0, 0, 0
	m.databases.used, m.connPools.used, m.pinned.used = 0, 0, 0
	m.portRoom = m.portRoom[:0]
}

// shape is what a layout depends on.
type shape struct {
	store           catalogue.Store
	nodes, replicas int
	server          catalogue.Server
	tokens          bool
}

// layoutOf is the layout of a run: mostly that of the one before.
func (m *memory) layoutOf(cfg *env.Config) *catalogue.Layout {
	if s := (shape{cfg.Lock.Store, cfg.Lock.Nodes, cfg.Lock.Replicas, cfg.Server, cfg.Options.OwnToken}); !m.laid || s != m.shape {
		m.laid, m.shape, m.layout = true, s, catalogue.NewLayout(&cfg.Lock, cfg.Server, cfg.Options)
	}
	return &m.layout
}

// ports is room for n ports.
func (m *memory) ports(n int) []redis.Port {
	if cap(m.portRoom)-len(m.portRoom) < n {
		m.portRoom = make([]redis.Port, 0, 16*n)
	}
	from := len(m.portRoom)
	m.portRoom = m.portRoom[:from+n]
	return m.portRoom[from : from+n : from+n]
}

// pool hands out pieces of memory, those of earlier runs first. Their contents
// are what they were.
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

// join is a + sep + b. Strings are cut from one long one, whose memory is never
// written again: they stay good, and a run takes an allocation for hundreds.
func (m *memory) join(a, sep, b string) string {
	from := m.line()
	m.text.WriteString(a)
	m.text.WriteString(sep)
	m.text.WriteString(b)
	return m.text.String()[from:]
}

// numbered is name-n; see join.
func (m *memory) numbered(name string, n int) string {
	var digits [20]byte
	from := m.line()
	m.text.WriteString(name)
	m.text.WriteByte('-')
	m.text.Write(strconv.AppendInt(digits[:0], int64(n), 10))
	return m.text.String()[from:]
}

// line is where the next string begins.
func (m *memory) line() int {
	const room, longest = 4096, 128
	if m.text.Cap()-m.text.Len() < longest {
		m.text.Reset()
		m.text.Grow(room)
	}
	return m.text.Len()
}
