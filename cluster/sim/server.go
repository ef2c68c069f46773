package sim

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/stores/redis/model"
)

// server is what clients connect to: a model of a Redis server, or the guarded
// resource, which the observer stands for.
type server struct {
	world *World
	name  string
	n     int           // among the world's servers
	redis *model.Server // nil: the guarded resource
	up    bool
	// incarnation counts the server's processes, from 1: Stop ends one.
	incarnation int
	offset      time.Duration // of its wall clock
	timer       time.Duration // when the next active expiry is in the queue; 0: none
	links       []link        // by client
}

// reset makes s a new server: of Redis if model is there, else the guarded resource.
func (s *server) reset(w *World, name string, model *model.Server) {
	*s = server{world: w, name: name, n: len(w.servers), redis: model, up: true, incarnation: 1, links: s.links[:0]}
}

// fsync is when the model of a server that is set up like s syncs its log.
func fsync(s catalogue.Server) model.Fsync {
	if s.Fsync == catalogue.FsyncAlways {
		return model.Always
	}
	return model.None
}

func (w *World) server(name string) *server {
	for _, s := range w.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// wall is the server's wall clock.
func (s *server) wall() time.Duration { return epoch + s.world.now + s.offset }

// receive serves a message that has arrived, and sends the answer.
func (s *server) receive(m *message) {
	m.toUp = false
	switch {
	case m.kind == dial && s.up:
		m.conn.incarnation = s.incarnation
	case m.kind == dial:
		m.err = errUnreachable // nobody listens
	case m.conn.incarnation != s.incarnation:
		// The process that had accepted the connection is gone, whether or not
		// another one runs: the kernel answers with a reset. What was sent
		// earlier on that connection may have been executed.
		m.kind = rst
	case s.redis == nil:
		m.answer = s.world.observer.Resource(m.access)
	default:
		m.reply = s.redis.Apply(s.wall(), m.op, m.command)
		s.tell()
	}
	s.world.send(m)
}

// tell reports what took effect, and sees to the next expiry.
func (s *server) tell() {
	effects := s.redis.Effects()
	for i := range effects {
		s.world.effect(s, &effects[i])
	}
	if len(effects) > 0 {
		s.changed()
		s.arm()
	}
}

// changed notes that who asks s again may get another answer.
func (s *server) changed() {
	if o := s.world.order; o != nil {
		o.changes++
	}
}

// effect reports what happened to the entry of a lock. A command that
// overwrites another's entry takes one grant away and makes one.
func (w *World) effect(s *server, f *model.Effect) {
	lock := ""
	for _, name := range w.cfg.Names {
		if name == f.Key {
			lock = name
		}
	}
	if lock == "" {
		return
	}
	e := history.Entry{
		Process: history.Process{Name: s.name},
		Type:    history.Event,
		F:       effectNames[f.Kind],
		Lock:    lock,
		Key:     f.Key,
		Op:      history.Some(int64(f.Maker)),
	}
	if f.By != 0 {
		e.By = history.Some(int64(f.By))
	}
	w.observer.Server(e)
	if f.Kind == model.Overwritten {
		e.F, e.Op = history.Granted, e.By
		w.observer.Server(e)
	}
}

var effectNames = [...]string{
	model.Created:     history.Granted,
	model.Removed:     history.Remove,
	model.Overwritten: history.Takeover,
	model.Shortened:   history.Shorten,
	model.Prolonged:   history.Prolong,
	model.Expired:     history.Expire,
	model.Lost:        history.Lose,
}

// arm makes sure that an entry that nobody looks at is expired on time.
func (s *server) arm() {
	if s.world.order != nil {
		return // it asks when the next one is
	}
	due, ok := s.redis.NextExpiry()
	if !ok {
		return
	}
	at := max(due-epoch-s.offset, s.world.now)
	if s.timer != 0 && s.timer <= at {
		return
	}
	s.timer = at
	s.world.push(event{at: at, what: (*expiry)(s)})
}

// expiry is the timer of a server's active expiry.
type expiry server

func (x *expiry) happen(w *World) {
	s := (*server)(x)
	if s.timer == 0 || s.timer > w.now {
		return // another one had been armed for an earlier time
	}
	s.timer = 0
	if s.up { // else Start sees to it
		s.redis.Expire(s.wall())
		s.tell()
		s.arm()
	}
}

// process is the server that a fault acts on. The guarded resource is none.
func (w *World) process(name string) (*server, error) {
	s := w.server(name)
	if s == nil || s.redis == nil {
		return nil, fmt.Errorf("sim: no server %q", name)
	}
	return s, nil
}

// Stop ends the server's process, and resets the connections that it had
// accepted. A server that is down cannot be stopped.
func (w *World) Stop(name string, lose bool) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	if !s.up {
		return fmt.Errorf("sim: %s is down already", name)
	}
	s.up = false
	if lose {
		s.redis.Crash(s.wall())
		s.tell()
	}
	for _, c := range w.clients {
		// Not one that its client has left.
		if n := c.conns[s.n]; n.incarnation == s.incarnation && (n.open || n.waiter != nil) {
			w.send(w.newMessage(n, rst, false))
		}
	}
	s.incarnation++
	return nil
}

// Start lets the server run again, with what it has kept. A server that is up
// cannot be started.
func (w *World) Start(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	if s.up {
		return fmt.Errorf("sim: %s is up already", name)
	}
	s.up = true
	s.redis.Restart(s.wall())
	s.tell()
	s.arm()
	return nil
}

// Jump moves the server's wall clock. A timer that is in the queue for a time
// that is now too early finds nothing to expire, and puts in the next.
func (w *World) Jump(name string, by time.Duration) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	s.offset += by
	s.arm()
	return nil
}
