package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// maxLine bounds a line, in bytes, in both directions.
const maxLine = 1 << 20

// server is a worker: its clients, and whom it has asked something.
type server struct {
	life    context.Context
	start   time.Time
	factory Factory

	out     sync.Mutex
	encoder *json.Encoder

	mu      sync.Mutex
	clients map[string]*client
	doing   map[int64]chan Request // by ID of the operation: waits for the answer to a Do
	points  map[int64]chan struct{}
	at      int64 // the last point announced
	running sync.WaitGroup
}

// client is one client of a worker. Its tasks hold the baton while they look
// at it.
type client struct {
	baton
	server *server
	name   string
	locker locks.Locker
	close  func() error
	leases map[string]locks.Lease // by lock: the last grant

	op       string    // the operation that runs
	requests int       // that it has sent
	armed    []Request // points

	mu   sync.Mutex
	busy bool
	next []Request // points of the next operation
}

// Serve is a worker: it reads requests from in and answers on out, until in
// ends, ctx ends, or a line makes no sense. Operations that are then under way
// are given up, and what locks hold stays in their stores. The error is nil
// when in ended.
func Serve(ctx context.Context, in io.Reader, out io.Writer, f Factory) error {
	life, end := context.WithCancel(ctx)
	s := &server{
		life:    life,
		start:   time.Now(),
		factory: f,
		encoder: json.NewEncoder(out),
		clients: map[string]*client{},
		doing:   map[int64]chan Request{},
		points:  map[int64]chan struct{}{},
	}
	s.encoder.SetEscapeHTML(false)
	defer s.end()
	defer end()

	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var q Request
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fmt.Errorf("not a request: %w", err)
		}
		s.dispatch(q)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return lines.Err()
}

// end waits for what is under way and closes the clients' connections.
func (s *server) end() {
	s.running.Wait()
	for _, c := range s.clients {
		c.close()
	}
}

func (s *server) dispatch(q Request) {
	switch {
	case q.Go != 0:
		s.leave(q.Go)
	case q.Op == "":
		s.done(q)
	case q.Op == OpInit:
		s.answer(q, s.init(q))
	case q.Op == OpClock:
		now := time.Since(s.start).Nanoseconds()
		s.answer(q, Answer{MonoNS: &now})
	default:
		c := s.clients[q.Client]
		if c == nil {
			s.answer(q, Answer{Error: ErrBadRequest, Text: fmt.Sprintf("no client %q", q.Client)})
			return
		}
		c.dispatch(q)
	}
}

// init makes the clients. In an answer without OK, Error decides.
func (s *server) init(q Request) Answer {
	bad := func(err error) Answer { return Answer{Error: ErrBadRequest, Text: err.Error()} }
	if q.Protocol != Protocol {
		return bad(fmt.Errorf("protocol %d is asked for, and this worker speaks %d", q.Protocol, Protocol))
	}
	if len(s.clients) > 0 {
		return bad(errors.New("init came twice"))
	}
	for _, name := range q.Clients {
		c := &client{server: s, name: name, leases: map[string]locks.Lease{}}
		var err error
		c.locker, c.close, err = s.factory(Setup{
			Client: name,
			Init:   q,
			Host:   &host{baton: &c.baton, life: s.life, start: s.start},
			Redis:  func(next redis.Transport) redis.Port { return redis.Port{Transport: transport{c, next}} },
		})
		if err != nil {
			return bad(err)
		}
		s.clients[name] = c
	}
	return Answer{Name: "lockcheck", Features: []string{FeatureToken, FeatureDeadline, FeatureClock, FeaturePoints}}
}

// dispatch begins an operation, unless one is under way.
func (c *client) dispatch(q Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q.Op == OpArm {
		c.next = append(c.next, q)
		c.server.answer(q, Answer{})
		return
	}
	if c.busy {
		c.server.answer(q, Answer{Error: ErrBadRequest, Text: "the client has not answered its last request yet"})
		return
	}
	c.busy = true
	armed := c.next
	c.next = nil
	c.server.running.Go(func() {
		c.baton.mu.Lock()
		c.op, c.requests, c.armed = q.Op, 0, armed
		a := c.do(q)
		c.baton.mu.Unlock()
		c.mu.Lock()
		c.busy = false
		c.mu.Unlock()
		c.server.answer(q, a)
	})
}

