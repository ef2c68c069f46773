// Package bubble is an environment in virtual time for Go code that is not ours: a
// user's lock and its client libraries, unchanged, in a bubble of testing/synctest.
// Servers, network and faults are those of package sim. Connections are in memory, and
// speak the protocols of the servers.
package bubble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// World is a run: a simulated world, and the code outside of it.
type World struct {
	*sim.World
	t        *testing.T
	cfg      env.Config
	observer env.Observer
	seed     uint64
	make     userlock.Maker
	lua      *wire.Lua // of all Redis servers, in all runs
	start    time.Time // of the run, in the bubble

	clients   []*client // that live, or have died last
	earlier   []*client // that died, and have started again
	fronts    map[string]sim.Front
	layout    catalogue.Layout
	sentinels map[string]*sentinel
	names     map[string]string // of servers, by address
	addrs     map[string]string // by name of the server

	due   []func() // decisions of the scheduler, for the code outside
	mu    sync.Mutex
	asks  []ask       // what the code outside wants
	timer *time.Timer // ends the scheduler's wait
	waits bool        // the scheduler does
	wants []func()    // the result of take; its memory serves all instants

	strays  *strays      // of all runs
	watched *operations  // of the run, for Learn; else nil
	unseen  bool         // a grant has no entry that is known, or an entry no operation: what the servers show says nothing
	mistake error        // of the user's code, at the end of the run
	beats   atomic.Int64 // how often the scheduler has waited
	moved   atomic.Int64 // the time of the last of them, for watch
}

// ask is a wish of the code outside. Those of one instant are done in the order of their
// keys: the order of goroutines is chance.
type ask struct {
	client int
	conn   string // "": not of a connection
	nth    int    // connection between the two
	do     func()
}

// Simulator returns what makes worlds for a lock, as parts of test t.
func Simulator(t *testing.T, make userlock.Maker) env.Simulator {
	seen := new(strays)
	return func() env.Simulation {
		return &World{World: new(sim.World), t: t, make: make, lua: new(wire.Lua), strays: seen}
	}
}

// Lock returns the entry of the catalogue for a user's lock.
func Lock(name string, store catalogue.Store, nodes, replicas int) *catalogue.Lock {
	return &catalogue.Lock{
		ID: name, Does: name, Store: store, Nodes: nodes, Replicas: replicas,
		Steps: catalogue.Requests{Acquire: 1, Release: 1},
		Own:   true,
		New:   newLocker,
	}
}

// Reset prepares a run.
func (w *World) Reset(cfg env.Config, o env.Observer, d env.Decisions) {
	*w = World{
		t: w.t, make: w.make, lua: w.lua, strays: w.strays, watched: w.watched, cfg: cfg, observer: o, seed: d.Seed,
		fronts: map[string]sim.Front{}, addrs: map[string]string{}, names: map[string]string{}, sentinels: map[string]*sentinel{},
	}
	w.listen()
	w.World = sim.New(cfg, o, d)
	w.World.Join(w)
	for i, name := range cfg.Clients {
		w.clients = append(w.clients, newClient(w, i, name))
		w.World.Locker(name).(*locker).client = w.clients[i]
	}
}

// Run implements env.Environment.
func (w *World) Run() (err error) {
	stop := w.watch()
	defer stop()
	defer w.forget()
	// With one processor, goroutines that are ready at the same instant run in an order.
	// And client libraries make as many connections as there are processors.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer func() {
		if p := recover(); p != nil && err == nil {
			err = fmt.Errorf("%s (%v)\n\n%s", w.remains(), p, leaked())
		}
	}()
	defer noLookups()()
	before := lookOutside()
	synctest.Test(w.t, func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, w.seed)
		seed(int64(w.seed))
		time.Sleep(time.Until(sim.Epoch())) // the servers' wall clocks show that time, too
		w.start, w.timer = time.Now(), time.NewTimer(longest)
		for _, c := range w.clients {
			c.begin()
		}
		err = cmp.Or(w.World.Run(), w.strays.check(before, lookOutside()))
		w.end()
	})
	return cmp.Or(err, w.mistake)
}

// remains says what goes on after the run.
func (w *World) remains() string {
	for _, c := range slices.Concat(w.earlier, w.clients) {
		if len(c.inside) > 0 {
			return fmt.Sprintf("%s: %s has not returned by the end of the run", c.name, c.inside[0])
		}
	}
	return "goroutines of the lock or of its client library go on after the run: its Close has to end them"
}

// forget empties every sync.Pool after a run that may have left a timer in one: the
// runtime ends the process when another bubble uses that timer. Client libraries keep
// timers there for those who wait for a free connection, as go-redis v9.23 does. So they
// come from runs with several connections. It takes two collections, and 1 ms.
func (w *World) forget() {
	if slices.ContainsFunc(slices.Concat(w.earlier, w.clients), func(c *client) bool { return c.many }) {
		runtime.GC()
		runtime.GC()
	}
}

// end ends the code outside. It has some time for that.
func (w *World) end() {
	all := slices.Concat(w.earlier, w.clients)
	for _, c := range all {
		w.later(c.close)
	}
	w.linger()
	for _, c := range all {
		w.later(c.die)
	}
	w.linger()
}

