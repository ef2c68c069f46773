package sim

import (
	"iter"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// server is anything that clients connect to: a model of a Redis server, a
// Sentinel, a member of an ensemble, a MySQL server, or the guarded resource. The
// observer executes the resource's requests.
type server struct {
	net    *network
	name   string
	n      int           // index among the world's servers
	redis  *model.Server // nil: it keeps no data
	up     bool
	paused bool
	inbox  []*message // messages that arrived during a pause
	// incarnation counts the server's processes, from 1: Stop ends one.
	incarnation int
	clock       clock
	timer       time.Duration // when the next expiry is queued; 0: none
	links       []link        // by client

	node    *node              // the node of which it is a member; nil: none
	streams []*stream          // to its replicas
	source  *server            // its master; nil: it is a master itself
	written int64              // writes sent to its replicas so far
	got     int64              // writes received
	waits   []*acknowledgement // clients that wait for its replicas
	before  map[string]int     // of a replaced master: its entries at that time

	serving *message  // a request of code outside
	blocked []blocked // requests of code outside that wait for their answers

	member   receiver  // as a member of an ensemble; else nil
	database *database // its state as a MySQL server; else nil
}

// reset makes s a new server: Redis with a model, else the guarded resource.
func (s *server) reset(n *network, name string, model *model.Server) {
	*s = server{
		net: n, name: name, n: len(n.servers), redis: model, up: true, incarnation: 1,
		links: s.links[:0], inbox: s.inbox[:0], streams: s.streams[:0], waits: s.waits[:0],
	}
}

func (n *network) addStore(name string, o model.Options) *server {
	m := n.memory.stores.next()
	m.Reset(o)
	return n.addServer(name, m)
}

func (n *network) addServer(name string, redis *model.Server) *server {
	s := n.memory.servers.next()
	s.reset(n, name, redis)
	n.servers = append(n.servers, s)
	return s
}

func (n *network) server(name string) *server {
	for _, s := range n.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// wall returns the server's wall clock.
func (s *server) wall() time.Duration { return s.clock.wall(s.net.now) }

// runs reports whether the server is up and not paused.
func (s *server) runs() bool { return s.up && !s.paused }

// receive handles a message that has arrived, and sends the answer. During a
// pause the server's kernel accepts connections and keeps messages.
func (s *server) receive(m *message) {
	switch {
	case s.member != nil:
		s.member.receive(m)
		return
	case s.database != nil:
		s.database.receive(m)
		return
	}
	if s.paused && s.up && m.kind == call && m.conn.incarnation == s.incarnation {
		s.inbox = append(s.inbox, m)
		return
	}
	if m.kind == rst { // of code outside
		s.drop(m.conn)
		s.net.release(m)
		return
	}
	m.toUp = false
	switch {
	case m.kind == dial && s.up:
		m.conn.incarnation = s.incarnation
	case m.kind == dial:
		m.err = errUnreachable // no process listens
	case m.conn.incarnation != s.incarnation:
		// The process that had accepted the connection is gone, whether or not
		// another one runs: the kernel answers with a reset. Earlier requests on
		// that connection may have been executed.
		m.kind = rst
	case s.redis == nil:
		m.answer = s.net.observer.Resource(m.access)
	case m.wired != nil:
		if !s.serveWire(m) {
			return
		}
	default:
		m.reply = s.redis.Apply(s.wall(), m.op, m.command)
		s.reportEffects()
		if m.command.Verb == redis.Wait && m.reply.Kind == redis.Int {
			s.await(m)
			return
		}
	}
	s.net.send(m)
}

// reportEffects reports all effects and queues the next expiry.
func (s *server) reportEffects() {
	effects := s.redis.Effects()
	for i := range effects {
		s.effect(&effects[i])
	}
	if len(effects) > 0 {
		s.noteChange()
		s.arm()
	}
	s.replicate()
}

// noteChange notes that the next request to s may get another answer.
func (s *server) noteChange() {
	if o := s.net.order; o != nil {
		o.changes++
	}
}

// effect reports an effect on the entry of a lock. A command that overwrites
// another's entry ends one grant and makes one.
func (s *server) effect(f *model.Effect) {
	if o := s.net.outside; o != nil && f.By <= 0 {
		o.Front(s.name).Changed(f.Key)
		s.push(o.Front(s.name))
	}
	lock := s.net.lockOf(f.Key)
	if lock == "" {
		return
	}
	if s.net.outside != nil {
		s.net.enter(f.Key)
	}
	if s.node != nil {
		s.node.note(s, f)
	}
	s.report(effectNames[f.Kind], lock, f.Key, f.Maker, f.By)
	s.noteEnd(f)
	if f.Kind == model.Overwritten {
		s.report(history.Granted, lock, f.Key, f.By, f.By)
	}
}

// operator tags requests that no client of the run sends: the history has no "by".
const operator = -1

// report reports an effect on the entry of a lock. maker and by are indices of
// invokes; 0 in by means the server itself, operator somebody who is no client. The
// history has no line for an entry that an operator makes, and no "op" for one that it
// made.
func (s *server) report(f, lock, key string, maker, by int) {
	s.reportWithReason(f, lock, key, maker, by, "")
}

// reportWithReason is report with a reason in words.
func (s *server) reportWithReason(f, lock, key string, maker, by int, text string) {
	e := history.Entry{
		Process: history.Process{Name: s.name}, Type: history.Event, F: f,
		Lock: lock, Key: key, Text: text,
	}
	switch {
	case maker != operator:
		e.Op = history.Some(int64(maker))
	case f == history.Granted:
		return
	}
	if by > 0 {
		e.By = history.Some(int64(by))
	}
	s.net.observer.Server(e)
}

// reportPromotion reports that s takes the place of another server.
func (s *server) reportPromotion(old *server) {
	s.net.observer.Server(history.Entry{
		Process: history.Process{Name: s.name}, Type: history.Event, F: history.Promote, Text: old.name,
	})
}

// lockEntries returns the entries of locks among all: the acquire that made each.
func (s *server) lockEntries(all iter.Seq2[string, int]) map[string]int {
	locks := map[string]int{}
	for key, maker := range all {
		if s.net.lockOf(key) != "" {
			locks[key] = maker
		}
	}
	return locks
}

// lockOf returns the lock whose entry key is, or "".
func (n *network) lockOf(key string) string {
	if n.outside != nil && n.counters[key] {
		return ""
	}
	return n.cfg.Lock.NameIn(key, n.cfg.Names)
}

var effectNames = [...]string{
	model.Created:     history.Granted,
	model.Removed:     history.Remove,
	model.Overwritten: history.Takeover,
	model.Shortened:   history.Shorten,
	model.Prolonged:   history.Prolong,
	model.Expired:     history.Expire,
	model.Lost:        history.Lose,
	model.Evicted:     history.Lose,
}

// arm makes sure that an entry expires on time even without requests.
func (s *server) arm() {
	if s.net.order != nil {
		return // the next expiry is queued when that timer fires
	}
	due, ok := s.nextExpiry()
	if !ok {
		return
	}
	at := max(due, s.net.now)
	if s.timer != 0 && s.timer <= at {
		return
	}
	s.timer = at
	s.net.push(event{at: at, what: (*expiry)(s)})
}

// nextExpiry returns the time of the server's next expiry or timeout.
func (s *server) nextExpiry() (at time.Duration, ok bool) {
	switch {
	case s.database != nil:
		at, ok = s.database.model.Next()
	case s.redis != nil:
		at, ok = s.redis.NextExpiry() // by the wall clock
		at -= epoch + s.clock.offset
	}
	if !ok {
		return 0, false
	}
	return s.clock.when(at), true
}

// expire ends everything that is due.
func (s *server) expire() {
	if s.database != nil {
		s.database.expire()
		return
	}
	s.redis.Expire(s.wall())
	s.reportEffects()
}

// expiry is a server's timer.
type expiry server

func (x *expiry) happen() {
	s := (*server)(x)
	if s.timer == 0 || s.timer > s.net.now {
		return // an earlier timer has replaced this one
	}
	s.timer = 0
	if s.runs() { // else Start or Resume does it
		s.expire()
		s.arm()
	}
}
