package checker_test

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/report"
)

// crowd writes long histories. The time between two lines is a millisecond.
type crowd struct{ h history.History }

func (c *crowd) say(e history.Entry) {
	n := len(c.h.Entries)
	e.Index, e.Time = n+1, time.Duration(n)*time.Millisecond
	if e.Process.Client() && e.Client == "" {
		e.Client = fmt.Sprint("c", e.Process.N%5)
	}
	c.h.Add(e)
}

// does writes an operation of a process, and its answer.
func (c *crowd) does(process int, f string, answer history.Type, grant int) {
	e := history.Entry{Process: history.Process{N: process}, Type: history.Invoke, F: f, Grant: grant}
	if f == history.Acquire {
		e.Grant = 0
	}
	c.say(e)
	e.Type, e.Grant = answer, grant
	c.say(e)
}

func (c *crowd) fault(id int, f string, on ...string) {
	c.say(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Event, F: f, ID: id, On: on})
}

// crowds are histories of n grants, with as many things that an earlier version
// compared with each of them.
var crowds = []struct {
	name  string
	write func(c *crowd, i, n int)
}{
	{"deaths of holders", func(c *crowd, i, _ int) {
		c.does(i, history.Acquire, history.OK, i+1)
		c.fault(i, "kill", fmt.Sprint("c", i%5))
	}},
	{"deaths in one pause", func(c *crowd, i, _ int) {
		if i == 0 {
			c.fault(-1, "pause", "c1")
		}
		c.does(i, history.Acquire, history.OK, i+1)
		c.fault(i, "kill", "c1")
	}},
	{"acquires without an answer of clients that die", func(c *crowd, i, _ int) {
		c.does(i, history.Acquire, history.Info, i+1)
		c.fault(i, "kill", fmt.Sprint("c", (i+1)%5))
	}},
	{"pauses without end", func(c *crowd, i, _ int) { c.endless(i, "pause", fmt.Sprint("c", i%5)) }},
	{"pauses of strangers without end", func(c *crowd, i, _ int) { c.endless(i, "pause", fmt.Sprint("x", i)) }},
	{"delays without end", func(c *crowd, i, _ int) { c.endless(i, "delay", fmt.Sprint("c", i%5), "redis") }},
	{"restarts without end", func(c *crowd, i, _ int) { c.endless(i, "restart", "redis") }},
	{"failovers without end", func(c *crowd, i, _ int) {
		c.endless(i, "failover", "redis")
		c.say(history.Entry{Process: history.Process{Name: "redis-2"}, Type: history.Event, F: history.Promote, Text: "redis-x"})
	}},
	{"faults that end in another order", func(c *crowd, i, n int) {
		if i < n/2 {
			c.fault(i, "delay", "c1", "redis")
		} else {
			c.fault(n-1-i, "delay-end", "c1", "redis")
		}
	}},
	{"stalls", func(c *crowd, i, n int) {
		if c.does(i%5, history.Acquire, history.OK, i+1); i >= n/2 {
			c.say(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Event, F: history.Stall, Amount: time.Duration(4*(i-n/2)) * time.Millisecond})
		}
		c.does(i%5, history.Release, history.OK, i+1)
	}},
	{"confirmed acquires without an answer", func(c *crowd, i, _ int) {
		c.does(i, history.Acquire, history.Info, i+1)
		c.does(1e6+i, history.Extend, history.OK, i+1)
		c.does(1e6+i, history.Release, history.OK, i+1)
	}},
	{"a hold of another lock that never ends", func(c *crowd, i, _ int) {
		if i == 0 {
			c.say(history.Entry{Process: history.Process{N: 7}, Client: "x", Type: history.Invoke, F: history.Acquire, Lock: "other"})
			c.say(history.Entry{Process: history.Process{N: 7}, Client: "x", Type: history.OK, F: history.Acquire, Lock: "other"})
		}
		c.does(10+i%5, history.Acquire, history.OK, i+1)
		c.does(10+i%5, history.Release, history.OK, i+1)
	}},
	{"writes that take effect late", func(c *crowd, i, _ int) {
		c.does(i, history.Acquire, history.OK, i+1)
		sent := history.Some(int64(len(c.h.Entries) + 1))
		c.does(i, history.Write, history.Info, i+1)
		asked := history.Some(int64(len(c.h.Entries) + 1))
		read := history.Entry{Process: history.Process{N: 1e6 + i}, Type: history.Invoke, F: history.Read, Grant: i + 1}
		c.say(read)
		c.say(history.Entry{Process: history.Process{Name: history.Resource}, Type: history.Event, F: history.Read, Value: history.Some(int64(i)), By: asked})
		read.Type, read.Value = history.OK, history.Some(int64(i))
		c.say(read)
		c.say(history.Entry{Process: history.Process{Name: history.Resource}, Type: history.Event, F: history.Write, Value: history.Some(int64(i + 1)), Was: history.Some(int64(i)), By: sent})
		c.does(1e6+i, history.Release, history.OK, i+1)
	}},
	{"writes to as many locks", func(c *crowd, i, _ int) {
		lock := fmt.Sprint("lock", i)
		for _, f := range []string{history.Acquire, history.Read, history.Write, history.Release} {
			e := history.Entry{Process: history.Process{N: i % 5}, Type: history.Invoke, F: f, Lock: lock}
			if f == history.Read || f == history.Write {
				e.Value = history.Some(int64(i))
			}
			c.say(e)
			e.Type = history.OK
			c.say(e)
		}
	}},
}

