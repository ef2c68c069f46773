// Package workloads is what clients do with a lock: one critical section after
// another at random, or the steps that a case prescribes.
package workloads

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Client is one client as its workload sees it. Time is the harness's, which
// no fault touches. Every operation is recorded.
type Client interface {
	Now() time.Duration
	Sleep(d time.Duration)
	// Rand draws evenly from 0 ≤ x < n; 0 is the least disturbing value.
	Rand(what string, n int64) int64
	// Next begins the client's next critical section.
	Next()

	// Acquire asks once. It waits for at most timeout.
	Acquire(timeout time.Duration) Result
	// Read and Write access the guarded resource; a timeout of 0 is T/4.
	Read(timeout time.Duration) (int64, Result)
	Write(value int64, timeout time.Duration) Result
	Release() Result

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
)

// Shape is what one exploring run differs from another in, beside what goes
// wrong. It decides what can be found at all: a lock whose lease outlasts every
// critical section hides what happens when it does not. What a run draws goes
// evenly up to these values. The zero value is no work at all.
type Shape struct {
	Think   time.Duration `json:"think_ns"`   // before a critical section
	Hold    time.Duration `json:"hold_ns"`    // within one, between its read and its write
	Latency time.Duration `json:"latency_ns"` // of a message; never below the place's own least
}

// Usual is the shape of the runs that prescribe none: thinking and holding
// take up to T/20, a message up to 5 ms.
func Usual(lease time.Duration) Shape {
	return Shape{Think: lease / 20, Hold: lease / 20, Latency: 5 * time.Millisecond}
}

// Random is the workload of an exploring run.
type Random struct {
	Acquires int           // critical sections of each client
	Lease    time.Duration // T
	Shape    Shape
	// Once: ask once for each section, and wait for 3 T; without an answer, go
	// on to the next. Else a client asks until its patience ends.
	Once bool
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
		if r.Once {
			c.Sleep(Whenever)
		} else {
			pass(c, "think", r.Shape.Think)
		}
		c.Next()
		switch got := r.acquire(c); {
		case got == OK:
		case got == Dead || !r.Once:
			return
		default:
			continue
		}
		value, res := c.Read(0)
		pass(c, "hold", r.Shape.Hold)
		if res == OK {
			res = c.Write(value+1, 0)
		}
		if res == Dead || c.Release() == Dead {
			return
		}
	}
}

// pass lets time pass: whole microseconds, and less than most.
func pass(c Client, what string, most time.Duration) {
	if n := most.Microseconds(); n > 0 {
		c.Sleep(time.Duration(c.Rand(what, n)) * time.Microsecond)
	}
}

// acquire asks until it is granted, or the client's patience ends.
func (r Random) acquire(c Client) Result {
	if r.Once {
		return c.Acquire(3 * r.Lease)
	}
	asked := c.Now()
	for {
		switch c.Acquire(r.Lease) {
		case OK:
			return OK
		case Dead:
			return Dead
		}
		if healed, all := c.Healed(); all && c.Now()-max(asked, healed) > patience*r.Lease {
			return No
		}
		c.Sleep(r.Lease / 50)
	}
}

// Step is one thing that a client of a case does.
type Step struct {
	Do    string        `json:"do,omitempty"`       // an operation's name in package history; "": nothing, only wait
	At    time.Duration `json:"at_ns,omitempty"`    // not before this time since the start of the run
	Wait  time.Duration `json:"wait_ns,omitempty"`  // nor before this time after the step before
	Limit time.Duration `json:"limit_ns,omitempty"` // of an acquire: ask until then, counted from its start; of an access: its time-out
}

// Script is what one client of a case does.
type Script struct {
	Client string `json:"client"`
	Steps  []Step `json:"steps"`
}

// Validate says what is wrong with a script.
func (s Script) Validate() error {
	for i, step := range s.Steps {
		switch step.Do {
		case "", history.Acquire, history.Read, history.Write, history.Release:
		default:
			return fmt.Errorf("step %d of %s: it cannot do %q", i+1, s.Client, step.Do)
		}
		if step.At < 0 || step.Wait < 0 || step.Limit < 0 {
			return fmt.Errorf("step %d of %s: a time is negative", i+1, s.Client)
		}
	}
	return nil
}

// Run goes through the steps. After an acquire that got nothing the client
// goes on with the next acquire, if there is one.
func (s Script) Run(c Client, lease time.Duration) {
	var value int64
	held, read := false, false
	for _, step := range s.Steps {
		c.Sleep(max(step.At-c.Now(), step.Wait))
		var res Result
		switch step.Do {
		case history.Acquire:
			c.Next()
			res = ask(c, step.Limit, lease)
			held, read = res == OK, false
		case history.Read:
			if held {
				value, res = c.Read(step.Limit)
				read = res == OK
			}
		case history.Write:
			if read {
				res = c.Write(value+1, step.Limit)
			}
		case history.Release:
			if held {
				res = c.Release()
				held = false
			}
		}
		if res == Dead {
			return
		}
	}
}

// ask asks until limit. A request that found no server is made again.
func ask(c Client, limit, lease time.Duration) Result {
	end := c.Now() + limit
	for {
		res := c.Acquire(end - c.Now())
		if res != No || c.Now()+lease/50 >= end {
			return res
		}
		c.Sleep(lease / 50)
	}
}
