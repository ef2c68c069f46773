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
func (j *injector) offer(environment env.Ordering, i int) {
	it := &j.injections[i]
	it.offered, it.injector = true, j
	it.twin, it.nth = j.twin(i)
	tells := it.fault.On != faults.OnClient
	environment.Offer(env.Offer{Action: (*strike)(it), On: it.targets, Begins: true, Tells: tells})
	if it.ends() {
		environment.Offer(env.Offer{Action: (*recovery)(it), On: it.targets, Tells: tells})
	}
}

// strike is the step that begins a fault.
type strike injection

func (s *strike) Name() string { return (*injection)(s).step(s.Fault) }

func (s *strike) Open() bool {
	it, j := (*injection)(s), s.injector
	if it.started || j.stopped || j.most > 0 && j.strikes >= j.most || it.twin != nil && !it.twin.started || every(it.mates, j.rec.gone) {
		return false
	}
	rests := it.fault.On == faults.OnClient && it.fault.Stops && it.ends()
	return !rests || !every(it.mates, j.rec.environment.(env.Ordering).Idle)
}

func (s *strike) Do() {
	s.injector.strikes++
	s.injector.start((*injection)(s), "")
}

// recovery is the step that ends a fault.
type recovery injection

func (r *recovery) Name() string { return (*injection)(r).step(r.Fault + history.EndSuffix) }
func (r *recovery) Open() bool   { return r.started && !r.ended }
func (r *recovery) Do()          { r.injector.heal((*injection)(r)) }

// step returns the name of a step of a fault.
func (it *injection) step(f string) string {
	f += " " + strings.Join(it.On, " ")
	if it.Direction != faults.Both {
		f += " " + it.Direction.String()
	}
	if it.Amount != 0 {
		f += " " + it.Amount.String()
	}
	if it.nth > 1 {
		f += " #" + strconv.Itoa(it.nth) // two equal injections need two names
	}
	return f
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
