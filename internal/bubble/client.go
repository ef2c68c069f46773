package bubble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// client is a client whose code runs outside. It is its userlock.Site.
type client struct {
	world   *World
	n       int
	name    string
	started int // how often it has started before
	life    context.Context
	kill    context.CancelFunc
	works   chan func() // to goroutines that wait for work

	resumed  chan struct{} // closed at the end of the next pause; nil: nobody waits
	onResume []func()      // what happens then, in the scheduler's turn

	asked  []string       // the commands of its operation, if the run is watched; of the scheduler
	grants map[int]*lease // not released yet, by their acquires; of the scheduler

	own userlock.Lock // nil: not made yet

	mu        sync.Mutex
	dead      bool
	conns     map[*conn]bool
	dials     map[string]int // so far, by server
	abandoned map[origin]bool
	many      bool     // it has had two connections to a server at the same time
	inside    []string // the functions of the user's code that have not returned
}

func newClient(w *World, n int, name string) *client {
	return &client{world: w, n: n, name: name, grants: map[int]*lease{}, conns: map[*conn]bool{}, dials: map[string]int{}}
}

// begin makes what must belong to the bubble.
func (c *client) begin() {
	c.life, c.kill = context.WithCancel(context.Background())
	c.works = make(chan func())
}

// lock returns the client's lock, which the first call makes. Under faults the factory may
// fail, for example to connect: then the next call makes it.
func (c *client) lock() (userlock.Lock, error) {
	if c.own != nil {
		return c.own, nil
	}
	err := c.guard("the factory", func() error {
		own, err := c.world.make(c)
		if err == nil {
			c.own = own
		}
		return err
	})
	switch {
	case err == nil:
		return c.own, nil
	case len(c.world.cfg.Schedule) == 0:
		return nil, &userlock.Misuse{Words: err.Error()}
	}
	return nil, locks.Definite(err)
}

// standstill returns a channel that is closed when the client goes on, or nil if it does
// not stand still.
func (c *client) standstill() <-chan struct{} {
	if !c.world.Paused(c.name) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resumed == nil {
		c.resumed = make(chan struct{})
	}
	return c.resumed
}

// Resumed implements sim.Outside.
func (w *World) Resumed(name string) {
	for _, c := range w.clients {
		if c.name == name {
			c.goOn()
		}
	}
}

// goOn continues after a pause.
func (c *client) goOn() {
	for _, f := range c.onResume {
		f()
	}
	c.onResume = nil
	c.world.later(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.resumed != nil {
			close(c.resumed)
			c.resumed = nil
		}
	})
}

// whenRunning calls f in the scheduler's turn, at once or at the end of a pause.
func (c *client) whenRunning(f func()) {
	if c.world.Paused(c.name) {
		c.onResume = append(c.onResume, f)
		return
	}
	f()
}

// note notes the end of an operation, if the run is watched.
func (c *client) note(op string, err error) {
	if list := c.world.watched; list != nil {
		*list = append(*list, operation{op, c.asked, err == nil})
	}
}

// guard calls a function of the user's code. It turns a panic into an error.
func (c *client) guard(what string, f func() error) error {
	c.mu.Lock()
	c.inside = append(c.inside, what)
	c.mu.Unlock()
	err := userlock.Guard(what, f)
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.inside, what)
	c.inside = slices.Delete(c.inside, i, i+1)
	return err
}

// connected reports whether the client has ever made a connection.
func (c *client) connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.dials) > 0
}

// checkConnected returns an error if an acquire that ended with err has used no connection of
// its client. Under faults, and after the end of its time, an acquire may fail without one.
func (c *client) checkConnected(what string, err error) error {
	const none = ", and this client has made no connection: the factory has to make one for each client, with its Env"
	switch {
	case c.connected() || errors.As(err, new(*userlock.Misuse)):
		return err
	case err == nil:
		return &userlock.Misuse{Words: what + " succeeded" + none}
	case len(c.world.cfg.Schedule) > 0 || locks.IsDefinite(err) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &userlock.Misuse{Words: what + " failed" + none + ": " + err.Error()}
}

// work runs f in a goroutine. It takes one that has run such a function before, if there
// is one: the stack of that one has grown.
func (c *client) work(f func()) {
	select {
	case c.works <- f:
	default:
		go func() {
			for more := true; more; f, more = <-c.works {
				f()
			}
		}()
	}
}

// die ends the client: its calls fail from now on.
func (c *client) die() {
	c.kill()
	c.mu.Lock()
	c.dead = true
	conns := slices.SortedFunc(maps.Keys(c.conns), func(a, b *conn) int {
		return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.nth, b.nth))
	})
	c.conns = map[*conn]bool{}
	if c.resumed != nil {
		close(c.resumed)
		c.resumed = nil
	}
	c.mu.Unlock()
	for _, x := range conns {
		x.fail(errReset)
	}
}

// close lets the client's code end, at the end of a run.
func (c *client) close() {
	c.kill()
	close(c.works)
	if c.own == nil {
		return
	}
	go func() {
		var err error = errLeft
		defer func() {
			if errors.As(err, new(*userlock.Misuse)) {
				c.world.mistake = cmp.Or(c.world.mistake, fmt.Errorf("%s: %w", c.name, err))
			}
		}()
		err = c.guard("Close", c.own.Close)
	}()
}

// Client implements userlock.Site.
func (c *client) Client() string { return c.name }

// Lease implements userlock.Site.
func (c *client) Lease() time.Duration { return c.world.cfg.Lease }

// Addrs implements userlock.Site.
func (c *client) Addrs() []string {
	if len(c.world.layout.Ensemble) > 0 {
		return c.world.addrsOf(c.world.layout.Ensemble)
	}
	return c.world.addrsOf(c.world.layout.Masters())
}

// Sentinels implements userlock.Site.
func (c *client) Sentinels() []string { return c.world.addrsOf(c.world.layout.Sentinels) }

// Seed implements userlock.Site.
func (c *client) Seed() uint64 { return c.world.seed<<8 | uint64(c.n) | uint64(c.started)<<56 }

// DialContext implements userlock.Site.
func (c *client) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	server := c.world.names[addr]
	if !strings.HasPrefix(network, "tcp") {
		return nil, fmt.Errorf("lockcheck: no network %q: the servers use tcp", network)
	}
	if server == "" {
		return nil, fmt.Errorf("lockcheck: no server listens on %s: the servers are at %v", addr, c.Addrs())
	}
	return c.dial(ctx, server, addr)
}
