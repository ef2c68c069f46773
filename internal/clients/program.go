package clients

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

// program is one worker: its process, its clients, and their shared links to the
// servers. Most have one client; see catalogue.Lock.Together.
type program struct {
	run      *run
	clients  []*client
	links    []*link // to all servers, in the order of Setup.Servers
	process  *worker.Process
	features []string
	entries  []worker.Entry // that it declares
	clock    time.Duration  // the worker's monotonic clock plus this is the time since run.made; see calibrate
	clocked  bool           // clock is known
	op       *atomic.Int64  // index of the last operation
	dead     atomic.Bool    // killed by a fault
	paused   atomic.Bool
}

// add adds a client.
func (g *program) add(name string) {
	g.clients = append(g.clients, &client{
		program: g, name: name, asked: map[int64]openOperation{}, extends: map[int]bool{}, news: news{grants: map[string][]int{}},
		runs: runs{visits: map[int64]*visit{}, inside: map[int]entrance{}},
	})
}

// names returns the names of its clients. Faults on links and servers know a process by
// the first.
func (g *program) names() (names []string) {
	for _, c := range g.clients {
		names = append(names, c.name)
	}
	return names
}

// each calls f for its clients, up to the first error.
func (g *program) each(f func(*client) error) error {
	for _, c := range g.clients {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// connect makes the links. The requests of several clients cannot be distinguished.
func (g *program) connect(servers []Server) error {
	names := g.names()
	announced := map[string]string{}
	for _, f := range servers {
		l, err := newLink(names[0], f, g.run.disturb, g.op)
		if err != nil {
			return err
		}
		g.links = append(g.links, l)
		if len(names) > 1 {
			f.Drop("requests of %s cannot be distinguished: they share a process", strings.Join(names, " and "))
		}
		for at, s := range g.run.setup.Announced {
			if s == f {
				announced[at] = l.addr()
			}
		}
	}
	a := newAnnounced(announced)
	for _, l := range g.links {
		l.announced.Store(&a)
	}
	return nil
}

// addrs returns the addresses of the servers for the clients, in the order of their links.
func (g *program) addrs() (list []string) {
	for _, l := range g.links {
		list = append(list, l.addr())
	}
	return list
}

// How long a worker may take for an immediate answer, for its start, and for a clean
// end.
const (
	atOnce   = 5 * time.Second
	initTime = 20 * time.Second
	endTime  = 200 * time.Millisecond
)

// launch starts the worker.
func (g *program) launch() (err error) {
	s := g.run.setup
	g.process, err = worker.Start(s.Command, slices.Concat(g.run.workerEnv, s.Env), worker.Handler{
		Do: func(a worker.Answer) {
			if c := g.asker(a.ID); a.Do == worker.DoEnter {
				c.enter(a)
			} else {
				go c.access(a)
			}
		},
		Event: func(a worker.Answer) {
			a.Lock = strings.TrimPrefix(a.Lock, s.Prefix)
			g.client(a.Client).event(a)
		},
		Late:   func(a worker.Answer) { g.asker(a.ID).answeredLate(a) },
		Broken: g.run.breakOff,
	})
	return err
}

// asker returns the client that made the request with that ID.
func (g *program) asker(id int64) *client {
	for _, c := range g.clients[1:] {
		if c.hasRequest(id) {
			return c
		}
	}
	return g.clients[0]
}

// client returns the client with that name. A worker with one client may omit it.
func (g *program) client(name string) *client {
	for _, c := range g.clients[1:] {
		if c.name == name {
			return c
		}
	}
	return g.clients[0]
}

// init initialises the worker with the addresses of its servers, and stores what it can.
func (g *program) init() error {
	cfg, s := g.run.Cfg, g.run.setup
	a, err := g.process.Ask(worker.Request{
		Op: worker.OpInit, Protocol: worker.Protocol,
		Clients: g.names(), Locks: s.names(cfg.Names), TTLMS: cfg.Lease.Milliseconds(),
		Targets: s.Targets(g.addrs()),
		Options: worker.LockOptions(cfg.Lock.ID, cfg.Options),
	}, initTime)
	if err == nil {
		g.features, g.entries = a.Features, a.Entries
		if wrong := worker.CheckEntries(a.Entries, s.Kind); wrong != nil {
			return &env.ProtocolError{Misuse: "the answer to init: " + wrong.Error() + " (docs/worker.md)"}
		}
		if g.can(worker.FeatureClock) {
			err = g.calibrate()
		}
	}
	if err != nil {
		return fmt.Errorf("the worker of %s is not ready: %w%s", strings.Join(g.names(), " and "), err, g.logText())
	}
	return nil
}

func (g *program) can(feature string) bool { return slices.Contains(g.features, feature) }

// calibrate compares clocks. The worker reads its clock after our question, so its
// answer is at least the value at the question. The resulting difference makes a
// deadline early by at most the time of one exchange, and never late. The best of a few
// exchanges counts.
func (g *program) calibrate() error {
	for i := range 5 {
		asked := time.Since(g.run.made)
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

// crashed returns an operation's error for the failure of a worker.
func (g *program) crashed(err error) error {
	switch {
	case !errors.Is(err, worker.ErrExited):
		return err
	case g.dead.Load() || g.run.Ctx.Err() != nil:
		return env.ErrCrashed
	}
	return fmt.Errorf("%w: %s%s", env.ErrCrashed, g.process.Exit(), g.logText())
}

// maxLogText is how many bytes of a worker's log an error shows.
const maxLogText = 4096

// logText returns the end of the worker's log for an error; "": it is empty.
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
	return g.each(func(c *client) error { return c.awaitClocks(true) })
}

func (g *program) kill() error {
	g.dead.Store(true)
	return g.process.Kill()
}

// close ends the worker: cleanly, unless it is stopped. It logs the worker's output if
// something went wrong.
func (g *program) close() error {
	var err error
	if g.process != nil {
		select {
		case <-g.process.Done():
			if !g.dead.Load() {
				g.run.Log.Printf("the worker of %s ended by itself, with %s:\n%s\n", strings.Join(g.names(), " and "), g.process.Exit(), g.process.Log())
			}
		default:
			if g.process.Rubbish() > 0 {
				g.run.Log.Printf("the worker of %s did not keep to the protocol:\n%s\n", strings.Join(g.names(), " and "), g.process.Log())
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
