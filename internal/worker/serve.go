package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// maxLine bounds a line, in bytes, in both directions.
const maxLine = 1 << 20

// server is a worker: its clients and its open requests to the harness.
type server struct {
	life    context.Context
	start   time.Time
	factory Factory
	pool    mysql.Transport // of all clients; nil before the first

	out     sync.Mutex
	encoder *json.Encoder

	mu      sync.Mutex
	clients map[string]*client
	doing   map[question]chan Request // receivers of answers to a Do
	points  map[int64]chan struct{}
	at      int64 // number of the last announced point
	running sync.WaitGroup
}

// client is one client of a worker.
type client struct {
	baton
	server *server
	name   string
	locker locks.Locker
	close  func() error
	clock  *clock
	points bool // its lock's requests have points

	mu      sync.Mutex
	grants  map[string][]*grant // by lock: open grants, the innermost last
	runs    map[int64]*run      // open ones, by ID
	entries map[within]*grant   // open entries of runs
	busy    map[within]bool     // where a request is open
	next    []Request           // points of the next operation
}

// question is a Do: the operation's ID, and of enter the entry.
type question struct{ id, entry int64 }

// Serve is a worker: it reads requests from in and answers on out, until in ends, ctx
// ends, or a line is invalid. It then cancels open operations; locks keep what they
// hold in their stores. It returns nil if in ended.
func Serve(ctx context.Context, in io.Reader, out io.Writer, f Factory) error {
	life, end := context.WithCancel(ctx)
	s := &server{
		life:    life,
		start:   time.Now(),
		factory: f,
		encoder: json.NewEncoder(out),
		clients: map[string]*client{},
		doing:   map[question]chan Request{},
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

// end waits for open operations and closes the clients' connections.
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
		s.deliver(q)
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

// init makes the clients. The answer gets its OK from its Error.
func (s *server) init(q Request) Answer {
	bad := func(err error) Answer {
		if errors.As(err, new(*userlock.Misuse)) {
			return failed(err)
		}
		return Answer{Error: ErrBadRequest, Text: err.Error()}
	}
	if q.Protocol != Protocol {
		return bad(fmt.Errorf("protocol %d is required, and this worker speaks %d", q.Protocol, Protocol))
	}
	if len(s.clients) > 0 {
		return bad(errors.New("init came twice"))
	}
	features := []string{FeatureToken, FeatureDeadline, FeatureClock}
	for _, name := range q.Clients {
		c := &client{
			server: s, name: name, clock: newClock(s.start), grants: map[string][]*grant{},
			runs: map[int64]*run{}, entries: map[within]*grant{}, busy: map[within]bool{},
		}
		var err error
		(&task{client: c, op: &operation{over: true}}).run(func() {
			c.locker, c.close, err = s.factory(Setup{Client: name, Init: q, Host: host{c}, client: c})
		})
		if err != nil {
			return bad(err)
		}
		s.clients[name] = c
		for _, more := range c.features() {
			if !slices.Contains(features, more) {
				features = append(features, more)
			}
		}
	}
	return Answer{Name: "lockcheck", Features: features}
}

// features returns the features that the client's lock adds. A user's lock reads clocks
// of its own.
func (c *client) features() (list []string) {
	l := c.locker
	if _, own := l.(*ownLocker); !own {
		list = []string{FeatureClockSet}
	}
	if c.points {
		list = append(list, FeaturePoints)
	}
	if t, ok := l.(locks.TryLocker); ok && t.CanTry() {
		list = append(list, FeatureTry)
	}
	if _, ok := l.(locks.Runner); ok {
		list = append(list, FeatureRun)
	}
	if _, ok := l.(locks.NameReleaser); ok {
		list = append(list, FeatureReleaseName)
	}
	if _, ok := l.(locks.UnfairLocker); ok {
		list = append(list, FeatureUnfair)
	}
	return list
}

// dispatch begins an operation. It rejects a second one at a time outside of runs, or
// in one entry of a run.
func (c *client) dispatch(q Request) {
	if q.Op == OpClockSet {
		c.server.answer(q, c.setClock(q))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	in := q.within()
	switch {
	case q.Op == OpArm:
		c.server.answer(q, c.arm(q))
		return
	case q.Op == OpAbandon:
		c.server.answer(q, c.abandon(q))
		return
	case in != within{} && c.entries[in] == nil:
		c.server.answer(q, notEntered(q))
		return
	case c.busy[in]:
		c.server.answer(q, Answer{Error: ErrBadRequest, Text: "the client has not answered its last request yet"})
		return
	case q.Op == OpRun:
		c.startRun(q)
		return
	}
	c.busy[in] = true
	name := q.Op
	if name == OpReleaseName {
		name = history.Release // points and the history know it as a release
	}
	op := &operation{name: name, over: true}
	if in == (within{}) {
		op = c.operation(name, q.Lock)
	}
	t := &task{client: c, op: op}
	c.server.running.Go(func() { t.run(func() { c.perform(q, op) }) })
}

// operation returns the next operation, with the points armed for it. The caller holds
// mu.
func (c *client) operation(name, lock string) *operation {
	op := &operation{name: name, lock: lock, armed: c.next}
	c.next = nil
	return op
}

func (q Request) within() within { return within{q.Run, q.Entry} }

// notEntered is the answer to a request within an entry that is not open.
func notEntered(q Request) Answer {
	return Answer{Error: ErrBadRequest, Text: fmt.Sprintf("run %d is not in entry %d", q.Run, q.Entry)}
}

// perform executes an operation and answers it. News about its grant comes after the
// answer, even from a clock that is set at this moment.
func (c *client) perform(q Request, op *operation) {
	lease, a := c.do(q)
	c.mu.Lock()
	defer c.mu.Unlock()
	var g *grant
	if lease != nil {
		g, a = c.granted(q, lease)
	}
	delete(c.busy, q.within())
	c.server.answer(q, a)
	c.complete(op, g)
}

// complete ends an answered operation, and reports the news about its grant. The caller
// holds mu.
func (c *client) complete(op *operation, g *grant) {
	op.over, op.grant = true, g
	for _, n := range op.news {
		c.report(g, n)
	}
}

// do executes one operation. It returns the new lease, or the answer.
func (c *client) do(q Request) (locks.Lease, Answer) {
	ctx := c.server.life
	if asks := q.Op == history.Acquire || q.Op == history.Try; asks && q.TimeoutMS > 0 { // what has begun to end is carried through
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.clock.trueTime(time.Duration(q.TimeoutMS)*time.Millisecond))
		defer cancel()
	}
	switch q.Op {
	case history.Acquire:
		acquire := c.locker.Acquire
		if q.Unfair {
			u, ok := c.locker.(locks.UnfairLocker)
			if !ok {
				break
			}
			acquire = u.AcquireUnfair
		}
		lease, err := acquire(ctx, q.Lock)
		if err != nil {
			return nil, failed(err)
		}
		return lease, Answer{}
	case history.Try:
		if t, ok := c.locker.(locks.TryLocker); ok && t.CanTry() {
			lease, err := t.TryAcquire(ctx, q.Lock)
			if err != nil {
				return nil, failed(err)
			}
			return lease, Answer{}
		}
	case history.Extend:
		return nil, c.extend(ctx, q.Lock)
	case history.Release:
		lease := c.dropInnermost(q.Lock)
		if lease == nil {
			return nil, failed(locks.ErrNotHeld)
		}
		return nil, failed(lease.Release(ctx))
	case OpReleaseName:
		if n, ok := c.locker.(locks.NameReleaser); ok {
			c.dropInnermost(q.Lock)
			return nil, failed(n.ReleaseName(ctx, q.Lock))
		}
	case history.Read:
		return nil, c.access(q, DoRead)
	case history.Write:
		return nil, c.access(q, DoWrite)
	case OpClose:
		return nil, failed(c.locker.Close(ctx))
	}
	return nil, Answer{Error: ErrUnsupported, Text: q.Op}
}

// failed returns the answer for err, a success for nil.
func failed(err error) Answer {
	if err == nil {
		return Answer{}
	}
	return Answer{Error: wordFor(err), Text: err.Error()}
}

// access asks the harness, which keeps the guarded resource, for a read or write. The
// harness itself checks the timeout.
func (c *client) access(q Request, do string) (a Answer) {
	c.away(func() {
		r, err := c.server.ask(Answer{ID: q.ID, Do: do, Token: c.token(q), Value: q.Value})()
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

// ask sends a Do and returns a function that waits for the answer.
func (s *server) ask(a Answer) (answer func() (Request, error)) {
	ch := make(chan Request, 1)
	s.mu.Lock()
	s.doing[question{a.ID, a.Entry}] = ch
	s.mu.Unlock()
	s.write(a)
	return func() (Request, error) {
		select {
		case r := <-ch:
			return r, nil
		case <-s.life.Done():
			return Request{}, s.life.Err()
		}
	}
}

// deliver passes the answer to a Do to its receiver.
func (s *server) deliver(q Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := question{q.ID, q.Entry}
	if ch := s.doing[to]; ch != nil {
		delete(s.doing, to)
		ch <- q
	}
}

// newPoint numbers a point. leave is closed when the client may go on.
func (s *server) newPoint() (at int64, leave <-chan struct{}) {
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

// answer answers q: with success unless a has an Error.
func (s *server) answer(q Request, a Answer) {
	ok := a.Error == ""
	a.ID, a.OK = q.ID, &ok
	s.write(a)
}

// write writes one line. It ignores errors: if the harness no longer reads, in ends,
// too.
func (s *server) write(a Answer) {
	s.out.Lock()
	defer s.out.Unlock()
	s.encoder.Encode(a)
}
