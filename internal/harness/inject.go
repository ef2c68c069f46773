package harness

import (
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

// injector starts faults at their times and points, and heals them.
type injector struct {
	rec     *recorder
	lock    catalogue.Lock // under test
	instant bool           // no time passes between a fault's line and its effect

	mu         mutex
	injections []injection
	active     int            // faults in force that will end
	inForce    map[shared]int // by their shared state
	lastEnd    time.Duration  // when a fault last healed, or began for good
	stopped    bool
	changed    sync.Cond // signals changes of faults that take time
	healing    int       // faults of servers and links that are healing
	most       int       // how many offered faults may strike; 0: all
	strikes    int       // how many did
	err        error     // the first error of the environment
	intact     int       // entries before the call that failed
}

// shared is a state of a host that several faults act on.
type shared struct{ what, host string }

type injection struct {
	faults.Injection
	fault    faults.Fault
	mates    []string // On[0] and, if the fault strikes a process, all clients in it
	targets  []string // mates, and the rest of On
	id       int
	started  bool
	starting bool // it is taking effect
	leads    bool // it is taking effect for all faults that share its state
	ended    bool
	undone   bool // the effect is undone
	offered  bool // a step begins it, and may end it; see offer

	// If it is offered:
	injector *injector
	twin     *injection // the equal one before it in the list; nil: none
	nth      int        // its number among the equal ones, from 1
}

func (it *injection) ends() bool { return it.fault.Heal != nil && it.For > 0 }

// stays reports whether it lasts to the end of the run, and so has no recorded end.
func (it *injection) stays() bool { return it.fault.Heal != nil && it.For == 0 }

// takesTime reports whether the fault takes effect gradually in real time. Faults on
// clients act at once, and may end a client's script before they return.
func (it *injection) takesTime() bool { return it.fault.On != faults.OnClient }

// schedule arms the faults of a plan.
func (j *injector) schedule(list []faults.Injection) {
	j.changed.L = &j.mu
	j.injections = slices.Grow(j.injections, len(list))[:len(list)]
	for i, in := range list {
		f, _ := faults.Find(in.Fault)
		it := &j.injections[i]
		*it = injection{Injection: in, fault: f, id: i + 1, mates: in.On[:1], targets: in.On}
		if mates := j.rec.mates(in.On[0]); len(mates) > 1 && !f.Alone {
			it.mates, it.targets = mates, slices.Concat(mates, in.On[1:])
		}
	}
	if e, ok := j.rec.environment.(env.OneShot); ok {
		e.WhenStruck(func(id int) {
			if it := &j.injections[id-1]; it.ends() {
				j.heal(it)
			}
		})
	}
	for i, in := range list { // the first may strike now, and looks at all of them
		it := &j.injections[i]
		switch {
		case in.Point == nil && j.rec.ordered():
			j.offer(j.rec.environment.(env.Ordering), i)
		case in.Point != nil:
			if c := j.rec.processes[in.Point.Client]; c != nil {
				c.armed = append(c.armed, it)
			}
		default:
			j.rec.environment.After(in.At, func() { j.start(it, "") })
		}
	}
}

// reach starts the faults that wait for the point that a client has reached.
func (j *injector) reach(c *client, reached faults.Point) {
	if len(c.armed) == 0 {
		return
	}
	steps := 1 // of an access to the resource
	switch reached.Op {
	case history.Acquire:
		steps = j.lock.Steps.Acquire
	case history.Release:
		steps = j.lock.Steps.Release
	}
	for _, it := range c.armed {
		if it.Point.At(reached, steps) {
			j.start(it, reached.String()) // start ignores a second call
		}
	}
}

// start starts a fault. The line comes first: no effect of the fault precedes it in the
// history. A second line follows when the effect is certain. If the fault waits for
// replicas, the client at its point goes on meanwhile: its operation has a limit.
func (j *injector) start(it *injection, point string) {
	j.mu.Lock()
	for !j.stopped && !it.started && j.waitsForReplicas(it) {
		if point != "" {
			j.mu.Unlock()
			j.rec.environment.Go(func() { j.start(it, "") })
			return
		}
		j.changed.Wait()
	}
	if it.started || j.stopped {
		j.mu.Unlock()
		return
	}
	it.started, it.starting = true, it.takesTime() || it.fault.Ends
	ends := it.ends()
	if ends {
		j.active++
	} else {
		j.lastEnd = j.rec.environment.Now()
	}
	j.mu.Unlock()

	before := j.rec.count()
	e := j.entry(it, it.Fault)
	e.Point, e.Amount = point, it.Amount
	if it.Direction != faults.Both {
		e.Text = it.Direction.String()
	}
	if it.fault.Ends {
		j.rec.kill(it.mates, &e)
	} else {
		j.rec.add(&e)
	}
	var err error
	if j.share(it, 1) == 1 {
		if err = it.fault.Start(j.rec.environment, it.id, it.Injection); err != nil {
			j.fail(err, before)
		}
	} else {
		j.await(it)
	}
	if err == nil {
		j.confirm(j.entry(it, it.Fault))
	}
	j.mu.Lock()
	it.starting, it.leads = false, false
	j.changed.Broadcast()
	j.mu.Unlock()
	if ends && !it.offered {
		j.rec.environment.After(it.For, func() { j.heal(it) })
	}
	if it.stays() {
		j.rec.endIfDone()
	}
}

// heal ends a fault, with a line before and one when the end is certain. Without real
// time there is one line. For a link it comes after the effect, because only then the
// number of touched messages is known.
func (j *injector) heal(it *injection) {
	j.mu.Lock()
	for it.starting { // a fault must begin before it can end
		j.changed.Wait()
	}
	if !it.started || it.ended || it.fault.Heal == nil {
		j.mu.Unlock()
		return
	}
	it.ended = true
	if it.takesTime() {
		j.healing++
	}
	j.mu.Unlock()

	before := j.rec.count()
	e := j.entry(it, it.Fault+history.EndSuffix)
	stays := it.stays()
	later := j.instant && it.fault.On == faults.OnLink
	if !later && !stays {
		j.rec.add(&e)
	}
	hits := -1
	var err error
	if j.share(it, -1) == 0 {
		if hits, err = it.fault.Heal(j.rec.environment, it.id, it.Injection); err != nil {
			j.fail(err, before)
		}
	}
	if it.fault.On == faults.OnLink {
		e.Hits = history.Some(int64(hits))
	}
	if later && !stays {
		j.rec.add(&e)
	} else if !stays && err == nil {
		j.confirm(e)
	}

	j.mu.Lock()
	if !stays {
		j.active--
		j.lastEnd = j.rec.environment.Now()
	}
	if it.takesTime() {
		j.healing--
	}
	it.undone = true
	j.changed.Broadcast()
	j.mu.Unlock()
}

// waitsForReplicas reports whether a fault of the same kind has struck servers that are
// not back yet. They must take over now: without a majority no server does. That takes
// time only in real time.
func (j *injector) waitsForReplicas(it *injection) bool {
	return !j.instant && it.fault.Need == faults.NeedReplicas && slices.ContainsFunc(j.injections, func(o injection) bool {
		return o.fault.Name == it.fault.Name && o.started && o.ends() && !o.undone
	})
}

// confirm records that the effect of e is certain, where effects take time.
func (j *injector) confirm(e history.Entry) {
	if !j.instant {
		e.F += history.DoneSuffix
		j.rec.add(&e)
	}
}

// share counts the faults in force that share their state, and returns the new number:
// see faults.Fault.Shares.
func (j *injector) share(it *injection, add int) int {
	if it.fault.Shares == "" {
		return max(add, 0)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.inForce == nil {
		j.inForce = map[shared]int{}
	}
	key := it.shares()
	j.inForce[key] += add
	it.leads = !j.instant && add > 0 && j.inForce[key] == 1
	return j.inForce[key]
}

func (it *injection) shares() shared { return shared{it.fault.Shares, it.mates[0]} }

// await waits until the fault that acts for this one has taken effect.
func (j *injector) await(it *injection) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for slices.ContainsFunc(j.injections, func(o injection) bool { return o.leads && o.shares() == it.shares() }) {
		j.changed.Wait()
	}
}

func (j *injector) entry(it *injection, f string) history.Entry {
	return history.Entry{
		Process: history.Process{Name: history.Nemesis}, Type: history.Info,
		F: f, ID: it.id, On: it.targets,
	}
}

// stop prevents further faults and heals those in force that have an end. It returns
// when all have ended, so that the record has their last lines.
func (j *injector) stop() {
	j.mu.Lock()
	j.stopped = true
	j.changed.Broadcast()
	j.mu.Unlock()
	for i := range j.injections {
		if it := &j.injections[i]; !it.stays() {
			j.heal(it)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.healing > 0 {
		j.changed.Wait()
	}
}

// release heals the faults that stay, after the end of the record.
func (j *injector) release() {
	for i := range j.injections {
		j.heal(&j.injections[i])
	}
}

// stuck reports whether a client stands still until the end of the run.
func (j *injector) stuck(c *client) bool {
	return j.struck(c, func(it *injection) bool { return it.stays() && it.fault.Stops }) > 0
}

// kills returns how often a client was killed, by faults after which it can start again.
func (j *injector) kills(c *client) int {
	return j.struck(c, func(it *injection) bool { return it.fault.Restarts })
}

// idle reports whether all faults that have struck a client itself are over.
func (j *injector) idle(c *client) bool {
	return j.struck(c, func(it *injection) bool { return it.starting || it.ends() && !it.undone }) == 0
}

// struck counts those faults that have struck a client itself.
func (j *injector) struck(c *client, those func(*injection) bool) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.injections {
		it := &j.injections[i]
		if it.started && it.fault.On == faults.OnClient && slices.Contains(it.mates, c.name) && those(it) {
			n++
		}
	}
	return n
}

// healed returns when the last fault ended, and true if no fault that will end is in
// force.
func (j *injector) healed() (time.Duration, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lastEnd, j.active == 0
}

// fail keeps the first error, and how many entries preceded the failed call.
func (j *injector) fail(err error, before int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err, j.intact = err, before
	}
	j.intact = min(j.intact, before)
}
