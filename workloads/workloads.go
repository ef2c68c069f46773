// Package workloads defines what clients do with a lock: critical sections at random,
// or the steps of a case.
package workloads

import "time"

// Client is one client as its workload sees it. Time is the harness's, which no fault
// touches. Every operation is recorded.
type Client interface {
	Now() time.Duration
	Sleep(d time.Duration)
	// Rand draws evenly from 0 ≤ x < n; 0 is the least disturbing value.
	Rand(what string, n int64) int64
	// Next begins the client's next critical section.
	Next()

	// Acquire asks once and waits for at most timeout. After Waits the next call goes
	// on waiting, unless Abandon comes first. A grant is nested in those that the
	// client holds. unfair: out of turn, if the lock supports that.
	Acquire(timeout time.Duration, unfair bool) Result
	// Try is Acquire without a wait, if CanTry.
	Try(timeout time.Duration) Result
	CanTry() bool
	// Abandon ends the wait of an acquire that returned Waits.
	Abandon() Result
	// Read and Write access the guarded resource; a timeout of 0 is T/4. Each Write has a
	// value that no other has.
	Read(timeout time.Duration) Result
	Write(timeout time.Duration) Result
	// Until returns when the lease of the innermost grant ends, as the lock last
	// reported; 0: the lock reports none.
	Until() time.Duration
	// Extend makes the lease of the innermost grant longer, if CanExtend.
	Extend() Result
	CanExtend() bool
	// Release releases the innermost grant of the client.
	Release() Result
	// ReleaseName releases by name, even if the client holds nothing.
	ReleaseName() Result

	// Healed returns when the last fault ended, and true if no fault that will end is
	// in force.
	Healed() (time.Duration, bool)
}

// Result of an operation.
type Result uint8

const (
	OK      Result = iota
	No             // it did not happen
	Unknown        // it may have happened
	Dead           // the client is dead: it does nothing more
	Waits          // of an acquire: the lock goes on waiting, and the wait cannot be cancelled
)

// Shape is the shape of a random run, except its faults. It decides what can be found: a
// lock whose lease outlasts every critical section hides what happens after its lease.
// A run draws evenly up to these values. The zero value means no work at all.
type Shape struct {
	Think   time.Duration `json:"think_ns"`   // before a critical section, at most
	Hold    time.Duration `json:"hold_ns"`    // within one, between its read and its write, at most
	Latency time.Duration `json:"latency_ns"` // of a message, at most; never below the environment's own minimum
}

// Usual returns the default shape: think time and hold up to T/20, latency up to 5 ms.
func Usual(lease time.Duration) Shape {
	return Shape{Think: lease / 20, Hold: lease / 20, Latency: 5 * time.Millisecond}
}

// Random is the workload of a random run.
type Random struct {
	Workload Workload
	Nth      int           // number of the client in the run, from 0
	Acquires int           // critical sections of each client
	Lease    time.Duration // T
	Shape    Shape
	// Once: ask once for each section, wait for 3 T, then go on to the next. Else a
	// client asks until its patience ends.
	Once bool
	// Again reports whether a client with Once asks again after an uncertain answer.
	Again func() bool
}

// Whenever is a sleep that ends when its turn comes, in an environment where order
// decides and durations do not.
const Whenever = time.Duration(1<<63 - 1)

// patience is how long, in T, a client goes on asking without a grant after the last
// fault has healed. It is longer than the limit of liveness.
const patience = 4

// Run goes through a client's critical sections: acquire, read the guarded
// resource, hold on, write it, release.
func (r Random) Run(c Client) {
	for range r.Acquires {
		r.think(c)
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
			c.Sleep(minAway * r.Lease / 10)
			pass(c, "away", moreAway*r.Lease)
		}
	}
}

// think lets time pass before a critical section.
func (r Random) think(c Client) {
	if r.Once {
		c.Sleep(Whenever)
	} else {
		pass(c, "think", r.Shape.Think)
	}
}

// Section is what a client does while it holds the lock.
func (r Random) Section(c Client) Result {
	res := c.Read(0)
	if r.Workload.nests && res != Dead {
		res = r.nestedSection(c, res)
	}
	pass(c, "hold", r.Shape.Hold)
	if res == OK && c.CanExtend() && c.Rand("extends", 2) == 1 {
		if res = c.Extend(); res == OK {
			pass(c, "hold on", r.Shape.Hold)
		}
	}
	if res == OK {
		res = c.Write(0)
	}
	return res
}

// pass waits for whole microseconds, less than most.
func pass(c Client, what string, most time.Duration) {
	if n := most.Microseconds(); n > 0 {
		c.Sleep(time.Duration(c.Rand(what, n)) * time.Microsecond)
	}
}

// acquire asks as the workload says. leaves: after a refusal the client stays away for
// a while.
func (r Random) acquire(c Client) (got Result, leaves bool) {
	unfair := r.Workload.unfair && r.Nth%2 == 0
	ask := func(timeout time.Duration) Result { return c.Acquire(timeout, unfair) }
	switch {
	case r.Once:
		res := ask(3 * r.Lease)
		if res == Unknown && r.Again() {
			res = ask(3 * r.Lease)
		}
		return res, false
	case r.Workload.byName, r.Workload.leaves && c.Rand("gives up", 2) == 1:
		return r.askBriefly(c, ask), true
	}
	asked := c.Now()
	for {
		do := ask
		if c.CanTry() && c.Rand("tries", 4) == 1 {
			do = c.Try
		}
		res := do(r.Lease)
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
