package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	redismodel "github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// network is what clients and servers share: messages, and what disturbs them.
type network struct {
	scheduler
	endpoints   []*endpoint // of the clients
	servers     []*server   // of all kinds
	nodes       []*node
	monitors    []*server  // the Sentinels
	databases   *databases // nil: none
	tokens      *server    // nil: none
	resource    *server    // guarded by the lock
	impairments []*impairment
	isolations  []isolation
	free        []*message
	counters    map[string]bool // keys that code outside counts with, such as tokens
	entered     map[string]bool // keys of code outside that have been entries
	record      record          // nil: messages are not recorded

	// memory is that of the last run, for this one. The contents mean nothing: the
	// next user overwrites all of it.
	memory struct {
		conns     pool[conn]
		messages  pool[message]
		servers   pool[server]
		nodes     pool[node]
		stores    pool[redismodel.Server]
		group     databases
		databases pool[database]
	}
}

// record receives the messages of a run. Random runs have none: they pay for one comparison
// a message.
type record interface {
	sent(now time.Duration, m *message) // gives m its number
	arrived(now time.Duration, m *message)
	between(now time.Duration, from, to *server, text string) (noted int) // servers
	reached(now time.Duration, noted int)
	lost(noted int)
}

// between records a message between two servers.
func (n *network) between(from, to *server, text string) (noted int) {
	if n.record != nil {
		noted = n.record.between(n.now, from, to, text)
	}
	return noted
}

// reached records that a message between two servers has arrived.
func (n *network) reached(noted int) {
	if n.record != nil {
		n.record.reached(n.now, noted)
	}
}

// lost records that a message never arrives.
func (n *network) lost(noted int) {
	if n.record != nil {
		n.record.lost(noted)
	}
}

// reset prepares a run, without clients and servers.
func (n *network) reset(cfg env.Config, o env.Observer, d env.Decisions) {
	n.scheduler.reset(cfg, o, d)
	n.endpoints, n.servers, n.nodes, n.monitors = n.endpoints[:0], n.servers[:0], n.nodes[:0], n.monitors[:0]
	n.impairments, n.isolations, n.free = n.impairments[:0], n.isolations[:0], n.free[:0]
	n.databases, n.tokens, n.resource, n.counters, n.entered, n.record = nil, nil, nil, nil, nil, nil
	m := &n.memory
	m.conns.recycle()
	m.messages.recycle()
	m.servers.recycle()
	m.nodes.recycle()
	m.stores.recycle()
	m.databases.recycle()
}

// connect returns a connection that no server has accepted yet.
func (n *network) connect(e *endpoint, s *server) *conn {
	c := n.memory.conns.next()
	*c = conn{client: e, server: s, number: 1, asked: c.asked[:0]}
	for _, list := range [][]*conn{e.conns, e.spare} {
		for _, other := range list {
			if other.server == s {
				c.number = max(c.number, other.number+1)
			}
		}
	}
	return c
}

// newMessage returns a message from the client's end of c, or to it. It may still
// have the contents of an earlier message: the sender overwrites the request, and
// the server the answer.
func (n *network) newMessage(c *conn, k kind, toUp bool) *message {
	var m *message
	if last := len(n.free) - 1; last >= 0 {
		m = n.free[last]
		n.free = n.free[:last]
	} else {
		m = n.memory.messages.next()
	}
	if n.order != nil {
		*m = message{} // a state must not depend on another run
	}
	m.conn, m.kind, m.toUp, m.err, m.wired = c, k, toUp, nil, nil
	return m
}

// release gives back a message that nobody needs any more.
func (n *network) release(m *message) { n.free = append(n.free, m) }

// lose ends a message that never arrives.
func (n *network) lose(m *message) {
	n.lost(m.noted)
	n.release(m)
}

// zkMessage returns a message with an empty packet.
func (n *network) zkMessage(c *conn, k kind, toUp bool) *message {
	m := n.newMessage(c, k, toUp)
	if m.zk == nil {
		m.zk = new(packet)
	}
	*m.zk = packet{watches: m.zk.watches[:0]}
	m.op = 0
	return m
}

