package models

import (
	"context"
	"fmt"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/checker"
)

// budget is the time and memory that Porcupine may use.
type budget struct {
	ctx    context.Context
	until  time.Time     // zero: no limit
	spare  time.Duration // for locks that the direct judge found valid
	limits Options
}

func newBudget(ctx context.Context, o Options) *budget {
	b := &budget{ctx: ctx, spare: confirmTime, limits: o}
	if o.Timeout > 0 {
		b.until = time.Now().Add(o.Timeout)
	}
	return b
}

// shorten leaves at most d for all remaining searches.
func (b *budget) shorten(d time.Duration) {
	if until := time.Now().Add(d); b.until.IsZero() || until.Before(b.until) {
		b.until = until
	}
}

// within returns the same budget, limited to d.
func (b *budget) within(d time.Duration) *budget {
	c := *b
	c.shorten(d)
	return &c
}

// quick searches for a short time.
func (b *budget) quick(o *object, list []operation, start state) checker.Outcome {
	out, _ := b.search(o, list, start, confirmTime)
	return out
}

// search asks Porcupine whether the operations have an order. It stops after limit,
// if that is not 0, or when the budget ends.
func (b *budget) search(o *object, list []operation, start state, limit time.Duration) (checker.Outcome, string) {
	if !b.until.IsZero() {
		left := time.Until(b.until)
		if left <= 0 {
			return checker.Unknown, b.outOfTime()
		}
		if limit == 0 || left < limit {
			limit = left
		}
	}
	var stop atomic.Bool
	var why atomic.Pointer[string]
	done := make(chan struct{})
	defer close(done)
	go b.watch(done, func(reason string) { why.Store(&reason); stop.Store(true) })
	m := o.spec(start)
	step := m.Step
	m.Step = func(s, in, out any) (bool, any) {
		if stop.Load() { // the search ends quickly, and its result is not used
			return false, s
		}
		return step(s, in, out)
	}
	result := porcupine.CheckOperationsTimeout(m, o.history(list), limit)
	if r := why.Load(); r != nil {
		return checker.Unknown, *r
	}
	switch result {
	case porcupine.Ok:
		return checker.Valid, ""
	case porcupine.Illegal:
		return checker.Violated, ""
	default:
		return checker.Unknown, b.outOfTime()
	}
}

func (b *budget) outOfTime() string { return OutOfTime(b.limits.Timeout) }

// OutOfTime returns the reason for a missing verdict after that time.
func OutOfTime(d time.Duration) string { return fmt.Sprintf("had no answer after %s", d) }

// watch stops a search when ctx ends or memory runs out.
func (b *budget) watch(done <-chan struct{}, stop func(reason string)) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-b.ctx.Done():
			stop("was interrupted")
			return
		case <-tick.C:
			if b.limits.Memory > 0 && used() > uint64(b.limits.Memory) {
				stop("needed more than " + megabytes(b.limits.Memory) + " of memory")
				return
			}
		}
	}
}

