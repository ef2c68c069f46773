package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/porttest"
	"github.com/lockcheck/lockcheck/locks"
)

// world is a model server on a clock that only moves while a call waits. Its
// connections have no delay.
type world struct {
	options  model.Options
	server   *model.Server
	now      time.Duration
	sessions map[int64]*session
	tag      int
	idle     []*session // the pool, with the last returned connection at the end
}

func newWorld(_ *testing.T, o model.Options) porttest.World {
	return &world{options: o, server: model.New(o), now: 12345 * ms, sessions: map[int64]*session{}}
}

func (w *world) clock() model.Clock {
	return model.Clock{Wall: 1_700_000_000*time.Second + w.now, Mono: w.now}
}

// hear handles the server's outputs.
func (w *world) hear() {
	for _, o := range w.server.Outputs() {
		switch s := w.sessions[o.Session]; o.Kind {
		case model.Answer:
			s.call.reply, s.call.done = o.Reply, true
			s.call = nil
		case model.Ended:
			s.lose()
		}
	}
}

// sleep lets time pass until d is over or c has its answer.
func (w *world) sleep(d time.Duration, c *call) {
	for end := w.now + d; !c.done && c.err == nil; {
		next, ok := w.server.Next()
		if !ok || next > end {
			w.now = end
			return
		}
		w.now = max(next, w.now)
		w.server.Advance(w.clock())
		w.hear()
	}
}

func (w *world) Sleep(d time.Duration) { w.sleep(d, new(call)) }
func (w *world) Now() time.Duration    { return w.now }
func (w *world) Slack() time.Duration  { return 0 }
func (w *world) Settle()               {}
func (w *world) Port() mysql.Port      { return mysql.Port{Transport: pool{w}} }

func (w *world) Empty() {
	w.loseAll()
	w.server.Reset(w.options)
}

// Restart keeps all commits of the model.
func (w *world) Restart() {
	w.loseAll()
	w.server.Crash(w.clock(), w.server.Committed())
}

func (w *world) loseAll() {
	for _, s := range w.sessions {
		s.lose()
	}
	w.idle = nil
	clear(w.sessions)
}

func (w *world) ReadOnly(on bool) {
	if on {
		w.server.Follow()
	} else {
		w.server.Lead(w.clock())
	}
}

func (w *world) Open() mysql.Handle { return mysql.Handle{Session: w.connect()} }

func (w *world) connect() *session {
	s := &session{w: w, id: w.server.Connect(w.clock())}
	w.sessions[s.id] = s
	return s
}

func (w *world) Start(h mysql.Handle, c mysql.Command) porttest.Call {
	return h.Session.(*session).start(c)
}

func (w *world) Drop(h mysql.Handle) {
	s := h.Session.(*session)
	s.lose()
	w.server.Disconnect(w.clock(), s.id)
	w.hear()
}

func (w *world) Silence(h mysql.Handle) { h.Session.(*session).lose() }

// pool is the only pool of the world.
type pool struct{ w *world }

// take returns the last returned connection, or a new one.
func (w *world) take() *session {
	for n := len(w.idle) - 1; n >= 0; n-- {
		s := w.idle[n]
		if w.idle = w.idle[:n]; !s.over {
			return s
		}
	}
	return w.connect()
}

func (p pool) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (mysql.Reply, error) {
	if ctx.Err() != nil {
		return mysql.Reply{}, locks.Definite(ctx.Err())
	}
	s := p.w.take()
	defer s.Return()
	return s.Do(ctx, timeout, c)
}

func (p pool) Open(ctx context.Context, _ time.Duration) (mysql.Session, error) {
	if ctx.Err() != nil {
		return nil, locks.Definite(ctx.Err())
	}
	return p.w.take(), nil
}

// session is the client's end of a connection.
type session struct {
	w    *world
	id   int64
	call *call // without an answer yet
	over bool
}

// call is a statement under way.
type call struct {
	w     *world
	reply mysql.Reply
	done  bool
	err   error
}

func (c *call) Answer(d time.Duration) (mysql.Reply, bool, error) {
	c.w.sleep(d, c)
	return c.reply, c.done || c.err != nil, c.err
}

// lose ends the connection for the client.
func (s *session) lose() {
	s.over = true
	if s.call != nil {
		s.call.err = mysql.ErrConnectionLost
		s.call = nil
	}
}

func (s *session) start(do mysql.Command) *call {
	c := &call{w: s.w}
	if s.over {
		c.err = mysql.ErrSessionOver
		return c
	}
	s.call = c
	s.w.tag++
	s.w.server.Do(s.w.clock(), s.id, s.w.tag, do)
	s.w.hear()
	return c
}

func (s *session) ID() int64 { return s.id }

func (s *session) Do(ctx context.Context, timeout time.Duration, do mysql.Command) (mysql.Reply, error) {
	if ctx.Err() != nil {
		return mysql.Reply{}, locks.Definite(ctx.Err())
	}
	r, done, err := s.start(do).Answer(timeout)
	if !done {
		s.Close()
		return mysql.Reply{}, mysql.ErrTimeout
	}
	return r, err
}

func (s *session) Return() {
	switch {
	case s.over:
	case len(s.w.idle) == mysql.MaxIdle:
		s.Close()
	default:
		s.w.idle = append(s.w.idle, s)
	}
}

func (s *session) Close() {
	if !s.over {
		s.w.Drop(mysql.Handle{Session: s})
	}
}

func TestConformance(t *testing.T) { porttest.Run(t, newWorld) }
