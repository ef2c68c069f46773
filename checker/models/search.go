package models

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/checker"
)

// budget is the time and memory that Porcupine may use.
type budget struct {
	ctx    context.Context
	until  time.Time // zero: no limit
	steps  int       // that all searches took
	most   int       // for each search that has to decide; 0: no limit
	spare  int       // steps for locks that the direct judge found valid
	limits Options
}

func newBudget(ctx context.Context, o Options) *budget {
	b := &budget{ctx: ctx, spare: confirmSteps, limits: o}
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

// brief returns the same budget, limited to few steps for each search.
func (b *budget) brief() *budget {
	c := *b
	c.most = confirmSteps
	return &c
}

// quick searches with few steps.
func (b *budget) quick(o *object, list []operation, start state) checker.Outcome {
	out, _ := b.search(o, list, start, confirmSteps)
	return out
}

// search asks Porcupine whether the operations have an order. It stops after that many
// steps, if that is not 0, or when the budget ends.
func (b *budget) search(o *object, list []operation, start state, steps int) (checker.Outcome, string) {
	var left time.Duration
	if !b.until.IsZero() {
		if left = time.Until(b.until); left <= 0 {
			return checker.Unknown, OutOfTime(b.limits.Timeout)
		}
	}
	var stop atomic.Bool
	var why atomic.Pointer[string]
	done := make(chan struct{})
	defer close(done)
	go b.watch(done, func(reason string) { why.Store(&reason); stop.Store(true) })
	m := o.spec(start)
	step := m.StepContext // it has precedence
	if step == nil {
		plain := m.Step
		step = func(_ context.Context, s, in, out any) (bool, any) { return plain(s, in, out) }
	}
	var taken atomic.Int64 // atomic, since after a timeout the search goes on for a moment
	over := func() bool { return steps > 0 && taken.Load() > int64(steps) }
	m.StepContext = func(ctx context.Context, s, in, out any) (bool, any) {
		cost := 1                               // steps
		if all, several := s.([]any); several { // Porcupine compares each next state with all others
			cost = max(1, len(all)*len(all)/10)
		}
		if taken.Add(int64(cost)); over() || stop.Load() { // the search ends quickly, and its result is not used
			return false, s
		}
		return step(ctx, s, in, out)
	}
	result := porcupine.CheckOperationsTimeout(m, o.history(list), left)
	b.steps += int(taken.Load())
	if over() {
		return checker.Unknown, fmt.Sprintf("had no answer after %d steps", steps)
	}
	if r := why.Load(); r != nil {
		return checker.Unknown, *r
	}
	switch result {
	case porcupine.Ok:
		return checker.Valid, ""
	case porcupine.Illegal:
		return checker.Violated, ""
	default:
		return checker.Unknown, OutOfTime(b.limits.Timeout)
	}
}

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
