package workloads

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// ReleaseName is what a step does that releases by name, whatever its client
// holds. In the history it is a release; of a client that holds nothing it names
// no grant.
const ReleaseName = "release-name"

// Step is one thing that a client of a case does.
type Step struct {
	Do     string        `json:"do,omitempty"`       // an operation, or release-name: a release by name, whatever is held; not there: only wait
	At     time.Duration `json:"at_ns,omitempty"`    // not before this time since the start of the run
	Wait   time.Duration `json:"wait_ns,omitempty"`  // nor before this time after the step before
	Again  bool          `json:"again,omitempty"`    // of an acquire: ask again also where nobody knows what came of it
	Unfair bool          `json:"unfair,omitempty"`   // of an acquire: out of turn, where the lock knows that
	Leased bool          `json:"leased,omitempty"`   // not after the lease has ended or the lock is lost, as the lock has told it: then the client goes on to the next step
	Limit  time.Duration `json:"limit_ns,omitempty"` // of an acquire: ask until then, counted from its start; of an access: its time-out
}

// Script is what one client of a case does.
type Script struct {
	Client string `json:"client"` // name of the client
	Steps  []Step `json:"steps"`  // what it does, one after the other
}

// Validate says what is wrong with a script.
func (s Script) Validate() error {
	for i, step := range s.Steps {
		switch step.Do {
		case "", history.Acquire, history.Read, history.Write, history.Release, ReleaseName:
		default:
			return fmt.Errorf("step %d of %s: it cannot do %q", i+1, s.Client, step.Do)
		}
		if step.At < 0 || step.Wait < 0 || step.Limit < 0 {
			return fmt.Errorf("step %d of %s: a time is negative", i+1, s.Client)
		}
	}
	return nil
}

// Run goes through the steps. After an acquire that got nothing the client goes
// on with the next acquire, if there is one: what it does in between needs the
// lock, but for a release by name. An acquire while it holds is nested in what it
// holds, and what follows is within that, up to a release.
func (s Script) Run(c Client, lease time.Duration) {
	var inside []*section // the innermost last; nil: an acquire that got nothing
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
			inside = without(inside, nil)
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
			inside = without(inside, now)
		case ReleaseName: // whatever came of the last acquire: what the client holds is gone
			res = c.ReleaseName()
			inside = without(inside, nil)
			inside = inside[:max(0, len(inside)-1)]
		}
		if res == Dead {
			return
		}
	}
}

// sleep waits until it is time for the step. It returns false where the client gives
// the step up, because its lease has ended first, or the lock is lost.
func (s Step) sleep(c Client) bool {
	wait := max(s.At-c.Now(), s.Wait)
	if until := c.Until(); s.Leased && until > 0 && until <= c.Now()+wait {
		c.Sleep(until - c.Now())
		return false
	}
	c.Sleep(wait)
	until := c.Until() // which may be another by now
	return !s.Leased || until == 0 || until > c.Now()
}

// without is inside without last, if that is its last.
func without(inside []*section, last *section) []*section {
	if n := len(inside); n > 0 && inside[n-1] == last {
		return inside[:n-1]
	}
	return inside
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
		if step.Do == history.Release || step.Do == ReleaseName || holds.do(c, step) == Dead {
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
	acquire := c.Acquire
	if s.Unfair {
		acquire = c.AcquireUnfair
	}
	end := c.Now() + s.Limit
	for {
		res := acquire(end - c.Now())
		if res == Waits {
			return c.Abandon()
		}
		if res == OK || res == Dead || res == Unknown && !s.Again || c.Now()+lease/50 >= end {
			return res
		}
		c.Sleep(lease / 50)
	}
}
