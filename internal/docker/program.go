package docker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// program is one worker: its process, the clients in it, and its links to the
// servers, which these share. Most carry one client; see catalogue.Lock.Together.
type program struct {
	place    *Place
	clients  []*client
	links    []*link // to all servers, in the order of Place.fars
	process  *worker.Process
	features []string
	clock    time.Duration // what to add to the worker's monotonic clock for time since Place.made; see calibrate
	clocked  bool          // clock is known
	op       atomic.Int64  // index of the operation that began last
	dead     atomic.Bool   // killed by a fault
	paused   atomic.Bool
}

// names are those of its clients. A fault on the link of one of them, or what a
// server knows of it, goes by the first.
func (g *program) names() (names []string) {
	for _, c := range g.clients {
		names = append(names, c.name)
	}
	return names
}

// each calls f for its clients, up to an error.
func (g *program) each(f func(*client) error) error {
	for _, c := range g.clients {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// connect makes its links. Of requests of several clients nobody can tell from
// outside whose they are.
func (g *program) connect() error {
	names := g.names()
	for _, f := range g.place.fars() {
		l, err := newLink(names[0], f, g.place.disturb, &g.op)
		if err != nil {
			return err
		}
		g.links = append(g.links, l)
		if len(names) > 1 {
			f.drop("cannot tell which of %s sends a request: they share a process", strings.Join(names, " and "))
		}
	}
	return nil
}

// How long a worker may take for what it answers at once, to begin with, and
// to end in good order.
const (
	atOnce   = 5 * time.Second
	initTime = 20 * time.Second
	endTime  = 200 * time.Millisecond
)

// launch starts the worker.
func (g *program) launch(command []string, self owner) (err error) {
	g.process, err = worker.Start(command, []string{OwnerEnv + "=" + self.String()}, worker.Handler{
		Do: func(a worker.Answer) {
			if c := g.asker(a.ID); a.Do == worker.DoEnter {
				c.enter(a)
			} else {
				go c.access(a)
			}
		},
		Event: func(a worker.Answer) { g.called(a.Client).event(a) },
		Late:  func(a worker.Answer) { g.asker(a.ID).answeredLate(a) },
		Broken: func(err error) {
			g.place.misspoke.CompareAndSwap(nil, &err)
			g.place.cancel()
		},
	})
	return err
}

// asker is the client whose request has that ID.
func (g *program) asker(id int64) *client {
	for _, c := range g.clients[1:] {
		if c.asks(id) {
			return c
		}
	}
	return g.clients[0]
}

// called is the client of that name. A worker of one client need not say it.
func (g *program) called(name string) *client {
	for _, c := range g.clients[1:] {
		if c.name == name {
			return c
		}
	}
	return g.clients[0]
}

// init makes the worker ready, and learns what it can do.
func (g *program) init() error {
	cfg := g.place.cfg
	a, err := g.process.Ask(worker.Request{
		Op: worker.OpInit, Protocol: worker.Protocol,
		Clients: g.names(), Locks: cfg.Names, TTLMS: cfg.Lease.Milliseconds(),
		Targets: g.targets(),
		Options: worker.LockOptions(cfg.Lock.ID, cfg.Options),
	}, initTime)
	if err == nil {
		g.features = a.Features
		if g.can(worker.FeatureClock) {
			err = g.calibrate()
		}
	}
	if err != nil {
		return fmt.Errorf("the worker of %s is not ready: %w%s", strings.Join(g.names(), " and "), err, g.logText())
	}
	return nil
}

// targets are where the worker finds the servers. Where Sentinels name the
// masters, by addresses that only servers reach, each server is written
// LINK=ANNOUNCED.
func (g *program) targets() map[string][]string {
	t := map[string][]string{}
	for _, l := range g.links {
		kind, at := worker.TargetZooKeeper, l.addr()
		if l.far == far(g.place.mysql) {
			kind = worker.TargetMySQL
		} else if s, ok := l.far.(*server); ok {
			switch kind = worker.TargetRedis; {
			case s == g.place.tokens:
				kind = worker.TargetTokens
			case slices.Contains(g.place.sentinels, s):
				kind = worker.TargetSentinels
			}
			if len(g.place.sentinels) > 0 && kind != worker.TargetTokens {
				at += "=" + s.peer + ":" + port
			}
		}
		t[kind] = append(t[kind], at)
	}
	if len(g.place.sentinels) > 0 {
		t[worker.TargetMasters] = g.place.layout.Masters()
	}
	return t
}

func (g *program) can(feature string) bool { return slices.Contains(g.features, feature) }

// calibrate compares clocks. The worker reads its clock between our question
// and its answer, so it shows at least what it would if it had read it when we
// asked: the difference that this gives puts a deadline early by at most the
// time of one exchange, and never late. Of a few exchanges the best counts.
func (g *program) calibrate() error {
	for i := range 5 {
		asked := time.Since(g.place.made)
		a, err := g.process.Ask(worker.Request{Op: worker.OpClock}, atOnce)
		if err != nil {
			return err
		}
		if a.MonoNS == nil {
			return errors.New("an answer to clock without mono_ns")
		}
		if by := asked - time.Duration(*a.MonoNS); i == 0 || by > g.clock {
			g.clock, g.clocked = by, true
		}
	}
	return nil
}

// crashed turns a worker's misconduct into an operation's error.
func (g *program) crashed(err error) error {
	switch {
	case !errors.Is(err, worker.ErrExited):
		return err
	case g.dead.Load() || g.place.ctx.Err() != nil:
		return env.ErrCrashed
	}
	return fmt.Errorf("%w: %s%s", env.ErrCrashed, g.process.Exit(), g.logText())
}

// maxLogText is how much of a worker's log an error shows, in bytes.
const maxLogText = 4096

// logText is the end of the worker's log, for an error; "": it is empty.
func (g *program) logText() string {
	log := g.process.Log()
	if log == "" {
		return ""
	}
	if len(log) > maxLogText {
		log = "…" + strings.ToValidUTF8(log[len(log)-maxLogText:], "")
	}
	return "\nthe worker's log ends with:\n" + log
}

// pause stops the worker's processes.
func (g *program) pause() error {
	g.paused.Store(true)
	return g.process.Stop()
}

func (g *program) resume() error {
	defer g.paused.Store(false)
	if err := g.process.Continue(); err != nil {
		return err
	}
	return g.each(func(c *client) error { return c.clocksAre(true) })
}

func (g *program) kill() error {
	g.dead.Store(true)
	return g.process.Kill()
}

// close ends the worker: in good order, unless it is stopped. A log that says
// why something went wrong is shown.
func (g *program) close() error {
	var err error
	if g.process != nil {
		select {
		case <-g.process.Done():
			if !g.dead.Load() {
				g.place.log.printf("the worker of %s ended by itself, with %s:\n%s", strings.Join(g.names(), " and "), g.process.Exit(), g.process.Log())
			}
		default:
			if g.process.Rubbish() > 0 {
				g.place.log.printf("the worker of %s did not keep to the protocol:\n%s", strings.Join(g.names(), " and "), g.process.Log())
			}
		}
		grace := endTime
		if g.paused.Load() {
			grace = 0
		}
		err = g.process.Close(grace)
	}
	for _, c := range g.clients {
		c.runs.tasks.Wait()
	}
	for _, l := range g.links {
		l.close()
	}
	return err
}
