package docker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/cluster/worker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

// client is one client: its worker, and its links to the servers.
type client struct {
	place    *Place
	name     string
	links    []*link // to all servers, in the order of Place.fars
	process  *worker.Process
	features []string
	clock    time.Duration // what to add to the worker's monotonic clock for time since Place.made; see calibrate
	clocked  bool          // clock is known
	op       atomic.Int64  // index of the operation that it is in, or was in last
	dead     atomic.Bool   // killed by a fault
	paused   atomic.Bool
	hung     atomic.Bool // its caller waits; see stands
	clocks   clocks

	mu      sync.Mutex
	current running           // the one that began last, outside of runs
	asked   map[int64]running // by request: what was not answered
	news    news
	runs    runs
}

// running is an operation that a client is in.
type running struct {
	op    cluster.Op
	kind  string
	limit time.Duration // of an access to the resource
	entry entrance      // that it is in; zero: none
	late  bool          // nobody waits for the answer any more
}

// How long a worker may take for what it answers at once, to begin with, and
// to end in good order.
const (
	atOnce   = 5 * time.Second
	initTime = 20 * time.Second
	endTime  = 200 * time.Millisecond
)

// launch starts the worker.
func (c *client) launch(command []string, self owner) (err error) {
	c.process, err = worker.Start(command, []string{OwnerEnv + "=" + self.String()}, worker.Handler{
		Do: func(a worker.Answer) {
			if a.Do == worker.DoEnter {
				c.enter(a)
			} else {
				go c.access(a)
			}
		},
		Event: func(a worker.Answer) { c.event(a) },
		Late:  c.answeredLate,
	})
	return err
}

// init makes the worker ready, and learns what it can do.
func (c *client) init() error {
	cfg := c.place.cfg
	a, err := c.process.Ask(worker.Request{
		Op: worker.OpInit, Protocol: worker.Protocol,
		Clients: []string{c.name}, Locks: cfg.Names, TTLMS: cfg.Lease.Milliseconds(),
		Targets: c.targets(),
		Options: worker.LockOptions(cfg.Lock.ID, cfg.Options),
	}, initTime)
	if err == nil {
		c.features = a.Features
		if c.can(worker.FeatureClock) {
			err = c.calibrate()
		}
	}
	if err != nil {
		return fmt.Errorf("the worker of %s is not ready: %w%s", c.name, err, c.logText())
	}
	return nil
}

// targets are where the worker finds the servers. Where Sentinels name the
// masters, by addresses that only servers reach, each server is written
// LINK=ANNOUNCED.
func (c *client) targets() map[string][]string {
	t := map[string][]string{}
	for _, l := range c.links {
		kind, at := worker.TargetZooKeeper, l.addr()
		if l.far == far(c.place.mysql) {
			kind = worker.TargetMySQL
		} else if s, ok := l.far.(*server); ok {
			switch kind = worker.TargetRedis; {
			case s == c.place.tokens:
				kind = worker.TargetTokens
			case slices.Contains(c.place.sentinels, s):
				kind = worker.TargetSentinels
			}
			if len(c.place.sentinels) > 0 && kind != worker.TargetTokens {
				at += "=" + s.peer + ":" + port
			}
		}
		t[kind] = append(t[kind], at)
	}
	if len(c.place.sentinels) > 0 {
		t[worker.TargetMasters] = c.place.layout.Masters()
	}
	return t
}

func (c *client) can(feature string) bool { return slices.Contains(c.features, feature) }

// calibrate compares clocks. The worker reads its clock between our question
// and its answer, so it shows at least what it would if it had read it when we
// asked: the difference that this gives puts a deadline early by at most the
// time of one exchange, and never late. Of a few exchanges the best counts.
func (c *client) calibrate() error {
	for i := range 5 {
		asked := time.Since(c.place.made)
		a, err := c.process.Ask(worker.Request{Op: worker.OpClock}, atOnce)
		if err != nil {
			return err
		}
		if a.MonoNS == nil {
			return errors.New("an answer to clock without mono_ns")
		}
		if by := asked - time.Duration(*a.MonoNS); i == 0 || by > c.clock {
			c.clock, c.clocked = by, true
		}
	}
	return nil
}

// validUntil is the earliest instant at which a grant's deadline may be.
func (c *client) validUntil(a worker.Answer) time.Duration {
	if a.ValidMS == nil || a.MonoNS == nil || !c.clocked {
		return 0
	}
	until := time.Duration(*a.MonoNS) + time.Duration(*a.ValidMS)*time.Millisecond + c.clock
	return max(until-c.place.start.Sub(c.place.made), 1) // 0 would say nothing
}

