package harness

import (
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// injector lets faults strike at their times and points, and heals them.
type injector struct {
	rec     *recorder
	lock    catalogue.Lock // under test
	instant bool           // no time passes between a fault's line and its effect

	mu         mutex
	injections []injection
	active     int            // faults that are in force and will end
	inForce    map[shared]int // by what they share
	lastEnd    time.Duration  // when something last healed, or began for good
	stopped    bool
	turn       sync.Cond // when one of those has changed that take their time
	healing    int       // of servers and links, that take their time
	most       int       // how many of the offered faults may strike; 0: all
	struck     int       // of them, so far
	err        error     // the first that a place answered
	whole      int       // entries that there were before it was asked for what it could not do
}

// shared is what faults on one host have in common.
type shared struct{ what, host string }

type injection struct {
	faults.Injection
	fault   faults.Fault
	mates   []string // On[0] and, if it strikes a process, all that share that with it
	struck  []string // On, with those
	id      int
	started bool
	begins  bool // and takes its time
	acts    bool // it begins, and others that share something with it do not act themselves
	ended   bool
	back    bool // what it struck is as before
	offered bool // a step begins it, and may end it; see offer
}

func (it *injection) ends() bool { return it.fault.Heal != nil && it.For > 0 }

// stays tells whether it lasts to the end of the run, so that it has no end
// that anybody lives to see.
func (it *injection) stays() bool { return it.fault.Heal != nil && it.For == 0 }

// takesTime tells of faults that take effect by and by, where time is real. A
// client's are at once, and may end its script before they return.
func (it *injection) takesTime() bool { return it.fault.On != faults.OnClient }

// schedule arms the faults of a plan.
func (j *injector) schedule(list []faults.Injection) {
	j.turn.L = &j.mu
	j.injections = slices.Grow(j.injections, len(list))[:len(list)]
	for i, in := range list {
		f, _ := faults.Find(in.Fault)
		it := &j.injections[i]
		*it = injection{Injection: in, fault: f, id: i + 1, mates: in.On[:1], struck: in.On}
		if mates := j.rec.mates(in.On[0]); len(mates) > 1 && !f.Alone {
			it.mates, it.struck = mates, slices.Concat(mates, in.On[1:])
		}
	}
	for i, in := range list { // the first may strike now, and looks at all of them
		it := &j.injections[i]
		switch {
		case in.Point == nil && j.rec.ordered():
			j.offer(j.rec.place.(env.Ordering), i)
		case in.Point != nil:
			if c := j.rec.processes[in.Point.Client]; c != nil {
				c.armed = append(c.armed, it)
			}
		default:
			j.rec.place.After(in.At, func() { j.start(it, "") })
		}
	}
}

// point lets strike what waits for the point that a client has reached.
func (j *injector) point(c *client, reached faults.Point) {
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
			j.start(it, reached.String()) // once
		}
	}
}

// start lets a fault strike. The line comes first: nothing that a fault
// brings about stands before it in the history. A second one follows when the
// effect is certain.
func (j *injector) start(it *injection, point string) {
	j.mu.Lock()
	for !j.stopped && !it.started && j.replacing(it) {
		j.turn.Wait()
	}
	if it.started || j.stopped {
		j.mu.Unlock()
		return
	}
	it.started, it.begins = true, it.takesTime()
	ends := it.ends()
	if ends {
		j.active++
	} else {
		j.lastEnd = j.rec.place.Now()
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
		if err = it.fault.Start(j.rec.place, it.id, it.Injection); err != nil {
			j.fail(err, before)
		}
	} else {
		j.await(it)
	}
	if err == nil {
		j.certain(j.entry(it, it.Fault))
	}
	j.mu.Lock()
	it.begins, it.acts = false, false
	j.turn.Broadcast()
	j.mu.Unlock()
	if ends && !it.offered {
		j.rec.place.After(it.For, func() { j.heal(it) })
	}
	if it.stays() {
		j.rec.maybeOver()
	}
}

// heal ends a fault, with a line before and one when that is certain. Where
// nothing takes time there is one line. It comes after the effect only for a
// disturbed link, which says only then how many messages it touched.
func (j *injector) heal(it *injection) {
	j.mu.Lock()
	for it.begins { // what is not there yet cannot be ended
		j.turn.Wait()
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
		if hits, err = it.fault.Heal(j.rec.place, it.id, it.Injection); err != nil {
			j.fail(err, before)
		}
	}
	if it.fault.On == faults.OnLink {
		e.Hits = history.Some(int64(hits))
	}
	if later && !stays {
		j.rec.add(&e)
	} else if !stays && err == nil {
		j.certain(e)
	}

	j.mu.Lock()
	if !stays {
		j.active--
		j.lastEnd = j.rec.place.Now()
	}
	if it.takesTime() {
		j.healing--
	}
	it.back = true
	j.turn.Broadcast()
	j.mu.Unlock()
}

// replacing reports whether a fault of the same kind has struck servers that are not
// back yet, and that have to take over now: without a majority nobody does. That takes
// time only where time is real.
func (j *injector) replacing(it *injection) bool {
	return !j.instant && it.fault.Need == faults.NeedReplicas && slices.ContainsFunc(j.injections, func(o injection) bool {
		return o.fault.Name == it.fault.Name && o.started && o.ends() && !o.back
	})
}

// certain writes that what e announced has happened, where that takes time.
func (j *injector) certain(e history.Entry) {
	if !j.instant {
		e.F += history.DoneSuffix
		j.rec.add(&e)
	}
}

// share counts the faults in force on one host that share something, and
// returns how many there are now: see faults.Fault.
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
	it.acts = !j.instant && add > 0 && j.inForce[key] == 1
	return j.inForce[key]
}

func (it *injection) shares() shared { return shared{it.fault.Shares, it.mates[0]} }

// await waits until the fault that acts for it, too, has had its effect.
func (j *injector) await(it *injection) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for slices.ContainsFunc(j.injections, func(o injection) bool { return o.acts && o.shares() == it.shares() }) {
		j.turn.Wait()
	}
}

func (j *injector) entry(it *injection, f string) history.Entry {
	return history.Entry{
		Process: history.Process{Name: history.Nemesis}, Type: history.Info,
		F: f, ID: it.id, On: it.struck,
	}
}

// stop heals what is still in force and has an end, and lets nothing start any
// more. It returns when all of it has ended, whoever ended it: the lines of that
// belong to the record.
func (j *injector) stop() {
	j.mu.Lock()
	j.stopped = true
	j.turn.Broadcast()
	j.mu.Unlock()
	for i := range j.injections {
		if it := &j.injections[i]; !it.stays() {
			j.heal(it)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.healing > 0 {
		j.turn.Wait()
	}
}

// release heals what was to stay, when nobody looks any more.
func (j *injector) release() {
	for i := range j.injections {
		j.heal(&j.injections[i])
	}
}

// stuck tells whether a client stands still for as long as the run lasts.
func (j *injector) stuck(c *client) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.injections {
		it := &j.injections[i]
		if it.started && it.stays() && it.fault.On == faults.OnClient && it.fault.Stops && slices.Contains(it.mates, c.name) {
			return true
		}
	}
	return false
}

// healed is when the last fault ended, and whether none is in force that will.
func (j *injector) healed() (time.Duration, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lastEnd, j.active == 0
}

// fail keeps the first error, and how many entries there were before the place
// was asked for what it could not do.
func (j *injector) fail(err error, before int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err, j.whole = err, before
	}
	j.whole = min(j.whole, before)
}
