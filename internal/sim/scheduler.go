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
	latencyMin   = 100 * time.Microsecond
	latencyMost  = 5 * time.Millisecond // by default
	// laterSeq is above the seq of every event that goes before the others of its
	// instant.
	laterSeq = 1 << 32
)

// scheduler is the lowest part of a world: virtual time, future events, tasks, and
// the choices of the run. Everything above knows it; it knows nothing of networks
// and servers.
type scheduler struct {
	cfg      env.Config
	observer env.Observer
	choices  *choices
	pct      *pct    // chooses the latencies; nil: they are drawn
	order    *order  // decides what happens next; nil: time decides
	outside  Outside // nil: none

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
	idle     []*task // coroutines that wait for a script
	alive    int     // tasks that have not ended
	driven   bool    // a waiting task drives it, see drive
	woken    *task   // the next task to run
	err      error   // why the run cannot go on
	again    bool    // another run will follow

	counts  []count // draws so far, by name and client
	uniques int
	text    *text
}

// reset prepares a run. Fields that it does not set become zero.
func (k *scheduler) reset(cfg env.Config, o env.Observer, d env.Decisions) {
	choices := newChoices(d)
	*k = scheduler{
		cfg: cfg, observer: o, choices: choices, pct: newPCT(d, len(cfg.Clients), choices),
		share:     maxPerSecond * (1 + len(cfg.Clients)),
		most:      maxEvents,
		latencies: max(1, int64((cmp.Or(cfg.Latency, latencyMost)-latencyMin)/time.Microsecond)),

		queue: k.queue.empty(), tasks: k.tasks[:0], idle: k.idle, counts: k.counts[:0], text: k.text,
	}
	if k.text == nil {
		k.text = new(text)
	}
}

// Now returns the virtual time since the start of the run.
func (k *scheduler) Now() time.Duration { return k.now }

// Go starts a task of the harness.
func (k *scheduler) Go(f func()) {
	k.begin(f)
	k.alive++
}

// begin starts a task. The run does not wait for its end.
func (k *scheduler) begin(f func()) *task {
	var t *task
	if last := len(k.idle) - 1; last >= 0 {
		t = k.idle[last]
		k.idle = k.idle[:last]
	} else {
		t = newTask(k)
	}
	t.reset(k, f)
	k.tasks = append(k.tasks, t)
	t.wakeAt(k.now)
	return t
}

// After calls f after the time d.
func (k *scheduler) After(d time.Duration, f func()) {
	k.push(event{at: k.now + max(d, 0), what: action(f)})
}

// Sleep makes the running task wait.
func (k *scheduler) Sleep(d time.Duration) {
	k.current.openWait = sleeping
	if d == never {
		k.current.park(never)
		return
	}
	k.current.park(k.now + max(d, 0))
}

// Rand draws a random number for who.
func (k *scheduler) Rand(who, what string, n int64) int64 {
	if k.order != nil {
		return n - 1 // the longest sleep: it ends when its turn comes
	}
	if !k.choices.needsNames() {
		return k.choices.draw(n)
	}
	return k.choices.choose(env.Name{What: what, Who: who, N: k.count(what, who)}, n)
}

// delay returns a random duration of up to T/share.
func (k *scheduler) delay(what, who string, share int64) time.Duration {
	most := int64(k.cfg.Lease) / share / int64(time.Microsecond)
	return time.Duration(k.Rand(who, what, max(1, most))) * time.Microsecond
}

// latency draws the latency of the next message on l.
func (k *scheduler) latency(l *link) time.Duration {
	var v int64
	if k.choices.needsNames() {
		v = k.choices.choose(l.next(), k.latencies)
	} else {
		v = k.choices.draw(k.latencies)
	}
	return latencyMin + time.Duration(v)*time.Microsecond
}

