// Package sim is a place in virtual time: clients, servers and a network in
// one process, one event at a time. There is no goroutine that runs beside
// another, no wall clock and no race, so one seed gives one run.
//
// Tasks are coroutines. A task runs until it waits for something; the
// scheduler then takes the next event and resumes whoever it concerns.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Budgets: what a run may use before it counts as one that never ends. How
// many events there are in a second of virtual time does not depend on the
// work: every request takes latencies, so a client that does nothing but send
// has less than half of its share.
const (
	maxEvents    = 200_000_000 // in a run: half a minute of a processor's time
	maxChoices   = 10_000_000  // recorded in a run: some hundred MB
	maxPerSecond = 100_000     // in a second of virtual time, for each client and once more
	maxPortCalls = 3_000       // in one operation; it stands for a bounded stack
	never        = time.Duration(1<<63 - 1)
	latencyMin   = 100 * time.Microsecond
	latencyMost  = 5 * time.Millisecond // unless the run has another
	// epoch is what a right wall clock shows when a run begins: any date will
	// do, as long as a clock that is set back does not pass zero.
	epoch = 1_700_000_000 * time.Second
	// laterSeq is above the seq of every event that goes before the others of its instant.
	laterSeq = 1 << 32
)

var _ env.Environment = (*World)(nil)

// who is the client whose turn it is.
func (e event) who() string {
	if t, ok := e.what.(*task); ok && t.client != nil {
		return t.client.name
	}
	return "the run"
}

// World is a place in virtual time. It serves one run; Reset makes it a new one.
type World struct {
	cfg      env.Config
	observer env.Observer
	choices  *choices

	latencies int64 // how many there are: each microsecond from the least is one

	now      time.Duration
	seq      uint64
	first    uint64 // as seq, for events that go before the others of their instant
	queue    queue
	events   int           // so far
	most     int           // of them
	requests int           // of locks to their servers
	recent   int           // of them, in this second
	second   time.Duration // when the next one begins
	share    int           // how many events a second may have
	current  *task
	tasks    []*task
	alive    int   // tasks that have not ended
	driven   bool  // by those who wait, see drive
	woken    *task // whose turn it is next
	err      error // why the run cannot go on

	clients     []*client
	servers     []*server // of all kinds
	nodes       []*node
	monitors    []*server  // the Sentinels
	ensemble    *ensemble  // nil: there is none
	databases   *databases // nil: there are none
	tokens      *server    // nil: there is none
	resource    *server    // what the lock guards
	impairments []*impairment
	isolations  []isolation
	counts      []count // draws so far, by what and who
	free        []*message
	uniques     int

	memory *memory
	again  bool // another run will come

	order *order // nil: time decides
}

// New makes a world with the clients and the servers of cfg, and the guarded
// resource.
func New(cfg env.Config, o env.Observer, d env.Decisions) *World {
	w := new(World)
	w.reset(cfg, o, newChoices(d))
	return w
}

// Simulator makes a world that waits for its first Reset.
func Simulator() env.Simulation { return new(World) }

// Reset makes w what New would make, in the memory of the run before, which is
// over. Idle coroutines stay for the next run, up to Close.
func (w *World) Reset(cfg env.Config, o env.Observer, d env.Decisions) {
	w.unwind()
	w.reset(cfg, o, newChoices(d))
	w.again = true
}

// reset is where a run starts from: what is not named here is zero.
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
		w.order = choices.order
		w.order.reset()
		w.now = time.Millisecond // or the history of a run in which no time passes would have no times
	}
	m := w.memory
	m.again()
	w.addServers()
	for _, name := range cfg.Clients {
		c := m.clients.next()
		c.reset(w, name)
		w.clients = append(w.clients, c)
	}
}

// Observes: a model hides nothing, but what a statement of MySQL means to a grant only
// the lock can say.
func (w *World) Observes() []string {
	if w.databases != nil && !w.databases.declared() {
		return nil
	}
	return observes
}

// Sequential: one thing happens at a time, so that who records it needs no lock.
func (w *World) Sequential() {}

var observes = []string{"ownership", "answers"}

