package sim

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// server is anything that clients connect to: a model of a Redis server, a
// Sentinel, a member of an ensemble, a MySQL server, or the guarded resource. The
// observer executes the resource's requests.
type server struct {
	world  *World
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

	member   *member   // its state as a member of an ensemble; else nil
	database *database // its state as a MySQL server; else nil
}

// reset makes s a new server: Redis with a model, else the guarded resource.
func (s *server) reset(w *World, name string, model *model.Server) {
	*s = server{
		world: w, name: name, n: len(w.servers), redis: model, up: true, incarnation: 1,
		links: s.links[:0], inbox: s.inbox[:0], streams: s.streams[:0], waits: s.waits[:0],
	}
}

// addServers adds the servers of the run's layout.
func (w *World) addServers() {
	layout := w.memory.layoutOf(&w.cfg)
	set := w.cfg.Server
	options := model.Options{Replicated: len(layout.Sentinels) > 0}
	switch set.Fsync {
	case catalogue.FsyncEverysec:
		options.Fsync = model.Everysec
	case catalogue.FsyncAlways:
		options.Fsync = model.Always
	}
	if set.Eviction == catalogue.EvictNothing {
		options.Policy = model.NoEviction
	}
	if set.Cluster {
		options.Cluster = slots(layout.Masters())
	}
	for i, names := range layout.Nodes {
		n := w.memory.nodes.next()
		n.reset(w, names[0])
		w.nodes = append(w.nodes, n)
		options.Self = i
		for _, name := range names {
			n.add(w.addStore(name, options))
		}
	}
	if len(layout.Ensemble) > 0 {
		w.addEnsemble(layout.Ensemble)
	}
	if len(layout.MySQL) > 0 {
		w.addDatabases(layout.MySQL)
	}
	for _, name := range layout.Sentinels {
		w.monitors = append(w.monitors, w.addServer(name, nil))
	}
	w.resource = w.addServer(history.Resource, nil)
	if layout.Tokens != "" {
		w.tokens = w.addStore(layout.Tokens, model.Options{Fsync: model.Always})
	}
}

// slots divides the hash slots of a Redis Cluster evenly.
func slots(masters []string) []model.SlotRange {
	ranges := make([]model.SlotRange, len(masters))
	for i, name := range masters {
		from, to := redis.SlotsOf(i, len(masters))
		ranges[i] = model.SlotRange{From: from, To: to, Addr: name + ":6379"}
	}
	return ranges
}

func (w *World) addStore(name string, o model.Options) *server {
	m := w.memory.stores.next()
	m.Reset(o)
	return w.addServer(name, m)
}

func (w *World) addServer(name string, redis *model.Server) *server {
	s := w.memory.servers.next()
	s.reset(w, name, redis)
	w.servers = append(w.servers, s)
	return s
}

func (w *World) server(name string) *server {
	for _, s := range w.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// wall returns the server's wall clock.
func (s *server) wall() time.Duration { return s.clock.wall(s.world.now) }

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
		m.answer = s.world.observer.Resource(m.access)
	default:
		m.reply = s.redis.Apply(s.wall(), m.op, m.command)
		s.reportEffects()
		if m.command.Verb == redis.Wait && m.reply.Kind == redis.Int {
			s.await(m)
			return
		}
	}
	s.world.send(m)
}

// reportEffects reports all effects and queues the next expiry.
func (s *server) reportEffects() {
	effects := s.redis.Effects()
	for i := range effects {
		s.world.effect(s, &effects[i])
	}
	if len(effects) > 0 {
		s.noteChange()
		s.arm()
	}
	s.replicate()
}

// noteChange notes that the next request to s may get another answer.
func (s *server) noteChange() {
	if o := s.world.order; o != nil {
		o.changes++
	}
}

// effect reports an effect on the entry of a lock. A command that overwrites
// another's entry ends one grant and makes one.
func (w *World) effect(s *server, f *model.Effect) {
	lock := w.lockOf(f.Key)
	if lock == "" {
		return
	}
	if s.node != nil {
		s.node.note(s, f)
	}
	s.report(effectNames[f.Kind], lock, f.Key, f.Maker, f.By)
	if f.Kind == model.Overwritten {
		s.report(history.Granted, lock, f.Key, f.By, f.By)
	}
}

// report reports an effect on the entry of a lock. maker and by are indices of
// invokes; 0 in by means the server itself.
func (s *server) report(f, lock, key string, maker, by int) {
	s.reportWithReason(f, lock, key, maker, by, "")
}

// reportWithReason is reports with a reason in words.
func (s *server) reportWithReason(f, lock, key string, maker, by int, text string) {
	e := history.Entry{
		Process: history.Process{Name: s.name}, Type: history.Event, F: f,
		Lock: lock, Key: key, Op: history.Some(int64(maker)), Text: text,
	}
	if by != 0 {
		e.By = history.Some(int64(by))
	}
	s.world.observer.Server(e)
}

// lockOf returns the lock whose entry key is, or "".
func (w *World) lockOf(key string) string {
	for _, name := range w.cfg.Names {
		if name == key {
			return name
		}
	}
	return ""
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
	if s.world.order != nil {
		return // the next expiry is queued when that timer fires
	}
	if s.member != nil {
		s.member.ensemble.arm()
		return
	}
	due, ok := s.nextExpiry()
	if !ok {
		return
	}
	at := max(due, s.world.now)
	if s.timer != 0 && s.timer <= at {
		return
	}
	s.timer = at
	s.world.push(event{at: at, what: (*expiry)(s)})
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

func (x *expiry) happen(w *World) {
	s := (*server)(x)
	if s.timer == 0 || s.timer > w.now {
		return // an earlier timer has replaced this one
	}
	s.timer = 0
	if s.runs() { // else Start or Resume does it
		s.expire()
		s.arm()
	}
}
