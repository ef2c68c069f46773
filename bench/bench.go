// Package bench measures what a lock costs, where other packages judge whether
// it holds: many clients want one lock all the time, and are counted and timed.
// The same clients run in virtual time and against a real server.
package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// Load is what one measurement does: Clients want one lock, hold it for Hold,
// give it back, and want it again at once.
type Load struct {
	Lock    catalogue.Lock // one that starts no tasks of its own
	Options catalogue.Options
	Clients int
	Lease   time.Duration // T
	Hold    time.Duration
	For     time.Duration // how long it is measured, after a tenth of that which is not
	Seed    uint64        // only sim can repeat a measurement
}

// Figures are what a measurement found.
type Figures struct {
	Grants   []int         // of each client
	Commands int           // that reached the servers, releases included
	For      time.Duration // how long it was measured
	Longest  time.Duration // that a client waited for one grant
	Waiting  bool          // that wait had not ended when the measurement did: it was at least so long
	Again    int           // grants to the client that had had the one before
	Failed   int           // operations that ended with an error, as a request that had no answer in time
}

// ErrIdle is a measurement in which nobody was granted the lock: there is
// nothing to divide by.
var ErrIdle = errors.New("nobody was granted the lock while it was measured")

// Total is how many grants there were.
func (f *Figures) Total() (n int) {
	for _, g := range f.Grants {
		n += g
	}
	return n
}

// CommandsEach is how many commands were sent for each acquisition.
func (f *Figures) CommandsEach() float64 { return float64(f.Commands) / float64(f.Total()) }

// PerSecond is how many acquisitions there were in a second.
func (f *Figures) PerSecond() float64 { return float64(f.Total()) / f.For.Seconds() }

// Evenness says how evenly grants were spread over the clients: 1 where each
// got as many, 1/clients where one got all. It is the index of Jain, Chiu and
// Hawe, A Quantitative Measure of Fairness (DEC-TR-301, 1984).
func (f *Figures) Evenness() float64 {
	var squares float64
	for _, g := range f.Grants {
		squares += float64(g) * float64(g)
	}
	total := float64(f.Total())
	return total * total / (float64(len(f.Grants)) * squares)
}

// place is where a measurement happens.
type place interface {
	Go(task func())
	Run() error
	Now() time.Duration
	Sleep(d time.Duration)
	client(name string) client
}

// client is one client's end there.
type client interface {
	Acquire(op cluster.Op, timeout time.Duration) (cluster.Grant, error)
	Release(op cluster.Op) error
}

// lockName is the lock that the clients want.
const lockName = "contention"

// names are the clients'.
func (l *Load) names() (names []string) {
	for i := range l.Clients {
		names = append(names, fmt.Sprintf("c%d", i+1))
	}
	return names
}

// measurement is one load in one place.
type measurement struct {
	Load
	place      place
	ctx        context.Context // ends it early
	begin, end time.Duration   // of what counts
	ops        atomic.Int64    // so far
	last       atomic.Int64    // whose grant the last one was, from 1
	sent       *atomic.Int64   // commands, ever
	clients    []tally
}

// tally is what is known of one client, written by its own task alone.
type tally struct {
	n       int64 // from 1
	grants  int
	again   int
	longest time.Duration
	waiting bool
	failed  int
	err     error // the last one
}

// measure runs the load. sent counts the commands of all clients.
func measure(ctx context.Context, l Load, p place, sent *atomic.Int64) (Figures, error) {
	m := &measurement{Load: l, place: p, ctx: ctx, begin: l.For / 10, end: l.For/10 + l.For, sent: sent, clients: make([]tally, l.Clients)}
	var before, after int64
	p.Go(func() {
		p.Sleep(m.begin)
		before = sent.Load()
		p.Sleep(m.end - p.Now())
		after = sent.Load()
	})
	for i, name := range l.names() {
		m.clients[i].n = int64(i) + 1
		p.Go(func() { m.contend(p.client(name), &m.clients[i]) })
	}
	if err := errors.Join(p.Run(), ctx.Err()); err != nil {
		return Figures{}, err
	}
	f := Figures{Commands: int(after - before), For: l.For}
	var err error
	for _, t := range m.clients {
		f.Grants = append(f.Grants, t.grants)
		f.Failed += t.failed
		f.Again += t.again
		if t.longest > f.Longest {
			f.Longest, f.Waiting = t.longest, t.waiting
		}
		err = errors.Join(err, t.err)
	}
	if f.Total() == 0 {
		return f, errors.Join(ErrIdle, err)
	}
	return f, nil
}

// contend is what one client does, up to the end.
func (m *measurement) contend(c client, t *tally) {
	for {
		op, ok := m.acquire(c, t)
		if !ok {
			return
		}
		m.place.Sleep(m.Hold)
		op.Acquire = op.Index
		op.Index = int(m.ops.Add(1))
		t.note(c.Release(op))
	}
}

// patience is how long an acquire asks before it is called again. In sim one
// operation may send 3,000 requests, and sends some 200 a second if it spins.
const patience = 10 * time.Second

// acquire waits until the lock is granted, or it is over.
func (m *measurement) acquire(c client, t *tally) (op cluster.Op, ok bool) {
	asked := m.place.Now()
	for {
		left := m.end - m.place.Now()
		if left <= 0 || m.ctx.Err() != nil {
			t.waited(m.end-asked, true)
			return op, false
		}
		op = cluster.Op{Index: int(m.ops.Add(1)), Lock: lockName}
		_, err := c.Acquire(op, min(left, m.Lease, patience))
		now := m.place.Now()
		if err == nil {
			again := m.last.Swap(t.n) == t.n
			if now >= m.begin && now < m.end {
				t.granted(now-asked, again)
			}
			return op, true
		}
		if !waitEnded(err) {
			t.note(err)
		}
	}
}

// waitEnded tells whether an acquire ended because it was to ask no longer.
func waitEnded(err error) bool {
	return errors.Is(err, locks.ErrNotAcquired) || locks.IsDefinite(err) && errors.Is(err, context.DeadlineExceeded)
}

func (t *tally) granted(after time.Duration, again bool) {
	t.grants++
	if again {
		t.again++
	}
	t.waited(after, false)
}

func (t *tally) waited(d time.Duration, waiting bool) {
	if d > t.longest {
		t.longest, t.waiting = d, waiting
	}
}

func (t *tally) note(err error) {
	if err != nil {
		t.failed++
		t.err = err
	}
}

// counting makes lock one whose commands are counted.
func counting(lock catalogue.Lock, sent *atomic.Int64) catalogue.Lock {
	made := lock.New
	lock.New = func(e catalogue.Env) locks.Locker {
		ports := make([]redis.Port, len(e.Redis))
		for i, p := range e.Redis {
			ports[i].Transport = counter{p.Transport, sent}
		}
		e.Redis = ports
		if e.Tokens.Transport != nil {
			e.Tokens.Transport = counter{e.Tokens.Transport, sent}
		}
		return made(e)
	}
	return lock
}

// counter counts what is sent. It waits for the answer to what was sent,
// whatever the caller's context does meanwhile, as redis.Transport demands.
type counter struct {
	redis.Transport
	sent *atomic.Int64
}

func (c counter) Do(ctx context.Context, timeout time.Duration, cmd redis.Command) (redis.Reply, error) {
	if err := ctx.Err(); err != nil {
		return redis.Reply{}, locks.Definite(err)
	}
	c.sent.Add(1)
	return c.Transport.Do(context.WithoutCancel(ctx), timeout, cmd)
}