// do is one operation.
func (c *client) do(q Request) Answer {
	ctx := c.server.life
	if q.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(q.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	switch q.Op {
	case history.Acquire:
		lease, err := c.locker.Acquire(ctx, q.Lock)
		if err != nil {
			return failed(err)
		}
		c.leases[q.Lock] = lease
		return c.granted(lease)
	case history.Release:
		lease := c.leases[q.Lock]
		delete(c.leases, q.Lock)
		if lease == nil {
			return failed(locks.ErrNotHeld)
		}
		return failed(lease.Release(ctx))
	case history.Read:
		return c.access(q, DoRead)
	case history.Write:
		return c.access(q, DoWrite)
	case OpClose:
		return failed(c.locker.Close(ctx))
	}
	return Answer{Error: ErrUnsupported, Text: q.Op}
}

// failed is the answer that tells err, which may be nil.
func failed(err error) Answer {
	if err == nil {
		return Answer{}
	}
	return Answer{Error: wordFor(err), Text: err.Error()}
}

// granted tells what the lease says of itself. The time that is left is
// rounded down: a client may believe too short, never too long.
func (c *client) granted(lease locks.Lease) Answer {
	a := Answer{Token: tokenOf(lease)}
	if d, ok := lease.(locks.Deadliner); ok && d.Until() > 0 {
		now := time.Since(c.server.start)
		valid, mono := (d.Until() - now).Milliseconds(), now.Nanoseconds()
		if d.Until() < now {
			valid-- // towards the past, not towards zero
		}
		a.ValidMS, a.MonoNS = &valid, &mono
	}
	return a
}

func tokenOf(lease locks.Lease) Token {
	if f, ok := lease.(locks.Fencer); ok {
		return Token(f.Token())
	}
	return 0
}

// access lets the harness, which keeps the guarded resource, serve a read or
// write. It says itself when that took too long.
func (c *client) access(q Request, do string) (a Answer) {
	c.away(func() {
		r, err := c.server.ask(Answer{ID: q.ID, Do: do, Token: tokenOf(c.leases[q.Lock]), Value: q.Value})
		switch {
		case err != nil:
			a = failed(err)
		case r.Error != "":
			a = Answer{Error: r.Error}
		case do == DoRead:
			a = Answer{Value: r.Value}
		}
	})
	return a
}

// ask sends a Do and waits for its answer.
func (s *server) ask(a Answer) (Request, error) {
	ch := make(chan Request, 1)
	s.mu.Lock()
	s.doing[a.ID] = ch
	s.mu.Unlock()
	s.write(a)
	select {
	case r := <-ch:
		return r, nil
	case <-s.life.Done():
		return Request{}, s.life.Err()
	}
}

// done hands the answer to a Do to whom waits for it.
func (s *server) done(q Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.doing[q.ID]; ch != nil {
		delete(s.doing, q.ID)
		ch <- q
	}
}

// await numbers a point; leave is closed when the client may go on from it.
func (s *server) await() (at int64, leave <-chan struct{}) {
	ch := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at++
	s.points[s.at] = ch
	return s.at, ch
}

func (s *server) leave(at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.points[at]; ch != nil {
		delete(s.points, at)
		close(ch)
	}
}

// answer answers q: with success, unless a tells an error.
func (s *server) answer(q Request, a Answer) {
	ok := a.Error == ""
	a.ID, a.OK = q.ID, &ok
	s.write(a)
}

// write writes one line. If nobody reads any more, in ends as well, and with
// it the worker.
func (s *server) write(a Answer) {
	s.out.Lock()
	defer s.out.Unlock()
	s.encoder.Encode(a)
}