// Now is the virtual time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Go starts a task of the harness.
func (w *World) Go(f func()) {
	w.begin(f)
	w.alive++
}

// begin starts a task, for which the run does not wait.
func (w *World) begin(f func()) *task {
	var t *task
	if last := len(w.memory.idle) - 1; last >= 0 {
		t = w.memory.idle[last]
		w.memory.idle = w.memory.idle[:last]
	} else {
		running := w.current // which a new coroutine's first step is not
		t = newTask(w)
		w.current = running
	}
	t.reset(w, f)
	w.tasks = append(w.tasks, t)
	t.wakeAt(w.now)
	return t
}

// After calls f at that time from now.
func (w *World) After(d time.Duration, f func()) {
	w.push(event{at: w.now + max(d, 0), what: action(f)})
}

// Sleep lets the running task wait.
func (w *World) Sleep(d time.Duration) {
	w.current.free = sleeping
	if d == never {
		w.current.park(never)
		return
	}
	w.current.park(w.now + max(d, 0))
}

// Rand draws for who.
func (w *World) Rand(who, what string, n int64) int64 {
	if w.order != nil {
		return n - 1 // the most that a sleep can take: it ends when its turn comes
	}
	if !w.choices.named() {
		return w.choices.draw(n)
	}
	return w.choices.choose(env.Name{What: what, Who: who, N: w.count(what, who)}, n)
}

// count counts the draws of what for who, from 1. There are few kinds, so a
// list is faster than a map.
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

// pushFirst lets e happen before the others of its instant: what a partition
// has held arrives before what was sent later.
func (w *World) pushFirst(e event) {
	if w.order != nil {
		w.order.pushFirst(e)
		return
	}
	w.first++
	e.seq = w.first
	w.queue.push(e)
}

// Run is the scheduler: it ends with the last task.
func (w *World) Run() error {
	defer w.unwind()
	if w.order != nil {
		return w.runInOrder()
	}
	w.driven = true
	w.drive(nil)
	return w.err
}

// step lets the next event happen. It wakes one task at most.
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
		w.err = env.BudgetError(fmt.Sprintf("%s made %s in a second of virtual time, at %v: is there a loop without a wait?", e.who(), names.Count(w.share, "event"), w.now))
	case w.events > w.most:
		w.err = env.BudgetError(fmt.Sprintf("%s, at %v of virtual time: the run does not end", names.Count(w.most, "event"), w.now))
	case len(w.choices.made) > maxChoices:
		w.err = env.BudgetError(fmt.Sprintf("%s, at %v of virtual time: the run does not end", names.Count(maxChoices, "recorded decision"), w.now))
	default:
		e.what.happen(w)
	}
}

// Spend ends the run, because it has used up a budget that the world does not keep.
func (w *World) Spend(words string) {
	if w.err == nil {
		w.err = env.BudgetError(fmt.Sprintf("%s, at %v of virtual time: the run does not end", words, w.now))
	}
}

// Limit is how many events the run may have, if that is less than all may have.
func (w *World) Limit(events int) { w.most = min(w.most, events) }

// Events is how many events there were.
func (w *World) Events() int { return w.events }

// Requests is how many requests the locks have made.
func (w *World) Requests() int { return w.requests }

// Close ends what Run may have left. No Locker is closed: what one holds for
// itself is here a connection of the model's and memory, which go with the
// world, and the requests of a Close would belong to no operation of the history.
func (w *World) Close() error {
	w.again = false
	w.unwind()
	return nil
}

// unwind ends every task that still waits: a coroutine that is dropped while
// it is parked would stay for ever. One whose script has ended, and which the
// next run can use, waits for that.
func (w *World) unwind() {
	m := w.memory
	if m == nil {
		return // there was no run
	}
	for i := 0; i < len(w.tasks); i++ { // one that ends may begin another
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

// unique is a string that no other call returns.
func (w *World) unique(c *client) string {
	if w.order != nil {
		// Not one count for all: who came first would be part of every state.
		c.uniques++
		return w.memory.numbered(c.name, c.uniques)
	}
	w.uniques++
	return w.memory.numbered(c.name, w.uniques)
}