// Acquire asks the lock.
func (c *client) Acquire(op cluster.Op, timeout time.Duration) (cluster.Grant, error) {
	t := c.place.cfg.Lease
	c.asks(op)
	a, err := c.do(running{op: op, kind: history.Acquire}, worker.Request{
		TimeoutMS: max(timeout.Milliseconds(), 1), Nested: op.Grant != 0,
		Unfair: op.Unfair && c.can(worker.FeatureUnfair),
	}, timeout+t)
	g := c.grantOf(a)
	g.ValidUntil = c.got(op, g.ValidUntil, err)
	if err != nil {
		return cluster.Grant{}, err
	}
	return g, nil
}

// Release gives a grant back.
func (c *client) Release(op cluster.Op) error {
	defer c.gives(op)
	_, err := c.do(running{op: op, kind: history.Release}, worker.Request{}, 2*c.place.cfg.Lease)
	return err
}

// ReleaseName releases by name.
func (c *client) ReleaseName(op cluster.Op) error {
	if !c.can(worker.FeatureReleaseName) {
		return cluster.ErrNoReleaseName
	}
	defer c.gives(op)
	_, err := c.do(running{op: op, kind: history.Release}, worker.Request{Op: worker.OpReleaseName}, 2*c.place.cfg.Lease)
	return err
}

// Read reads the guarded resource.
func (c *client) Read(op cluster.Op) (int64, error) {
	a, err := c.do(c.accessing(op, history.Read), worker.Request{}, 2*c.place.cfg.Lease)
	if err != nil {
		return 0, err
	}
	if a.Value == nil {
		return 0, errors.New("the worker answered a read without a value")
	}
	return *a.Value, nil
}

// Write writes to it.
func (c *client) Write(op cluster.Op, value int64) error {
	_, err := c.do(c.accessing(op, history.Write), worker.Request{Value: &value}, 2*c.place.cfg.Lease)
	return err
}

// accessing is an access. It gives up after T/4, unless op says something else.
func (c *client) accessing(op cluster.Op, kind string) running {
	c.mu.Lock()
	r := running{op: op, kind: kind, limit: op.Timeout, entry: c.runs.inside[op.Acquire]}
	c.mu.Unlock()
	if r.limit == 0 {
		r.limit = c.place.cfg.Lease / 4
	}
	return r
}

// graceTime is added to what an operation may take by the worker's own clock.
const graceTime = time.Second

// do is one operation. limit is how long the worker may take, not counting
// when it is paused.
func (c *client) do(r running, q worker.Request, limit time.Duration) (worker.Answer, error) {
	limit += graceTime
	q.Op, q.Client, q.Lock = cmp.Or(q.Op, r.kind), c.name, r.op.Lock
	q.Run, q.Entry = r.entry.run, r.entry.number
	if r.limit > 0 {
		q.TimeoutMS = max(r.limit.Milliseconds(), 1)
	}
	if r.kind != history.Acquire {
		c.recorded(int(r.op.Acquire))
	}
	if err := c.goesOn(&r); err != nil {
		return worker.Answer{}, err
	}
	if err := c.begin(&r, limit); err != nil {
		return worker.Answer{}, err
	}
	q.ID = c.process.Number()
	c.mu.Lock()
	c.asked[q.ID] = r
	if r.entry == (entrance{}) {
		c.current = r
	}
	c.mu.Unlock()
	_, reply := c.process.Call(q)
	rep, ok := c.await(reply, limit)
	if !ok {
		if c.giveUp(q.ID) {
			return worker.Answer{}, cluster.ErrTimeout
		}
		rep = <-reply // it came just now
	}
	c.mu.Lock()
	delete(c.asked, q.ID)
	c.mu.Unlock()
	if rep.Err != nil {
		return worker.Answer{}, c.crashed(rep.Err)
	}
	if err := c.goesOn(&r); err != nil {
		return worker.Answer{}, err
	}
	return rep.Answer, rep.Answer.Err()
}

// giveUp makes the answer to a request late. false: it is there already.
func (c *client) giveUp(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.process.Forget(id) {
		return false
	}
	r := c.asked[id]
	r.late = true
	c.asked[id] = r
	return true
}

// crashed turns a worker's misconduct into an operation's error.
func (c *client) crashed(err error) error {
	switch {
	case !errors.Is(err, worker.ErrExited):
		return err
	case c.dead.Load() || c.place.ctx.Err() != nil:
		return cluster.ErrCrashed
	}
	return fmt.Errorf("%w: %s%s", cluster.ErrCrashed, c.process.Exit(), c.logText())
}

// maxLogText is how much of a worker's log an error shows, in bytes.
const maxLogText = 4096

// logText is the end of the worker's log, for an error; "": it is empty.
func (c *client) logText() string {
	log := c.process.Log()
	if log == "" {
		return ""
	}
	if len(log) > maxLogText {
		log = "…" + strings.ToValidUTF8(log[len(log)-maxLogText:], "")
	}
	return "\nthe worker's log ends with:\n" + log
}

