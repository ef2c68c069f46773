// Package workloads is what clients do with a lock: one critical section after
// another at random, or the steps that a case prescribes.
package workloads

import "time"

// Client is one client as its workload sees it. Time is the harness's, which
// no fault touches. Every operation is recorded.
type Client interface {
	Now() time.Duration
	Sleep(d time.Duration)
	// Rand draws evenly from 0 ≤ x < n; 0 is the least disturbing value.
	Rand(what string, n int64) int64
	// Next begins the client's next critical section.
	Next()

	// Acquire asks once. It waits for at most timeout. Where the answer is Waits
	// the next call waits on, unless Abandon comes first.
	// What it gets is nested in what the client holds already.
	Acquire(timeout time.Duration) Result
	// AcquireUnfair is Acquire out of turn, where the lock knows that.
	AcquireUnfair(timeout time.Duration) Result
	// Abandon ends the wait of an acquire that has answered Waits.
	Abandon() Result
	// Read and Write access the guarded resource; a timeout of 0 is T/4.
	Read(timeout time.Duration) (int64, Result)
	Write(value int64, timeout time.Duration) Result
	// Until returns when the lease of the innermost ends, as the lock said last; 0: the
	// lock does not say.
	Until() time.Duration
	// Release gives back the innermost of what the client holds.
	Release() Result
	// ReleaseName does so by name, and also where the client holds nothing.
	ReleaseName() Result

	// Healed is when the last fault ended, and whether none is left that will end.
	Healed() (time.Duration, bool)
}

// Result of an operation.
type Result uint8

// The results.
const (
	OK      Result = iota
	No             // it did not happen
	Unknown        // it may have happened
	Dead           // the client is dead: it does nothing any more
	Waits          // of an acquire: the lock goes on, and cannot be called off
)

// Shape is what one exploring run differs from another in, beside what goes
// wrong. It decides what can be found at all: a lock whose lease outlasts every
// critical section hides what happens when it does not. What a run draws goes
// evenly up to these values. The zero value is no work at all.
type Shape struct {
	Think   time.Duration `json:"think_ns"`   // before a critical section, at most
	Hold    time.Duration `json:"hold_ns"`    // within one, between its read and its write, at most
	Latency time.Duration `json:"latency_ns"` // of a message, at most; never below the place's own least
}

// Usual is the shape of the runs that prescribe none: thinking and holding
// take up to T/20, a message up to 5 ms.
func Usual(lease time.Duration) Shape {
	return Shape{Think: lease / 20, Hold: lease / 20, Latency: 5 * time.Millisecond}
}

// Random is the workload of an exploring run.
type Random struct {
	Workload Workload
	Nth      int           // which of the run's clients this is, from 0
	Acquires int           // critical sections of each client
	Lease    time.Duration // T
	Shape    Shape
	// Once: ask once for each section, and wait for 3 T; then go on to the next.
	// Else a client asks until its patience ends.
	Once bool
	// Again reports whether the client asks once more where nobody knows what came of
	// its request, if it asks once.
	Again func() bool
}

// Whenever is a sleep that ends when its turn comes, in places where order
// decides and no length.
const Whenever = time.Duration(1<<63 - 1)

// patience is how long, in T, a client goes on asking for a lock that nobody
// gives it, once everything is healed. It is longer than what liveness allows.
const patience = 4

// Run goes through a client's critical sections: acquire, read the guarded
// resource, hold on, write it, release.
func (r Random) Run(c Client) {
	for range r.Acquires {
		r.rest(c)
		c.Next()
		got, leaves := r.acquire(c)
		if got == OK && r.Section(c) == Dead || got == Dead {
			return
		}
		refused := got != OK
		switch {
		case r.Workload.byName:
			got = c.ReleaseName()
		case !refused:
			got = c.Release()
		case !leaves && !r.Once:
			return
		}
		if got == Dead {
			return
		}
		if refused && leaves {
			c.Sleep(atLeast * r.Lease / 10)
			pass(c, "away", away*r.Lease)
		}
	}
}

// rest lets time pass before a critical section.
func (r Random) rest(c Client) {
	if r.Once {
		c.Sleep(Whenever)
	} else {
		pass(c, "think", r.Shape.Think)
	}
}

// Section is what a client does while it holds the lock.
func (r Random) Section(c Client) Result {
	value, res := c.Read(0)
	if r.Workload.nests && res != Dead {
		value, res = r.nested(c, value, res)
	}
	pass(c, "hold", r.Shape.Hold)
	if res == OK {
		res = c.Write(value+1, 0)
	}
	return res
}

// pass lets time pass: whole microseconds, and less than most.
func pass(c Client, what string, most time.Duration) {
	if n := most.Microseconds(); n > 0 {
		c.Sleep(time.Duration(c.Rand(what, n)) * time.Microsecond)
	}
}

// acquire asks as the workload does. leaves says that who got nothing stays away
// for a while.
func (r Random) acquire(c Client) (got Result, leaves bool) {
	ask := c.Acquire
	if r.Workload.unfair && r.Nth%2 == 0 {
		ask = c.AcquireUnfair
	}
	switch {
	case r.Once:
		res := ask(3 * r.Lease)
		if res == Unknown && r.Again() {
			res = ask(3 * r.Lease)
		}
		return res, false
	case r.Workload.byName, r.Workload.leaves && c.Rand("gives up", 2) == 1:
		return r.soon(c, ask), true
	}
	asked := c.Now()
	for {
		res := ask(r.Lease)
		if res == OK || res == Dead {
			return res, false
		}
		healed, all := c.Healed()
		switch gone := all && c.Now()-max(asked, healed) > patience*r.Lease; {
		case gone && res == Waits:
			return c.Abandon(), false
		case gone:
			return No, false
		case res != Waits:
			c.Sleep(r.Lease / 50)
		}
	}
}