// count counts the draws of what for who, from 1. There are few kinds, so a list
// is faster than a map.
func (k *scheduler) count(what, who string) int {
	for i := range k.counts {
		if c := &k.counts[i]; c.what == what && c.who == who {
			c.n++
			return c.n
		}
	}
	k.counts = append(k.counts, count{what, who, 1})
	return 1
}

type count struct {
	what, who string
	n         int
}

func (k *scheduler) push(e event) {
	if k.order != nil {
		k.order.push(e)
		return
	}
	k.seq++
	e.seq = laterSeq + k.seq
	k.queue.push(e)
}

// pushFirst makes e happen before the other events of its instant: messages that
// a partition has held arrive before messages sent later.
func (k *scheduler) pushFirst(e event) {
	if k.order != nil {
		k.order.pushFirst(e)
		return
	}
	k.first++
	e.seq = k.first
	k.queue.push(e)
}

// noteDate notes that a client learns a date that it may write down and compare
// later: from a wall clock, or in a row that MySQL writes. A monotonic clock
// gives no such date: a lock keeps its readings to itself, and compares them only
// with times that end by a timer.
func (k *scheduler) noteDate(wall bool) {
	if o := k.order; o != nil {
		o.dated, o.wall = true, o.wall || wall
	}
}

// step executes the next event. It wakes at most one task.
func (k *scheduler) step() {
	if k.outside != nil {
		k.letOutsideRun()
	}
	if k.pct != nil {
		k.pct.next(&k.queue, k.now)
	}
	if len(k.queue.events) == 0 {
		k.err = errors.New("sim: every task waits and nothing will happen")
		return
	}
	e := k.queue.pop()
	k.now = max(k.now, e.at)
	if k.now >= k.second {
		k.second, k.recent = k.now+time.Second, 0
	}
	k.events++
	k.recent++
	switch {
	case k.recent > k.share:
		k.err = env.BudgetError(fmt.Sprintf("%s made %s in a second of virtual time, at %v: is there a loop without a wait?", e.clientName(), names.Count(k.share, "event"), k.now))
	case k.events > k.most:
		k.Spend(names.Count(k.most, "event"))
	case len(k.choices.made) > maxChoices:
		k.Spend(names.Count(maxChoices, "recorded decision"))
	default:
		e.what.happen()
	}
}

// clientName returns the client whose turn it is.
func (e event) clientName() string {
	if t, ok := e.what.(*task); ok && t.client != nil {
		return t.client.name
	}
	return "the run"
}

// Spend ends the run because it has used up a budget that the caller counts.
func (k *scheduler) Spend(words string) {
	if k.err == nil {
		k.err = env.BudgetError(fmt.Sprintf("%s, at %v of virtual time: the run does not end", words, k.now))
	}
}

// Abort ends the run with an error.
func (k *scheduler) Abort(err error) {
	if k.err == nil {
		k.err = err
	}
}

// Limit lowers the limit of events in the run.
func (k *scheduler) Limit(events int) { k.most = min(k.most, events) }

// Events returns the number of events so far.
func (k *scheduler) Events() int { return k.events }

// Requests returns the number of the locks' requests so far.
func (k *scheduler) Requests() int { return k.requests }

// Close frees everything that Run may have left. It does not close Lockers: their
// connections and memory are part of the world here, and the requests of a Close
// would belong to no operation of the history.
func (k *scheduler) Close() error {
	k.again = false
	k.unwind()
	return nil
}

// unwind ends every task that still waits: a coroutine that is dropped while
// parked would leak. A coroutine without a running script stays if the next run
// can use it.
func (k *scheduler) unwind() {
	for i := 0; i < len(k.tasks); i++ { // ending one may begin another
		t := k.tasks[i]
		if k.again && k.order != nil { // a search leaves most runs in the middle
			t.unwind()
		}
		if t.ended && k.again {
			k.idle = append(k.idle, t)
		} else {
			t.stop()
		}
	}
	k.tasks = k.tasks[:0]
	if !k.again {
		for _, t := range k.idle {
			t.stop()
		}
		k.idle = k.idle[:0]
	}
}