// linger does what is due, and waits for a minute.
func (w *World) linger() {
	for range 6 { // each step shows watch that time moves
		w.Wait(0)
		time.Sleep(10 * time.Second)
	}
}

// now returns the time since the start of the run.
func (w *World) now() time.Duration { return time.Since(w.start) }

// later makes f happen when the scheduler waits.
func (w *World) later(f func()) { w.due = append(w.due, f) }

// Wait implements sim.Outside.
func (w *World) Wait(until time.Duration) (time.Duration, []func()) {
	w.beats.Add(1)
	for i := 0; i < len(w.due); i++ {
		w.due[i]()
		synctest.Wait()
	}
	w.due = w.due[:0]
	wants := w.take()
	now := w.now()
	w.moved.Store(int64(now))
	if len(wants) > 0 || until <= now {
		return now, wants
	}
	w.sleep(min(until-now, longest))
	synctest.Wait()
	return w.now(), w.take()
}

// sleep waits for so long, or until the code outside wants something. A want resets the
// timer: one channel takes the runtime less time than a select of two.
func (w *World) sleep(d time.Duration) {
	w.mu.Lock()
	if w.waits = len(w.asks) == 0; !w.waits {
		d = 0
	}
	w.timer.Reset(d)
	w.mu.Unlock()
	<-w.timer.C
}

// longest is how long nothing may happen in a run.
const longest = time.Hour

// want asks the scheduler to do something.
func (w *World) want(a ask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asks = append(w.asks, a)
	if w.waits {
		w.waits = false
		w.timer.Reset(0)
	}
}

// take returns what the code outside wants, up to the next call.
func (w *World) take() []func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = false
	w.wants = w.wants[:0]
	slices.SortStableFunc(w.asks, func(a, b ask) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.conn, b.conn), cmp.Compare(a.nth, b.nth))
	})
	for _, a := range w.asks {
		w.wants = append(w.wants, a.do)
	}
	w.asks = w.asks[:0]
	return w.wants
}

// Observes implements env.Environment. A lock whose entries are unknown cannot be judged by
// what the servers show.
func (w *World) Observes() []string {
	if w.unseen {
		return nil
	}
	return w.World.Observes()
}

// Died implements sim.Outside.
func (w *World) Died(name string) {
	for _, c := range w.clients {
		if c.name == name {
			w.later(c.die)
		}
	}
}

// Restart implements env.Restarter.
func (w *World) Restart(name string) error {
	for i, c := range w.clients {
		if c.name == name {
			next := newClient(w, c.n, name)
			next.started = c.started + 1
			next.begin()
			w.earlier, w.clients[i] = append(w.earlier, c), next
			w.Revive(name, &locker{host: w.World.Locker(name).(*locker).host, client: next})
		}
	}
	return nil
}

// newLocker makes the locker of a client; Reset gives it the client.
func newLocker(e catalogue.Env) locks.Locker {
	h, _ := e.Host.(host)
	return &locker{host: h}
}

// host is the host of a client in package sim.
type host interface {
	locks.Host
	Beside(until time.Duration, begin func(*sim.Waker)) bool
	EntriesEnd(acquire int) time.Duration
	Entered(acquire int) bool
	Op() env.Op
}

// locker is a locks.Locker: a task waits in it while the user's code runs in a
// goroutine.
type locker struct {
	host   host
	client *client
	left   bool // its goroutine has ended in the user's code
	stuck  bool // an acquire never returned: the client does nothing any more
}

// Acquire implements locks.Locker.
func (l *locker) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.ask(ctx, name, "Acquire", userlock.Lock.Acquire)
}

// CanTry implements locks.TryLocker. Nothing is known before the lock is made.
func (l *locker) CanTry() bool { return l.client.own != nil && l.client.own.CanTry() }

// TryAcquire implements locks.TryLocker.
func (l *locker) TryAcquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.ask(ctx, name, "Try", userlock.Lock.Try)
}

func (l *locker) ask(ctx context.Context, name, what string, do func(userlock.Lock, context.Context, string) (userlock.Grant, error)) (locks.Lease, error) {
	if l.stuck {
		return nil, env.ErrTimeout
	}
	left, ok := l.host.Left(ctx)
	if !ok {
		left = longest
	}
	acquire := l.host.Op().Index
	l.client.asked = nil
	var grant userlock.Grant
	var err error
	var from origin
	if !l.run(left, func(ctx context.Context) {
		from = newOrigin()
		var own userlock.Lock
		if own, err = l.client.lock(); err == nil {
			err = l.client.guard(what, func() (err error) {
				grant, err = do(own, ctx, name)
				return err
			})
		}
	}) {
		l.stuck = true
		return nil, env.ErrTimeout
	}
	err = l.client.checkConnected(what, err)
	l.client.note(history.Acquire, err)
	if err = l.check(err); err != nil {
		if !locks.IsDefinite(err) {
			l.client.abandon(from)
		}
		return nil, err
	}
	w := l.client.world
	w.unseen = w.unseen || w.cfg.Lock.Store == catalogue.StoreRedis && !l.host.Entered(acquire)
	x := &lease{locker: l, name: name, acquire: acquire, Grant: grant, released: make(chan struct{})}
	l.client.grants[acquire] = x
	x.watch()
	if grant.Token() > 0 {
		return fencedLease{x}, nil
	}
	return x, nil
}

