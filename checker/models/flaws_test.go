package models

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// flaw is a possible mistake of a direct check: it changes the check's input.
type flaw struct {
	name string
	of   func(Model) bool
	make func(*object)
}

var (
	anyHolding    = func(m Model) bool { return m.kind == holding }
	anyRegister   = func(m Model) bool { return m.kind == register }
	plainRegister = func(m Model) bool { return m.kind == register && !m.rule.fenced }
	tokens        = func(m Model) bool { return m.rule.tokens }
	only          = func(name string) func(Model) bool { return func(m Model) bool { return m.Name == name } }
)

func eachHold(change func(*hold)) func(*object) {
	return func(o *object) {
		for i := range o.holds {
			change(&o.holds[i])
		}
	}
}

func eachEvent(change func(*event)) func(*object) {
	return func(o *object) {
		for i := range o.events {
			change(&o.events[i])
		}
	}
}

func eachAccess(change func(*access)) func(*object) {
	return func(o *object) {
		for i := range o.accesses {
			change(&o.accesses[i])
		}
	}
}

var flaws = []flaw{
	{"a hold ends at its release's completion", anyHolding, eachHold(func(h *hold) {
		if h.gone != never {
			h.end = h.gone
		}
	})},
	{"a hold begins at its acquire's invoke", anyHolding, eachHold(func(h *hold) {
		if h.presupposed() {
			h.ret = h.call
		}
	})},
	{"an acquire without an answer holds", anyHolding, eachHold(func(h *hold) { h.ret = min(h.ret, h.call+1) })},
	{"what was never released is not held", anyHolding, eachHold(func(h *hold) {
		if h.end == never && h.presupposed() {
			h.end = h.ret + 1
		}
	})},
	{"a release without a hold is fine", anyHolding, func(o *object) { o.strays = nil }},
	{"tokens are not compared", tokens, eachHold(func(h *hold) { h.token = 0 })},
	{"an unknown token is a small one", tokens, eachHold(func(h *hold) {
		if h.token == 0 && h.presupposed() {
			h.token = 1
		}
	})},
	{"equal tokens are in order", tokens, eachHold(func(h *hold) {
		if h.token != 0 {
			h.token = h.token*1000 + uint64(h.ret)
		}
	})},
	{"the limit is not counted", only("reentrant-mutex"), func(o *object) { o.model.N = 0 }},
	{"nobody may acquire again", func(m Model) bool { return m.rule.reentrant }, func(o *object) { o.model.rule.reentrant = false }},
	{"readers exclude each other", only("rw-mutex"), func(o *object) { o.model.rule.shared = false }},
	{"writers share", only("rw-mutex"), eachHold(func(h *hold) { h.shared = true })},
	{"one permit too many", only("semaphore"), func(o *object) { o.model.N++ }},
	{"one permit too few", only("semaphore"), func(o *object) { o.model.N-- }},
	{"the queue does not matter", only("fifo-mutex"), func(o *object) { o.model.rule.fifo = false }},
	{"the queue is joined when asked for", only("fifo-mutex"), eachHold(func(h *hold) {
		if h.queued != none {
			h.queued = h.call
		}
	})},
	{"leases do not end", only("lease"), eachHold(func(h *hold) {
		if h.gone == never {
			h.end = never
		}
	})},
	{"leases end a line later", only("lease"), eachHold(func(h *hold) {
		if h.end != never && h.gone == never {
			h.end += 3
		}
	})},
	{"what has no answer did not happen", only("mutex"), func(o *object) {
		o.events = slices.DeleteFunc(o.events, func(e event) bool { return e.ret == never })
	}},
	{"what has no answer happened", only("mutex"), eachEvent(func(e *event) { e.ret = min(e.ret, e.call+6) })},
	{"an operation takes effect when it is asked for", only("mutex"), eachEvent(func(e *event) {
		if e.ret != never {
			e.ret = e.call + 1
		}
	})},
	{"releases need not find it held", only("mutex"), func(o *object) {
		o.events = slices.DeleteFunc(o.events, func(e event) bool { return e.release })
	}},
	{"reads are not compared", anyRegister, eachAccess(func(a *access) { a.known = a.known && a.what != read })},
	{"an access takes effect when it is asked for", anyRegister, eachAccess(func(a *access) {
		if a.ret != never {
			a.ret = a.call
		}
	})},
	{"writes without an answer happened", plainRegister, eachAccess(func(a *access) { a.ret = min(a.ret, a.call+2) })},
	{"refusals are not looked at", only("fenced-register"), func(o *object) {
		o.accesses = slices.DeleteFunc(o.accesses, func(a access) bool { return a.what == refuse })
	}},
	{"refusals count as reads", only("fenced-register"), eachAccess(func(a *access) {
		if a.what == refuse {
			a.what = read
		}
	})},
}

// spoiled returns o with a flaw in it.
func (f *flaw) spoiled(o *object) *object {
	a, s := *o.account, *o
	s.account = &a
	s.holds, s.strays, s.refused = slices.Clone(o.holds), slices.Clone(o.strays), slices.Clone(o.refused)
	s.events, s.accesses = slices.Clone(o.events), slices.Clone(o.accesses)
	f.make(&s)
	return &s
}

// A direct check with any of the flaws soon disagrees with Porcupine.
func TestTheComparisonCatchesFlaws(t *testing.T) {
	t.Parallel()
	for _, m := range someModels() {
		var list []*flaw
		for i := range flaws {
			if flaws[i].of(m) {
				list = append(list, &flaws[i])
			}
		}
		if len(list) < 3 {
			t.Errorf("%s has %d flaws, want 3", m.Name, len(list))
		}
		for _, f := range list {
			t.Run(m.Name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				if n := f.caught(m); n == 0 {
					t.Error("nobody noticed")
				}
			})
		}
	}
}

// caught returns after how many histories the flaw shows, or 0 if it never does.
func (f *flaw) caught(m Model) int {
	any := rapid.Custom(func(t *rapid.T) []history.Entry { return anyHistory(t, m, Options{}) })
	b := newBudget(context.Background(), Options{})
	for n := 1; n <= 10_000; n++ {
		_, objects := gathered(m, Options{}, any.Example(n))
		for _, o := range objects {
			said := f.spoiled(o).direct().outcome
			if said == checker.Unknown || said == o.direct().outcome {
				continue
			}
			if whole, _ := b.search(o, o.operations(0, never), state{}, confirmSteps); whole != checker.Unknown && whole != said {
				return n
			}
		}
	}
	return 0
}