// megabytes formats a number of bytes in the unit that users type.
func megabytes(n int64) string {
	switch {
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%1e6 == 0:
		return fmt.Sprintf("%d MB", n/1e6)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// used returns the bytes of the program's objects, including garbage that was not
// collected yet.
func used() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// decide leaves the decision to Porcupine, piece by piece. reason says why.
func (o *object) decide(b *budget, reason string) finding {
	pieces := []piece{{start: o.start(), own: o.operations(0, never)}}
	if !b.limits.Whole {
		pieces = o.cut()
	}
	open, why, decided := piece{}, "", 0
	for _, p := range pieces {
		out, reason := b.search(o, p.ops(), p.start, 0)
		switch out {
		case checker.Violated:
			return o.reduce(b, p)
		case checker.Unknown:
			if why == "" {
				open, why = p, reason
			}
		default:
			decided++
		}
	}
	if why == "" {
		return legal
	}
	f := undecided(fmt.Sprintf("%s, so Porcupine had to search for an order of %s, and %s", reason, o.spanOf(open.own), why))
	f.limited = true
	switch n := len(pieces); {
	case n > 1:
		f.reason += fmt.Sprintf("; %d of %d parts in time are decided, and valid", decided, n)
	default:
		f.reason += "; nothing is decided"
	}
	if len(o.j.locks) > 1 {
		f.reason += " of " + o.j.named(o.lock)
	}
	return f
}

// spanOf returns the range of lines of operations, in words.
func (o *object) spanOf(ops []operation) string {
	from, to := never, none
	for _, x := range ops {
		from, to = min(from, x.call), max(to, x.call)
		if x.ret != never && !x.optional {
			to = max(to, x.ret)
		}
	}
	return o.j.span(from, to)
}

// The time limits for making a witness smaller.
const (
	reduceTime = 2 * time.Second
	stepTime   = 100 * time.Millisecond
)

// reduce makes a witness of a piece for which Porcupine found no order. It has as few
// operations as can be found; all others are optional.
func (o *object) reduce(b *budget, p piece) finding {
	until := time.Now().Add(reduceTime)
	ops := slices.Clone(p.ops())
	illegal := func(list []operation) bool {
		if time.Now().After(until) {
			return false
		}
		out, _ := b.search(o, list, p.start, stepTime)
		return out == checker.Violated
	}
	// Operations after the first completion without an explanation are not needed.
	var ends []int32
	for _, x := range ops {
		if !x.optional {
			ends = append(ends, x.ret)
		}
	}
	slices.Sort(ends)
	before := func(end int32) (list []operation) {
		for _, x := range ops {
			if x.call >= end || !x.optional && x.ret > end && !o.relax(&x) {
				continue
			}
			list = append(list, x)
		}
		return list
	}
	low, high := 0, len(ends)-1
	for low < high {
		if mid := (low + high) / 2; illegal(before(ends[mid] + 1)) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if len(ends) > 0 {
		if list := before(ends[high] + 1); illegal(list) {
			ops = list
		}
	}
	for size := (len(ops) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(ops); at += size {
			var list []operation
			fewer := false
			for k, x := range ops {
				if k >= at && k < at+size && !x.optional {
					fewer = true
					if !o.relax(&x) {
						continue
					}
				}
				list = append(list, x)
			}
			if fewer && illegal(list) {
				if len(list) < len(ops) {
					at -= size
				}
				ops = list
			}
		}
	}
	facts := slices.Clone(p.after)
	for _, x := range ops {
		if !x.optional {
			at := []int32{x.call}
			if x.ret != x.call {
				at = append(at, x.ret)
			}
			facts = append(facts, fact{x.opID, at})
		}
	}
	f := finding{outcome: checker.Violated, facts: facts, sentence: o.noOrder(facts)}
	f.absence = true
	if p.after == nil {
		f.start = p.start
	}
	return f
}

// list joins the first few phrases.
func list(said []string) string {
	const few = 5
	if n := len(said); n > few {
		return fmt.Sprintf("%s; and %d more", strings.Join(said[:few], "; "), n-few)
	}
	return strings.Join(said, "; ")
}

// tell returns an operation as words for a sentence.
func (o *object) tell(x opID, from, to int32) string {
	if x.kind == accessOp {
		return (&chains{object: o, list: o.accesses}).doing(x.n)
	}
	return fmt.Sprintf("%s: %s (%s)", o.j.who(o.procOf(x)), o.describe(input{opID: x}), o.j.span(from, to))
}

// procOf returns the process of an operation.
func (o *object) procOf(x opID) int32 {
	switch x.kind {
	case strayOp:
		return o.strays[x.n].proc
	case refusedOp:
		return o.refused[x.n].proc
	case eventOp:
		return o.events[x.n].proc
	case accessOp:
		return o.accesses[x.n].proc
	case lossOp:
		return o.j.losses[x.n].proc
	default:
		return o.holds[x.n].proc
	}
}