// send sends m.
func (n *network) send(m *message) {
	c := m.conn
	if n.record != nil {
		n.record.sent(n.now, m)
	}
	if m.isLost() {
		n.lose(m)
		return
	}
	var slow time.Duration
	for _, im := range n.impairments {
		if im.Action == faults.Slow && im.matches(m) {
			im.hits++
			slow += im.Delay
		}
	}
	l, last := &c.server.links[c.client.n], &c.down
	if m.toUp {
		last = &c.up
	}
	if n.pct != nil {
		n.seq++
		n.pct.fly(c.client.n, flight{message: m, seq: laterSeq + n.seq, earliest: n.now + latencyMin + slow, last: last}, l.next(), n.latencies)
		return
	}
	if n.order == nil {
		slow += n.latency(l)
	}
	*last = max(n.now+slow, *last)
	at := *last
	if _, ok := c.owner.(*Wire); ok && !m.toUp {
		at += c.apart()
	}
	n.push(event{at: at, what: m})
}

// apart returns some nanoseconds by which messages to code outside arrive later, unlike
// all other events, which happen at whole microseconds. Timers that the code sets at one
// instant would end in an order that chance decides.
func (c *conn) apart() time.Duration {
	return 1 + time.Duration(c.number+32*(c.server.n+16*c.client.n))%998
}

// happen handles m's arrival.
func (m *message) happen() {
	c := m.conn
	n := c.client.net
	if m.isLost() {
		n.lose(m)
		return
	}
	for _, im := range n.impairments {
		if !im.matches(m) {
			continue
		}
		switch im.Action {
		case faults.Hold:
			im.hits++
			im.held = append(im.held, m)
			return
		case faults.Swallow, faults.Reset:
			if im.hits > 0 || m.kind != call || m.fromLibrary() {
				continue
			}
			im.hits++
			c.silent = true
			if im.Action == faults.Reset {
				c.sever()
			}
			n.lose(m)
			return
		}
	}
	if n.record != nil {
		n.record.arrived(n.now, m)
	}
	if m.toUp {
		c.server.receive(m)
	} else {
		c.receive(m)
	}
}

// impairment is an active disturbance.
type impairment struct {
	faults.Impairment
	id      int
	process *endpoint // of the first client of the process that it concerns
	held    []*message
	hits    int
}

func (im *impairment) matches(m *message) bool {
	return m.conn.client.first == im.process && m.conn.server.name == im.Server &&
		(im.Direction == faults.Both || (im.Direction == faults.ToServer) == m.toUp)
}

// Impair disturbs a link until Restore.
func (n *network) Impair(id int, im faults.Impairment) error {
	for _, e := range n.endpoints {
		if e.name == im.Client && n.server(im.Server) != nil {
			n.impairments = append(n.impairments, &impairment{Impairment: im, id: id, process: e.first})
			return nil
		}
	}
	return fmt.Errorf("sim: no link between %q and %q", im.Client, im.Server)
}

// Restore ends a disturbance. Held messages arrive now, in order.
func (n *network) Restore(id int) (hits int, err error) {
	for i, im := range n.impairments {
		if im.id == id {
			n.impairments = append(n.impairments[:i], n.impairments[i+1:]...)
			for _, m := range im.held {
				n.pushFirst(event{at: n.now, what: m})
			}
			return im.hits, nil
		}
	}
	return 0, fmt.Errorf("sim: no disturbance %d is in force", id)
}

// isolation separates servers from all other servers.
type isolation struct {
	id      int
	servers []string
}

// isSeparated reports whether an isolation separates two servers.
func (n *network) isSeparated(a, b *server) bool {
	for _, is := range n.isolations {
		if is.has(a) != is.has(b) {
			return true
		}
	}
	return false
}

func (is *isolation) has(s *server) bool { return slices.Contains(is.servers, s.name) }

// look is World.look for the servers of Redis and MySQL.
func (n *network) look() {
	if n.databases != nil {
		n.databases.look()
	}
	for _, node := range n.nodes {
		if node.hasReplicas() {
			node.flow()
			node.watch()
		}
	}
}
