package harness

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// injector lets faults strike at their times and points, and heals them.
type injector struct {
	rec   *recorder
	steps catalogue.Requests // of the lock's operations

	mu         mutex
	injections []injection
	active     int            // faults that are in force and will end
	inForce    map[string]int // by what they do to whom: faults that ask for the same
	lastEnd    time.Duration  // when something last healed, or began for good
	stopped    bool
	most       int   // how many of the offered faults may strike; 0: all
	struck     int   // of them, so far
	err        error // the first that a place answered
}

type injection struct {
	faults.Injection
	fault   faults.Fault
	id      int
	started bool
	ended   bool
	offered bool // a step begins it, and may end it; see offer
}

func (it *injection) ends() bool { return it.fault.Heal != nil && it.For > 0 }

// schedule arms the faults of a plan.
func (j *injector) schedule(list []faults.Injection) {
	j.injections = slices.Grow(j.injections, len(list))[:len(list)]
	for i, in := range list {
		f, _ := faults.Find(in.Fault)
		it := &j.injections[i]
		*it = injection{Injection: in, fault: f, id: i + 1}
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
		steps = j.steps.Acquire
	case history.Release:
		steps = j.steps.Release
	}
	for _, it := range c.armed {
		if !it.started && it.Point.At(reached, steps) {
			j.start(it, reached.String())
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
	it.started = true
	ends := it.ends()
	if ends {
		j.active++
	} else {
		j.lastEnd = j.rec.place.Now()
	}
	j.mu.Unlock()

	e := j.entry(it, it.Fault)
	e.Point, e.Amount = point, it.Amount
	if it.Direction != faults.Both {
		e.Text = it.Direction.String()
	}
	if c := j.rec.processes[it.On[0]]; c != nil && it.fault.Heal == nil && it.fault.On == faults.OnClient {
		j.rec.kill(c, &e)
	} else {
		j.rec.add(&e)
	}
	if j.share(it, 1) == 1 {
		if err := it.fault.Start(j.rec.place, it.id, it.Injection); err != nil {
			j.fail(err)
		}
	}
	if ends && !it.offered {
		j.rec.place.After(it.For, func() { j.heal(it) })
	}
}

// heal ends a fault. A disturbed link says only then how many messages it
// touched; every other fault has its line before its effect.
func (j *injector) heal(it *injection) {
	j.mu.Lock()
	if !it.started || it.ended || it.fault.Heal == nil {
		j.mu.Unlock()
		return
	}
	it.ended = true
	j.mu.Unlock()

	e := j.entry(it, it.Fault+history.EndSuffix)
	stays := it.For == 0 // to the end of the run: it has no end that anybody lives to see
	if it.fault.On != faults.OnLink && !stays {
		j.rec.add(&e)
	}
	hits := -1
	if j.share(it, -1) == 0 {
		var err error
		if hits, err = it.fault.Heal(j.rec.place, it.id, it.Injection); err != nil {
			j.fail(err)
		}
	}
	if it.fault.On == faults.OnLink && !stays {
		e.Hits = history.Some(int64(hits))
		j.rec.add(&e)
	}

	j.mu.Lock()
	if !stays {
		j.active--
		j.lastEnd = j.rec.place.Now()
	}
	j.mu.Unlock()
}

// share counts the faults that keep a client or a server down, and returns how
// many there are now: the first brings it down, and only the last lets it go
// on. Disturbances of links are each on their own.
func (j *injector) share(it *injection, add int) int {
	if it.fault.On == faults.OnLink || it.fault.Heal == nil {
		return max(add, 0)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.inForce == nil {
		j.inForce = map[string]int{}
	}
	j.inForce[it.On[0]] += add
	return j.inForce[it.On[0]]
}

func (j *injector) entry(it *injection, f string) history.Entry {
	return history.Entry{
		Process: history.Process{Name: history.Nemesis}, Type: history.Info,
		F: f, ID: it.id, On: it.On,
	}
}

// stop heals what is still in force, and lets nothing start any more.
func (j *injector) stop() {
	j.mu.Lock()
	j.stopped = true
	j.mu.Unlock()
	for i := range j.injections {
		j.heal(&j.injections[i])
	}
}

// healed is when the last fault ended, and whether none is in force that will.
func (j *injector) healed() (time.Duration, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lastEnd, j.active == 0
}

func (j *injector) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
}
