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
	"github.com/lockcheck/lockcheck/internal/env"
)

// Load is what one measurement does: Clients want one lock, hold it for Hold,
// give it back, and want it again at once.
type Load struct {
	Lock     catalogue.Lock
	Name     string // what they want: measurements that share a server have names of their own
	Options  catalogue.Options
	Clients  int
	Lease    time.Duration // T
	Hold     time.Duration
	Patience time.Duration // how long an acquire asks before it is called again
	For      time.Duration // how long it is measured, after a tenth of that which is not
	Seed     uint64        // only sim can repeat a measurement
}

// Figures are what a measurement found. All but the first three are what its
// history tells: see Turns.
type Figures struct {
	Lease    time.Duration // T
	For      time.Duration // how long it was measured
	Commands int           // that reached the servers, releases included

	Grants    []int         // of each client
	Overtaken []int         // of each client: grants, while it waited, to others who had asked later
	OutOfTurn int           // grants by which somebody was overtaken
	Longest   time.Duration // that a client waited for one grant
	Waiting   bool          // that wait had not ended when the measurement did: it was at least so long
	Again     int           // grants to the client that had had the one before
	Failed    int           // operations that ended with an error, as a request that had no answer in time
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
	Acquire(op env.Op, timeout time.Duration) (env.Grant, error)
	Release(op env.Op) error
}

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
	commands   int             // sent between the two
	recorder   recorder
	callers    []*caller
}

// measure runs the load. sent counts the commands of all clients. What it
// returns with an error is no measurement.
func measure(ctx context.Context, l Load, p place, sent *atomic.Int64) (*measurement, error) {
	m := &measurement{Load: l, place: p, ctx: ctx, begin: l.For / 10, end: l.For/10 + l.For, recorder: recorder{now: p.Now}}
	p.Go(func() {
		p.Sleep(m.begin)
		before := sent.Load()
		p.Sleep(m.end - p.Now())
		m.commands = int(sent.Load() - before)
	})
	for _, name := range l.names() {
		c := m.recorder.caller(name, p.client(name))
		m.callers = append(m.callers, c)
		p.Go(func() { m.contend(c) })
	}
	return m, errors.Join(p.Run(), ctx.Err())
}

// figures are m's, where measuring has ended without err.
func (m *measurement) figures(err error) (Figures, error) {
	if err != nil {
		return Figures{}, err
	}
	f := Turns(&m.recorder.history, m.names(), m.begin, m.end)
	f.Lease, f.For, f.Commands = m.Lease, m.For, m.commands
	if f.Total() == 0 {
		err = ErrIdle
		for _, c := range m.callers {
			err = errors.Join(err, c.err)
		}
	}
	return f, err
}

// contend is what one client does, up to the end, or its own.
func (m *measurement) contend(c *caller) {
	for {
		left := m.end - m.place.Now()
		if left <= 0 || m.ctx.Err() != nil || errors.Is(c.err, env.ErrBudget) {
			return
		}
		op, ok := c.acquire(m.Name, min(left, m.Patience))
		if !ok {
			continue
		}
		m.place.Sleep(m.Hold)
		c.release(op)
	}
}
