// Package sim is an environment in virtual time: clients, servers and a network
// in one process, one event at a time. No goroutines run in parallel and no wall
// clock is read, so one seed gives one run.
//
// Tasks are coroutines. A task runs until it waits; the scheduler then takes the
// next event and resumes the task that it concerns.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/names"
)

// These are the budgets of a run. The number of events in a second of virtual
// time does not depend on the work: every request takes its latencies, so a
// client that only sends requests uses less than half of its share.
const (
	maxEvents    = 200_000_000 // in a run: half a minute of CPU time
	maxChoices   = 10_000_000  // recorded in a run: some hundred MB
	maxPerSecond = 100_000     // in a second of virtual time, for each client and one more
	maxPortCalls = 3_000       // in one operation; it replaces the limit of a real stack
	never        = time.Duration(1<<63 - 1)
	latencyMin   = 100 * time.Microsecond
	latencyMost  = 5 * time.Millisecond // by default
	// epoch is what a correct wall clock shows when a run begins. Any date works
	// if a clock that is set back stays above zero.
	epoch = 1_700_000_000 * time.Second
	// laterSeq is above the seq of every event that goes before the others of its
	// instant.
	laterSeq = 1 << 32
)

var _ env.Environment = (*World)(nil)

// clientName returns the client whose turn it is.
func (e event) clientName() string {
	if t, ok := e.what.(*task); ok && t.client != nil {
		return t.client.name
	}
	return "the run"
}

// World is an environment in virtual time. It serves one run; Reset makes it a
// new one.
type World struct {
	cfg      env.Config
	observer env.Observer
	choices  *choices

	latencies int64 // number of possible latencies: one for each microsecond from the least

	now      time.Duration
	seq      uint64
	first    uint64 // seq for events that go before the others of their instant
	queue    queue
	events   int           // so far
	most     int           // limit of events
	requests int           // of locks to their servers
	recent   int           // of these, in this second
	second   time.Duration // when the next second begins
	share    int           // limit of events in a second
	current  *task
	tasks    []*task
	alive    int   // tasks that have not ended
	driven   bool  // a waiting task drives it, see drive
	woken    *task // the next task to run
	err      error // why the run cannot go on

	clients     []*client
	servers     []*server // of all kinds
	nodes       []*node
	monitors    []*server  // the Sentinels
	ensemble    *ensemble  // nil: none
	databases   *databases // nil: none
	tokens      *server    // nil: none
	resource    *server    // guarded by the lock
	impairments []*impairment
	isolations  []isolation
	counts      []count // draws so far, by name and client
	free        []*message
	uniques     int

	memory *memory
	again  bool // another run will follow

	order *order // nil: time decides
}

// New returns a world with the clients and the servers of cfg, and the guarded
// resource.
func New(cfg env.Config, o env.Observer, d env.Decisions) *World {
	w := new(World)
	w.reset(cfg, o, newChoices(d))
	return w
}

// Simulator returns a world that waits for its first Reset.
func Simulator() env.Simulation { return new(World) }

// Reset makes w like a new world, and reuses the memory of the last run, which
// must be over. Idle coroutines stay for the next run, up to Close.
func (w *World) Reset(cfg env.Config, o env.Observer, d env.Decisions) {
	w.unwind()
	w.reset(cfg, o, newChoices(d))
	w.again = true
}

// reset prepares a run. Fields that it does not set become zero.
func (w *World) reset(cfg env.Config, o env.Observer, choices *choices) {
	*w = World{
		cfg: cfg, observer: o, choices: choices, memory: w.memory,
		share:     maxPerSecond * (1 + len(cfg.Clients)),
		most:      maxEvents,
		latencies: max(1, int64((cmp.Or(cfg.Latency, latencyMost)-latencyMin)/time.Microsecond)),

		queue: w.queue.empty(),
		tasks: w.tasks[:0], clients: w.clients[:0], servers: w.servers[:0],
		nodes: w.nodes[:0], monitors: w.monitors[:0],
		impairments: w.impairments[:0], isolations: w.isolations[:0], counts: w.counts[:0], free: w.free[:0],
	}
	if w.memory == nil {
		w.memory = new(memory)
	}
	if choices.order != nil {
		w.order = &w.memory.order
		w.order.reset(choices.order)
		choices.order = w.order
		w.now = time.Millisecond // else all times in the history of a run in which no time passes would be 0
	}
	m := w.memory
	m.recycle()
	w.addServers()
	for _, name := range cfg.Clients {
		c := m.clients.next()
		c.reset(w, name)
		w.clients = append(w.clients, c)
	}
}

// Observes returns what the history contains about the servers. A model knows
// everything, except what a MySQL statement means for a grant: the lock must
// declare that.
func (w *World) Observes() []string {
	if w.databases != nil && !w.databases.allDeclared() {
		return nil
	}
	return observes
}

// Sequential marks that one thing happens at a time, so that an observer needs no
// mutex.
func (w *World) Sequential() {}

var observes = []string{"ownership", "answers"}

// Now returns the virtual time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Go starts a task of the harness.
func (w *World) Go(f func()) {
	w.begin(f)
	w.alive++
}

