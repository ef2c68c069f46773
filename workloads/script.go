package workloads

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// ReleaseName is the step that releases by name, whether its client holds or not. In
// the history it is a release; it names no grant if the client holds none.
const ReleaseName = "release-name"

// Step is one step of a script.
type Step struct {
	Do     string        `json:"do,omitempty"`       // an operation, or release-name: a release by name, whatever is held; absent: only wait
	At     time.Duration `json:"at_ns,omitempty"`    // not before this time since the start of the run
	Wait   time.Duration `json:"wait_ns,omitempty"`  // nor before this time after the step before
	Again  bool          `json:"again,omitempty"`    // of an acquire: ask again after an uncertain answer, too
	Unfair bool          `json:"unfair,omitempty"`   // of an acquire: out of turn, if the lock supports that
	Leased bool          `json:"leased,omitempty"`   // skip the step once the lease has ended or the lock is lost, as far as the lock has reported it
	Limit  time.Duration `json:"limit_ns,omitempty"` // of an acquire: ask until then, counted from its start; of an access: its timeout
}

// Script is the steps of one client of a case.
type Script struct {
	Client string `json:"client"` // name of the client
	Steps  []Step `json:"steps"`  // in order
}

// Validate returns an error if a step is unknown or has a negative time.
func (s Script) Validate() error {
	for i, step := range s.Steps {
		switch step.Do {
		case "", history.Acquire, history.Read, history.Write, history.Release, ReleaseName:
		default:
			return fmt.Errorf("step %d of %s: unknown operation %q", i+1, s.Client, step.Do)
		}
		if step.At < 0 || step.Wait < 0 || step.Limit < 0 {
			return fmt.Errorf("step %d of %s: a time is negative", i+1, s.Client)
		}
	}
	return nil
}

// Run goes through the steps. After a failed acquire it goes on with the next acquire,
// if there is one: the steps in between need the lock, except a release by name. An
// acquire by a holder is nested: the steps up to the next release are within it.
func (s Script) Run(c Client, lease time.Duration) {
	var inside []*section // the innermost last; nil: a failed acquire
	for _, step := range s.Steps {
		if !step.sleep(c) {
			continue
		}
		var now *section
		if n := len(inside); n > 0 {
			now = inside[n-1]
		}
		var res Result
		switch step.Do {
		case history.Acquire:
			c.Next()
			inside = dropLast(inside, nil)
			var got *section
			if res = step.ask(c, lease); res == OK {
				got = &section{}
			}
			inside = append(inside, got)
		case history.Read, history.Write:
			if now != nil {
				res = now.do(c, step)
			}
		case history.Release:
			if now != nil {
				res = c.Release()
			}
			inside = dropLast(inside, now)
		case ReleaseName: // even after a failed acquire: the client holds nothing now
			res = c.ReleaseName()
			inside = dropLast(inside, nil)
			inside = inside[:max(0, len(inside)-1)]
		}
		if res == Dead {
			return
		}
	}
}

// sleep waits until it is time for the step. It returns false if the client skips the
// step because its lease has ended, or the lock is lost.
func (s Step) sleep(c Client) bool {
	wait := max(s.At-c.Now(), s.Wait)
	if until := c.Until(); s.Leased && until > 0 && until <= c.Now()+wait {
		c.Sleep(until - c.Now())
		return false
	}
	c.Sleep(wait)
	until := c.Until() // it may have changed during the sleep
	return !s.Leased || until == 0 || until > c.Now()
}

// dropLast returns inside without its last element if that is last.
func dropLast(inside []*section, last *section) []*section {
	if n := len(inside); n > 0 && inside[n-1] == last {
		return inside[:n-1]
	}
	return inside
}

// Section goes through the steps of the client's nth critical section, from 1, with
// their waits.
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
		if step.Do == history.Release || step.Do == ReleaseName || holds.do(c, step) == Dead {
			break
		}
	}
	return holds.last
}

// section is the state of a critical section.
type section struct {
	read bool
	last Result
}

// do takes a step if it is an access to the guarded resource.
func (s *section) do(c Client, step Step) Result {
	switch {
	case step.Do == history.Read:
		s.last = c.Read(step.Limit)
		s.read = s.last == OK
	case step.Do == history.Write && s.read:
		s.last = c.Write(step.Limit)
	default:
		return OK
	}
	return s.last
}

// ask asks until its limit. It repeats a request that found no server.
func (s Step) ask(c Client, lease time.Duration) Result {
	end := c.Now() + s.Limit
	for {
		res := c.Acquire(end-c.Now(), s.Unfair)
		if res == Waits {
			return c.Abandon()
		}
		if res == OK || res == Dead || res == Unknown && !s.Again || c.Now()+lease/50 >= end {
			return res
		}
		c.Sleep(lease / 50)
	}
}
