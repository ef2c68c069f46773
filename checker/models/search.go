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

// budget is what Porcupine may use.
type budget struct {
	ctx    context.Context
	until  time.Time // zero: for ever
	limits Options
}

func newBudget(ctx context.Context, o Options) *budget {
	b := &budget{ctx: ctx, limits: o}
	if o.Timeout > 0 {
		b.until = time.Now().Add(o.Timeout)
	}
	return b
}

// quick searches for a short time.
func (b *budget) quick(o *object, list []operation, start state) checker.Outcome {
	out, _ := b.search(o, list, start, confirmTime)
	return out
}

// search asks Porcupine whether the operations have an order, for as long as
// the budget lasts, and no longer than limit (0: none).
func (b *budget) search(o *object, list []operation, start state, limit time.Duration) (checker.Outcome, string) {
	if !b.until.IsZero() {
		left := time.Until(b.until)
		if left <= 0 {
			return checker.Unknown, fmt.Sprintf("Porcupine did not decide within %s", b.limits.Timeout)
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
		if stop.Load() { // it comes to its end quickly, and what it says is not used
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
		return checker.Unknown, fmt.Sprintf("Porcupine did not decide within %s", b.limits.Timeout)
	}
}

// watch stops a search when ctx ends or memory runs out.
func (b *budget) watch(done <-chan struct{}, stop func(reason string)) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-b.ctx.Done():
			stop("it was interrupted")
			return
		case <-tick.C:
			if b.limits.Memory > 0 && used() > uint64(b.limits.Memory) {
				stop(fmt.Sprintf("Porcupine needs more than %d MiB of memory", b.limits.Memory>>20))
				return
			}
		}
	}
}

// used is how many bytes the program's objects take, dead ones that nobody has
// cleared away included.
func used() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// decide leaves the decision to Porcupine, piece by piece. The reason is why.
func (o *object) decide(b *budget, reason string) finding {
	pieces := []piece{{ops: o.operations(0, never)}}
	if !b.limits.Whole {
		pieces = o.cut()
	}
	unknown := ""
	decided := 0
	for _, p := range pieces {
		out, why := b.search(o, p.ops, p.start, 0)
		switch out {
		case checker.Violated:
			return o.reduce(b, p)
		case checker.Unknown:
			if unknown == "" {
				unknown = fmt.Sprintf("%s (%s, %s)", why, o.j.named(o.lock), o.spanOf(p.ops))
			}
		default:
			decided++
		}
	}
	if unknown == "" {
		return legal
	}
	unknown += "; the direct check does not decide, because " + reason
	if len(pieces) > 1 {
		unknown += fmt.Sprintf("; of %d parts %d are decided and valid", len(pieces), decided)
	}
	return undecided(unknown)
}

// spanOf is from where to where operations go.
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

// How long it may take to make a witness smaller.
const (
	reduceTime = 2 * time.Second
	stepTime   = 100 * time.Millisecond
)

// reduce makes a witness of a piece for which Porcupine found no order: of as
// few operations as can be found, all others being optional.
func (o *object) reduce(b *budget, p piece) finding {
	until := time.Now().Add(reduceTime)
	ops := slices.Clone(p.ops)
	illegal := func(list []operation) bool {
		if time.Now().After(until) {
			return false
		}
		out, _ := b.search(o, list, p.start, stepTime)
		return out == checker.Violated
	}
	// What comes after the first completion that has no explanation is not needed.
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
	f.start, f.absence = p.start, true
	return f
}

// list joins what is said, the first few things of it.
func list(said []string) string {
	const few = 5
	if n := len(said); n > few {
		return fmt.Sprintf("%s; and %d more", strings.Join(said[:few], "; "), n-few)
	}
	return strings.Join(said, "; ")
}

// tell is an operation, for a sentence.
func (o *object) tell(x opID, from, to int32) string {
	if x.kind == accessOp {
		return (&chains{object: o, list: o.accesses}).doing(x.n)
	}
	return fmt.Sprintf("%s: %s (%s)", o.j.who(o.procOf(x)), o.describe(input{opID: x}), o.j.span(from, to))
}

// procOf is the process of an operation.
func (o *object) procOf(x opID) int32 {
	switch x.kind {
	case strayOp:
		return o.strays[x.n].proc
	case refusedOp:
		return o.refused[x.n].proc
	case eventOp:
		return o.events[x.n].proc
	default:
		return o.holds[x.n].proc
	}
}
