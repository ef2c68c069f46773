package harness

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// offer lets fault i strike whenever its step is taken, and end likewise.
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
			f += " #" + strconv.Itoa(nth) // not one name for two that may do different things
		}
		return f
	}
	tells := it.fault.On != faults.OnClient
	rests := it.fault.On == faults.OnClient && it.fault.Stops && it.ends()
	place.Offer(env.Offer{
		Name: func() string { return name(it.Fault) }, On: it.struck, Begins: true, Tells: tells,
		Open: func() bool {
			return !it.started && !j.stopped && (j.most == 0 || j.struck < j.most) &&
				(twin == nil || twin.started) && !every(it.mates, j.rec.gone) && !(rests && every(it.mates, place.Idle))
		},
		Do: func() {
			j.struck++
			j.start(it, "")
		},
	})
	if it.ends() {
		place.Offer(env.Offer{
			Name: func() string { return name(it.Fault + history.EndSuffix) }, On: it.struck, Tells: tells,
			Open: func() bool { return it.started && !it.ended },
			Do:   func() { j.heal(it) },
		})
	}
}

func every(names []string, is func(string) bool) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !is(name) })
}

// gone tells whether name is a client that does nothing any more.
func (r *recorder) gone(name string) bool {
	c := r.processes[name]
	return c != nil && (c.done || c.killed())
}

// twin is the same fault earlier in the list, the last of them, and how many
// there are with this one: which of two equal ones strikes first means nothing.
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