// begin waits until the client can begin an operation: the worker has answered
// what was late, and all that it has sent so far is noted as what it was sent
// for. Then it arms the points that the schedule names. What happens in an entry
// of a run is noted as the run's, up to the release; that waits for nothing,
// because a run whose entry does not end would hold its lock for ever.
func (c *client) begin(r *running, limit time.Duration) error {
	if c.dead.Load() || c.place.ctx.Err() != nil {
		return cluster.ErrCrashed
	}
	inside := r.entry != (entrance{})
	switch leaves := inside && r.kind == history.Release; {
	case leaves:
	case !c.free(r.entry, limit):
		return errBusy
	case inside:
		return nil
	}
	for _, l := range c.links {
		if !l.settle() {
			l.far.drop("cannot tell which operation a request of %s belongs to", c.name)
		}
	}
	c.op.Store(int64(r.op.Index))
	return c.arm(r)
}

var errBusy = locks.Definite(errors.New("the worker still has not answered an earlier request"))

// free waits until no answer of an entry is late, or of none, for limit at most.
func (c *client) free(in entrance, limit time.Duration) bool {
	late := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range c.asked {
			if r.late && r.entry == in {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if !late() || c.dead.Load() {
			return true
		}
		if time.Now().After(end) || c.place.ctx.Err() != nil {
			return false
		}
	}
}

// answeredLate notes an answer that nobody waits for any more.
func (c *client) answeredLate(a worker.Answer) {
	c.mu.Lock()
	r := c.asked[a.ID]
	delete(c.asked, a.ID)
	if v := c.runs.visits[a.ID]; v != nil {
		v.ended = true
		delete(c.runs.visits, a.ID)
	}
	c.mu.Unlock()
	if r.late {
		c.place.observer.Report(history.Entry{Client: c.name, F: history.Late, Lock: r.op.Lock, Text: r.kind + " answered late"})
	}
}

// tick is how exactly the time of a client that may be paused is counted.
const tick = 20 * time.Millisecond

// await waits for a reply, for limit at most, not counting when the client is
// paused or hangs.
func (c *client) await(reply <-chan worker.Reply, limit time.Duration) (worker.Reply, bool) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last := time.Now(); limit > 0; {
		select {
		case r := <-reply:
			return r, true
		case <-c.place.ctx.Done():
			return worker.Reply{Err: worker.ErrExited}, true
		case now := <-ticker.C:
			if !c.paused.Load() && !c.hung.Load() {
				limit -= now.Sub(last)
			}
			last = now
		}
	}
	return worker.Reply{}, false
}

// pause stops the worker's processes.
func (c *client) pause() error {
	c.paused.Store(true)
	return c.process.Stop()
}

func (c *client) resume() error {
	defer c.paused.Store(false)
	if err := c.process.Continue(); err != nil {
		return err
	}
	return c.clocksAre(true)
}

func (c *client) kill() error {
	c.dead.Store(true)
	return c.process.Kill()
}

// close ends the worker: in good order, unless it is stopped. A log that says
// why something went wrong is shown.
func (c *client) close() error {
	var err error
	if c.process != nil {
		select {
		case <-c.process.Done():
			if !c.dead.Load() {
				c.place.log.printf("the worker of %s ended by itself, with %s:\n%s", c.name, c.process.Exit(), c.process.Log())
			}
		default:
			if c.process.Rubbish() > 0 {
				c.place.log.printf("the worker of %s did not keep to the protocol:\n%s", c.name, c.process.Log())
			}
		}
		grace := endTime
		if c.paused.Load() {
			grace = 0
		}
		err = c.process.Close(grace)
	}
	c.runs.tasks.Wait()
	for _, l := range c.links {
		l.close()
	}
	return err
}

// event takes what the worker says between answers.
func (c *client) event(a worker.Answer) {
	c.mu.Lock()
	r, seen := c.current, true
	if a.Run != 0 {
		r, seen = c.runs.in(a)
	}
	c.mu.Unlock()
	switch a.Event {
	case worker.EventAt:
		go c.reached(r, a, seen)
	case worker.EventLost, worker.EventExtended:
		c.learn(a)
	case worker.EventQueued:
		if !seen {
			return // nobody waits for it any more
		}
		e := history.Entry{Client: c.name, F: history.Queued, Lock: a.Lock, Op: history.Some(int64(r.op.Index))}
		if a.Position != nil {
			e.Value = history.Some(*a.Position)
		}
		c.place.observer.Report(e)
	}
}

// nobody is a client that does not exist.
type nobody struct{}

func (nobody) Acquire(cluster.Op, time.Duration) (cluster.Grant, error) {
	return cluster.Grant{}, cluster.ErrCrashed
}
func (nobody) Release(cluster.Op) error       { return cluster.ErrCrashed }
func (nobody) Read(cluster.Op) (int64, error) { return 0, cluster.ErrCrashed }
func (nobody) Write(cluster.Op, int64) error  { return cluster.ErrCrashed }

var _ cluster.NameReleaser = (*client)(nil)