// Close implements locks.Locker.
func (l *locker) Close(context.Context) error { return nil }

// errLeft is the error of user's code that does not return to its caller.
var errLeft = &userlock.Misuse{Words: "the lock has ended the goroutine that called it (runtime.Goexit, t.FailNow)"}

// check ends the run if err is a mistake in the user's code. The error that it returns has
// lines in order.
func (l *locker) check(err error) error {
	if l.left {
		err = errLeft
	}
	if m, ok := errors.AsType[*userlock.Misuse](err); ok {
		l.client.world.Abort(fmt.Errorf("%s: %w", l.client.name, m))
	} else if err != nil && strings.Contains(err.Error(), "\n") {
		err = &orderedError{err}
	}
	return err
}

// orderedError is an error whose lines are in order, after one that ends with a colon.
// Libraries that ask several servers join their errors in the order in which they come.
// Chance decides it if they come at one instant: a context ends those made from it in the
// order of a map's keys.
type orderedError struct{ error }

func (e *orderedError) Error() string {
	lines := strings.Split(strings.TrimRight(e.error.Error(), "\n"), "\n")
	if strings.HasSuffix(lines[0], ":") {
		slices.Sort(lines[1:])
	} else {
		slices.Sort(lines)
	}
	return strings.Join(lines, "\n")
}

func (e *orderedError) Unwrap() error { return e.error }

// run lets f run outside, and returns true when it has ended. Its context ends after
// limit. It returns false if f goes on long after that.
func (l *locker) run(limit time.Duration, f func(context.Context)) bool {
	w := l.client.world
	until := w.Now() + limit + userlock.Patience*w.cfg.Lease
	return l.host.Beside(until, func(x *sim.Waker) {
		w.later(func() {
			l.client.work(func() {
				ctx, cancel := context.WithTimeout(l.client.life, limit)
				defer cancel()
				returned := false
				defer func() {
					l.left = !returned
					w.want(ask{client: l.client.n, do: x.Wake})
				}()
				f(ctx)
				returned = true
			})
		})
	})
}

// lease is a grant of a user's lock.
type lease struct {
	userlock.Grant
	locker  *locker
	name    string // of the lock
	acquire int

	extending bool          // its client extends it, and will report that itself
	released  chan struct{} // closed when its release begins
	once      sync.Once
}

// watch reports the loss of the grant when the user's code learns of it.
func (x *lease) watch() {
	lost := x.Lost()
	if lost == nil {
		return
	}
	c := x.locker.client
	c.world.later(func() {
		go func() {
			select {
			case <-lost:
			case <-x.released:
				return
			case <-c.life.Done():
				return
			}
			c.world.want(ask{client: c.n, do: func() { c.whenRunning(func() { x.report(history.Lost, 0) }) }})
		}()
	})
}

// report reports news of the grant.
func (x *lease) report(f string, until time.Duration) {
	c := x.locker.client
	c.world.observer.Report(history.Entry{Client: c.name, F: f, Lock: x.name, Op: history.Some(int64(x.acquire)), ValidUntil: until})
}

// reportProlonged reports that an answer has told of a later end, unless the user's code
// says itself when its grant ends.
func (x *lease) reportProlonged() {
	if until := x.Until(); !x.extending && x.Grant.Until().IsZero() && until != 0 {
		x.report(history.Valid, until)
	}
}

// Until implements locks.Deadliner: what the user's code says, else what its entries in
// the stores say.
func (x *lease) Until() time.Duration {
	if t := x.Grant.Until(); !t.IsZero() {
		return t.Sub(x.locker.client.world.start)
	}
	return x.locker.host.EntriesEnd(x.acquire)
}

// Extend implements locks.Extender.
func (x *lease) Extend(context.Context) error {
	x.extending = true
	defer func() { x.extending = false }()
	return x.call("Extend", x.Grant.Extend)
}

// Release implements locks.Lease.
func (x *lease) Release(context.Context) error {
	x.once.Do(func() { close(x.released) })
	delete(x.locker.client.grants, x.acquire)
	x.locker.client.asked = nil
	err := x.call("Release", x.Grant.Release)
	x.locker.client.note(history.Release, err)
	return err
}

// call calls a function of the grant. It has to return.
func (x *lease) call(what string, f func(context.Context) error) (err error) {
	l := x.locker
	if !l.run(2*l.client.world.cfg.Lease, func(ctx context.Context) {
		err = l.client.guard(what, func() error { return f(ctx) })
	}) {
		err = &userlock.Misuse{Words: fmt.Sprintf("%s has not returned, %v after its context ended", what, userlock.Patience*l.client.world.cfg.Lease)}
	}
	return l.check(err)
}

// fencedLease is a lease with a token.
type fencedLease struct{ *lease }

// Token implements locks.Fencer.
func (x fencedLease) Token() uint64 { return x.Grant.Token() }
