package harness

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// offer lets fault i strike, and end, whenever its step is taken.
func (j *injector) offer(place env.Ordering, i int) {
	it := &j.injections[i]
	it.offered = true
	twin, nth := j.twin(i)
	name := func(f string) string {
		f += " " + strings.Join(it.On, " ")
		if it.Direction != faults.Both {
			f += " " + it.Direction.String()
		}
		if it.Amount != 0 {
			f += " " + it.Amount.String()
		}
		if nth > 1 {
			f += " #" + strconv.Itoa(nth) // two equal injections need two names
		}
		return f
	}
	tells := it.fault.On != faults.OnClient
	rests := it.fault.On == faults.OnClient && it.fault.Stops && it.ends()
	place.Offer(env.Offer{
		Name: func() string { return name(it.Fault) }, On: it.targets, Begins: true, Tells: tells,
		Open: func() bool {
			return !it.started && !j.stopped && (j.most == 0 || j.strikes < j.most) &&
				(twin == nil || twin.started) && !every(it.mates, j.rec.gone) && !(rests && every(it.mates, place.Idle))
		},
		Do: func() {
			j.strikes++
			j.start(it, "")
		},
	})
	if it.ends() {
		place.Offer(env.Offer{
			Name: func() string { return name(it.Fault + history.EndSuffix) }, On: it.targets, Tells: tells,
			Open: func() bool { return it.started && !it.ended },
			Do:   func() { j.heal(it) },
		})
	}
}

func every(names []string, is func(string) bool) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !is(name) })
}

// gone reports whether name is a client that does nothing more.
func (r *recorder) gone(name string) bool {
	c := r.processes[name]
	return c != nil && (c.done || c.killed())
}

// twin returns the last equal fault earlier in the list, and the number of equal ones
// up to i: the order of equal faults has no effect.
func (j *injector) twin(i int) (before *injection, nth int) {
	nth = 1
	for k := range i {
		if same(&j.injections[k].Injection, &j.injections[i].Injection) {
			before = &j.injections[k]
			nth++
		}
	}
	return before, nth
}

func same(a, b *faults.Injection) bool {
	return a.Fault == b.Fault && slices.Equal(a.On, b.On) &&
		a.For == b.For && a.Amount == b.Amount && a.Direction == b.Direction
}