// begin starts a task. The run does not wait for its end.
func (w *World) begin(f func()) *task {
	var t *task
	if last := len(w.memory.idle) - 1; last >= 0 {
		t = w.memory.idle[last]
		w.memory.idle = w.memory.idle[:last]
	} else {
		running := w.current // a new coroutine's first step changes w.current
		t = newTask(w)
		w.current = running
	}
	t.reset(w, f)
	w.tasks = append(w.tasks, t)
	t.wakeAt(w.now)
	return t
}

// After calls f after the time d.
func (w *World) After(d time.Duration, f func()) {
	w.push(event{at: w.now + max(d, 0), what: action(f)})
}

// Sleep makes the running task wait.
func (w *World) Sleep(d time.Duration) {
	w.current.openWait = sleeping
	if d == never {
		w.current.park(never)
		return
	}
	w.current.park(w.now + max(d, 0))
}

// Rand draws a random number for who.
func (w *World) Rand(who, what string, n int64) int64 {
	if w.order != nil {
		return n - 1 // the longest sleep: it ends when its turn comes
	}
	if !w.choices.needsNames() {
		return w.choices.draw(n)
	}
	return w.choices.choose(env.Name{What: what, Who: who, N: w.count(what, who)}, n)
}

// count counts the draws of what for who, from 1. There are few kinds, so a list
// is faster than a map.
func (w *World) count(what, who string) int {
	for i := range w.counts {
		if c := &w.counts[i]; c.what == what && c.who == who {
			c.n++
			return c.n
		}
	}
	w.counts = append(w.counts, count{what, who, 1})
	return 1
}

type count struct {
	what, who string
	n         int
}

func (w *World) push(e event) {
	if w.order != nil {
		w.order.push(e)
		return
	}
	w.seq++
	e.seq = laterSeq + w.seq
	w.queue.push(e)
}

// pushFirst makes e happen before the other events of its instant: messages that
// a partition has held arrive before messages sent later.
func (w *World) pushFirst(e event) {
	if w.order != nil {
		w.order.pushFirst(e)
		return
	}
	w.first++
	e.seq = w.first
	w.queue.push(e)
}

// Run is the scheduler. It returns after the last task.
func (w *World) Run() error {
	defer w.unwind()
	if w.order != nil {
		return w.runInOrder()
	}
	w.driven = true
	w.drive(nil)
	return w.err
}

// step executes the next event. It wakes at most one task.
func (w *World) step() {
	if pct := w.choices.pct; pct != nil {
		pct.next(w)
	}
	if len(w.queue.events) == 0 {
		w.err = errors.New("sim: every task waits and nothing will happen")
		return
	}
	e := w.queue.pop()
	w.now = max(w.now, e.at)
	if w.now >= w.second {
		w.second, w.recent = w.now+time.Second, 0
	}
	w.events++
	w.recent++
	switch {
	case w.recent > w.share:
		w.err = env.BudgetError(fmt.Sprintf("%s made %s in a second of virtual time, at %v: is there a loop without a wait?", e.clientName(), names.Count(w.share, "event"), w.now))
	case w.events > w.most:
		w.err = env.BudgetError(fmt.Sprintf("%s, at %v of virtual time: the run does not end", names.Count(w.most, "event"), w.now))
	case len(w.choices.made) > maxChoices:
		w.err = env.BudgetError(fmt.Sprintf("%s, at %v of virtual time: the run does not end", names.Count(maxChoices, "recorded decision"), w.now))
	default:
		e.what.happen(w)
	}
}

// Spend ends the run because it has used up a budget that the caller counts.
func (w *World) Spend(words string) {
	if w.err == nil {
		w.err = env.BudgetError(fmt.Sprintf("%s, at %v of virtual time: the run does not end", words, w.now))
	}
}

// Limit lowers the limit of events in the run.
func (w *World) Limit(events int) { w.most = min(w.most, events) }

// Events returns the number of events so far.
func (w *World) Events() int { return w.events }

// Requests returns the number of the locks' requests so far.
func (w *World) Requests() int { return w.requests }

// Close frees everything that Run may have left. It does not close Lockers: their
// connections and memory are part of the world here, and the requests of a Close
// would belong to no operation of the history.
func (w *World) Close() error {
	w.again = false
	w.unwind()
	return nil
}

// unwind ends every task that still waits: a coroutine that is dropped while
// parked would leak. A coroutine without a running script stays if the next run
// can use it.
func (w *World) unwind() {
	m := w.memory
	if m == nil {
		return // there was no run
	}
	for i := 0; i < len(w.tasks); i++ { // ending one may begin another
		t := w.tasks[i]
		if w.again && w.order != nil { // a search leaves most runs in the middle
			t.unwind()
		}
		if t.ended && w.again {
			m.idle = append(m.idle, t)
		} else {
			t.stop()
		}
	}
	w.tasks = w.tasks[:0]
	if !w.again {
		for _, t := range m.idle {
			t.stop()
		}
		m.idle = m.idle[:0]
	}
}

// unique returns a string that no other call returns.
func (w *World) unique(c *client) string {
	if w.order != nil {
		// One count for all clients would make their order part of every state.
		c.uniques++
		return w.memory.numberedName(c.name, c.uniques)
	}
	w.uniques++
	return w.memory.numberedName(c.name, w.uniques)
}
