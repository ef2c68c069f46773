// Package bench measures the cost of a lock, while other packages judge its
// correctness. Many clients want one lock all the time, and the package counts and
// times them. The same clients run in virtual time and against a real server.
package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

// Load describes one measurement: Clients want one lock, hold it for Hold, release it,
// and want it again at once.
type Load struct {
	Lock     catalogue.Lock
	Name     string // name of the lock: measurements that share a server have different names
	Options  catalogue.Options
	Clients  int
	Lease    time.Duration // T
	Hold     time.Duration
	Patience time.Duration // timeout of an acquire, after which the client tries again
	For      time.Duration // measured time; it starts after a tenth of it
	Seed     uint64        // only sim can repeat a measurement
}

// Figures are the results of a measurement. All but the first three come from its
// history: see Turns.
type Figures struct {
	Lease    time.Duration // T
	For      time.Duration // measured time
	Commands int           // requests that reached the servers, releases included

	Grants    []int         // of each client
	Overtaken []int         // of each client: grants to others during its wait that had asked later
	OutOfTurn int           // grants that overtook a waiter
	Longest   time.Duration // longest wait of a client for one grant
	Waiting   bool          // the longest wait had not ended with the measurement, so it is a lower bound
	Again     int           // grants to the client of the previous grant
	Failed    int           // operations that ended with an error, for example a request without an answer in time
}

// ErrIdle is the error of a measurement without a grant, which has no figures.
var ErrIdle = errors.New("no client was granted the lock during the measurement")

// Total returns the number of grants.
func (f *Figures) Total() (n int) {
	for _, g := range f.Grants {
		n += g
	}
	return n
}

// CommandsEach returns the number of commands for each acquisition.
func (f *Figures) CommandsEach() float64 { return float64(f.Commands) / float64(f.Total()) }

// PerSecond returns the number of acquisitions in a second.
func (f *Figures) PerSecond() float64 { return float64(f.Total()) / f.For.Seconds() }

// Evenness returns how evenly the grants were spread over the clients: 1 if each got as
// many, 1/clients if one got all. It is the index of Jain, Chiu and Hawe, A
// Quantitative Measure of Fairness (DEC-TR-301, 1984).
func (f *Figures) Evenness() float64 {
	var squares float64
	for _, g := range f.Grants {
		squares += float64(g) * float64(g)
	}
	total := float64(f.Total())
	return total * total / (float64(len(f.Grants)) * squares)
}

// place is an environment for measurements.
type place interface {
	Go(task func())
	Run() error
	Now() time.Duration
	Sleep(d time.Duration)
	client(name string) client
}

// client is one client in an environment.
type client interface {
	Acquire(op env.Op, timeout time.Duration) (env.Grant, error)
	Release(op env.Op) error
}

// clientNames returns the names of n clients.
func clientNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("c%d", i+1))
	}
	return names
}

// measurement is one load in one environment.
type measurement struct {
	Load
	place      place
	ctx        context.Context // ends it early
	begin, end time.Duration   // measured time
	commands   int             // sent in the measured time
	recorder   recorder
	callers    []*caller
}

// measure runs the load. sent counts the commands of all clients. If it returns an
// error, the measurement is not valid.
func measure(ctx context.Context, l Load, p place, sent *atomic.Int64) (*measurement, error) {
	m := &measurement{Load: l, place: p, ctx: ctx, begin: l.For / 10, end: l.For/10 + l.For, recorder: recorder{now: p.Now}}
	p.Go(func() {
		p.Sleep(m.begin)
		before := sent.Load()
		p.Sleep(m.end - p.Now())
		m.commands = int(sent.Load() - before)
	})
	for _, name := range clientNames(l.Clients) {
		c := m.recorder.caller(name, p.client(name))
		m.callers = append(m.callers, c)
		p.Go(func() { m.contend(c) })
	}
	return m, errors.Join(p.Run(), ctx.Err())
}

// figures returns m's figures. err is the error that measuring ended with, or nil.
func (m *measurement) figures(err error) (Figures, error) {
	if err != nil {
		return Figures{}, err
	}
	f := Turns(&m.recorder.history, clientNames(m.Clients), m.begin, m.end)
	f.Lease, f.For, f.Commands = m.Lease, m.For, m.commands
	if f.Total() == 0 {
		err = ErrIdle
		for _, c := range m.callers {
			err = errors.Join(err, c.err)
		}
	}
	return f, err
}

// contend runs one client until the end of the measurement, or until its own end.
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
