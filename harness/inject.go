package harness

import (
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// injector lets faults strike at their times and points, and heals them.
type injector struct {
	rec  *recorder
	lock catalogue.Lock // under test

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
	ended   bool
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
		switch {
		case in.Point == nil && j.rec.ordered():
			j.offer(j.rec.place.(offering), i)
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
// brings about stands before it in the history.
func (j *injector) start(it *injection, point string) {
	j.mu.Lock()
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
	if j.share(it, 1) == 1 {
		if err := it.fault.Start(j.rec.place, it.id, it.Injection); err != nil {
			j.fail(err, before)
		}
	}
	j.mu.Lock()
	it.begins = false
	j.turn.Broadcast()
	j.mu.Unlock()
	if ends && !it.offered {
		j.rec.place.After(it.For, func() { j.heal(it) })
	}
	if it.stays() {
		j.rec.maybeOver()
	}
}

// heal ends a fault. A disturbed link says only then how many messages it
// touched, and servers that take their time are back only then; every other
// fault has its line before its effect.
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
	later := it.fault.On == faults.OnLink || it.fault.On != faults.OnClient && j.settles()
	if !later && !stays {
		j.rec.add(&e)
	}
	hits := -1
	if j.share(it, -1) == 0 {
		var err error
		if hits, err = it.fault.Heal(j.rec.place, it.id, it.Injection); err != nil {
			j.fail(err, before)
		}
	}
	if it.fault.On == faults.OnLink {
		e.Hits = history.Some(int64(hits))
	}
	if later && !stays {
		j.rec.add(&e)
	}

	j.mu.Lock()
	if !stays {
		j.active--
		j.lastEnd = j.rec.place.Now()
	}
	if it.takesTime() {
		j.healing--
		j.turn.Broadcast()
	}
	j.mu.Unlock()
}

// settler is a place whose servers have to find one another again after a fault:
// to heal it takes until they have, if they can.
type settler interface{ Settles() bool }

func (j *injector) settles() bool {
	s, ok := j.rec.place.(settler)
	return ok && s.Settles()
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
	key := shared{it.fault.Shares, it.mates[0]}
	j.inForce[key] += add
	return j.inForce[key]
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
