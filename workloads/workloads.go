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

	// Acquire asks once. It waits for at most timeout. Where the answer is Waits
	// the next call waits on, unless Abandon comes first.
	Acquire(timeout time.Duration) Result
	// Abandon ends the wait of an acquire that has answered Waits.
	Abandon() Result
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
	Waits          // of an acquire: the lock goes on, and cannot be called off
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
		if r.Section(c) == Dead || c.Release() == Dead {
			return
		}
	}
}

// Section is what a client does while it holds the lock.
func (r Random) Section(c Client) Result {
	value, res := c.Read(0)
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

// acquire asks until it is granted, or the client's patience ends.
func (r Random) acquire(c Client) Result {
	if r.Once {
		return c.Acquire(3 * r.Lease)
	}
	asked := c.Now()
	for {
		res := c.Acquire(r.Lease)
		if res == OK || res == Dead {
			return res
		}
		healed, all := c.Healed()
		switch gone := all && c.Now()-max(asked, healed) > patience*r.Lease; {
		case gone && res == Waits:
			return c.Abandon()
		case gone:
			return No
		case res != Waits:
			c.Sleep(r.Lease / 50)
		}
	}
}

// Step is one thing that a client of a case does.
type Step struct {
	Do    string        `json:"do,omitempty"`       // an operation's name in package history; "": nothing, only wait
	At    time.Duration `json:"at_ns,omitempty"`    // not before this time since the start of the run
	Wait  time.Duration `json:"wait_ns,omitempty"`  // nor before this time after the step before
	Again bool          `json:"again,omitempty"`    // of an acquire: ask again also where nobody knows what came of it
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
	var holds section
	held := false
	for _, step := range s.Steps {
		c.Sleep(max(step.At-c.Now(), step.Wait))
		var res Result
		switch step.Do {
		case history.Acquire:
			c.Next()
			res = step.ask(c, lease)
			held, holds = res == OK, section{}
		case history.Read, history.Write:
			if held {
				res = holds.do(c, step)
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

// Section goes through what the client does while it holds the lock for the nth
// time, from 1: it takes as long as there.
func (s Script) Section(c Client, n int) Result {
	var holds section
	for _, step := range s.Steps {
		switch {
		case step.Do == history.Acquire:
			n--
			continue
		case n != 0:
			continue
		}
		c.Sleep(step.Wait)
		if step.Do == history.Release || holds.do(c, step) == Dead {
			break
		}
	}
	return holds.last
}

// section is a critical section on its way.
type section struct {
	value int64
	read  bool
	last  Result
}

// do takes a step that is an access to the guarded resource, or none.
func (s *section) do(c Client, step Step) Result {
	switch {
	case step.Do == history.Read:
		s.value, s.last = c.Read(step.Limit)
		s.read = s.last == OK
	case step.Do == history.Write && s.read:
		s.last = c.Write(s.value+1, step.Limit)
	default:
		return OK
	}
	return s.last
}

// ask asks until its limit. A request that found no server is made again.
func (s Step) ask(c Client, lease time.Duration) Result {
	end := c.Now() + s.Limit
	for {
		res := c.Acquire(end - c.Now())
		if res == Waits {
			return c.Abandon()
		}
		if res == OK || res == Dead || res == Unknown && !s.Again || c.Now()+lease/50 >= end {
			return res
		}
		c.Sleep(lease / 50)
	}
}