// endless writes a grant, with a fault beside it that never ends.
func (c *crowd) endless(i int, f string, on ...string) {
	c.does(i%5, history.Acquire, history.OK, i+1)
	c.does(i%5, history.Release, history.OK, i+1)
	c.fault(i, f, on...)
}

// grows fails a test if the work grows faster than n log n with the grants and
// faults. n log n makes it 10 times as much, n² 64 times.
func grows(t *testing.T, work func(*history.History)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, c := range crowds {
		// takes measures up to three times, while the least is more than enough.
		takes := func(n int, enough float64) float64 {
			w := crowd{history.History{Header: history.Header{Format: history.Format, LeaseMS: 1, HandoverMS: 1}}}
			for i := range n {
				c.write(&w, i, n)
			}
			least := math.Inf(1)
			for range 3 {
				if least <= enough {
					break
				}
				runtime.GC()
				start := threadTime(t)
				work(&w.h)
				least = min(least, threadTime(t).Seconds()-start.Seconds())
			}
			return least
		}
		// A busy machine disturbs one measurement. Work that grows faster shows in each.
		const n, factor, tries, short = 2000, 8, 4, 0.1 // s
		for try := 1; ; try++ {
			large := takes(factor*n, short)
			if large <= short {
				break
			}
			small := takes(n, 0)
			t.Logf("%-50s %.4f s, %.4f s", c.name, small, large)
			if large <= 3*factor*small {
				break
			}
			if try == tries {
				t.Errorf("%s: %d took %.4f s of this thread, %d took %.4f s", c.name, n, small, factor*n, large)
				break
			}
		}
	}
}

func TestTheWorkGrowsWithTheHistory(t *testing.T) {
	grows(t, func(h *history.History) { new(checker.Examiner).Examine(h) })
}

// Every story of a history is written: of each violation, and without one.
func TestTheWorkForAStoryGrowsWithTheHistory(t *testing.T) {
	var judged *history.History // the last one: more of them would fill the memory
	var verdicts []checker.Verdict
	grows(t, func(h *history.History) {
		if judged != h {
			judged = h
			verdicts, _, _ = new(checker.Examiner).Examine(h)
		}
		calm := false
		for _, v := range verdicts {
			if v.Outcome == checker.Violated || !calm {
				calm = calm || v.Outcome != checker.Violated
				if err := report.Story(io.Discard, h, verdicts, report.Options{Promise: []checker.Property{v.Property}}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// threadTime returns how long this thread has run, regardless of other load.
func threadTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	const thread = 1 // RUSAGE_THREAD
	if err := syscall.Getrusage(thread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
