package worker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// near fails t unless got is between want and want plus the delays of a busy machine.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want-time.Millisecond || got > want+2*time.Second {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Skew moves the wall clock alone. A rate makes both clocks fast without a jump.
func TestClocks(t *testing.T) {
	t.Parallel()
	c := newClock(time.Now())
	off := func() time.Duration { return -time.Until(c.now()).Round(time.Hour) }
	c.set(-3*time.Hour, 0)
	if c.mono() > time.Minute || off() != 3*time.Hour {
		t.Errorf("skewed: mono %v, wall clock behind by %v", c.mono(), off())
	}
	c.set(2*time.Hour, 0)
	if off() != -2*time.Hour {
		t.Errorf("skew is not what it was set to: behind by %v", off())
	}
	c = newClock(time.Now().Add(-time.Hour))
	c.set(0, 500_000)
	near(t, "no jump", c.mono(), time.Hour)
	c.start = c.start.Add(-2 * time.Hour) // two hours go by
	near(t, "two hours at 1.5", c.mono(), 4*time.Hour)
	if off() != -time.Hour {
		t.Errorf("the wall clock has not gained an hour: behind by %v", off())
	}
	c.set(0, 0)
	near(t, "what was gained stays", c.mono(), 4*time.Hour)
	c.start = c.start.Add(-time.Hour)
	near(t, "right again", c.mono(), 5*time.Hour)
}

func TestTimesOnAClockOfAnotherRate(t *testing.T) {
	t.Parallel()
	c := newClock(time.Now())
	c.set(0, -500_000)
	if got := c.trueTime(time.Second); got != 2*time.Second {
		t.Errorf("a second of a clock at half the rate lasts %v", got)
	}
	now := c.mono()
	left, _ := c.left(now + time.Second)
	near(t, "to a deadline in a second", left+2*(c.mono()-now), 2*time.Second)
	if got := c.trueTime(1<<63 - 1); got != 1<<63-1 {
		t.Errorf("for ever lasts %v", got)
	}
	sleep := func(d time.Duration) (slept time.Duration) {
		before := time.Now()
		if err := c.sleep(t.Context(), t.Context(), d); err != nil {
			t.Error(err)
		}
		return time.Since(before)
	}
	near(t, "a sleep of 50 ms", sleep(50*time.Millisecond), 100*time.Millisecond)
	c.set(0, -900_000)
	before := time.Now()
	time.AfterFunc(20*time.Millisecond, func() { c.set(0, 0) })
	sleep(300 * time.Millisecond)
	near(t, "a sleep of 300 ms, at a tenth of the rate for the first 2", time.Since(before), 318*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := c.sleep(ctx, t.Context(), 1<<63-1); err != context.DeadlineExceeded {
		t.Errorf("a sleep that never ends: %v", err)
	}
}

// A client's clocks are set while it holds two of three leases. Deadlines are reported
// in true time, and again when their true instant changes.
func TestClockSet(t *testing.T) {
	t.Parallel()
	p := serve(t, func(s Setup) *fake {
		f := &fake{}
		f.acquire = func(context.Context) error {
			f.lease = fakeLease{until: s.Host.Mono() + 10*time.Second, release: func(context.Context) error { return nil }}
			return nil
		}
		return f
	})
	valid := func(what string, want time.Duration) {
		t.Helper()
		line := p.hear()
		a, err := parse([]byte(line))
		if err != nil || a.ValidMS == nil || a.MonoNS == nil {
			t.Fatalf("%s: %s, %v", what, line, err)
		}
		got := time.Duration(*a.MonoNS) + time.Duration(*a.ValidMS)*time.Millisecond
		if early := want - got; early < -time.Second || early > time.Second {
			t.Errorf("%s: valid until %v, want %v", what, got, want)
		}
	}
	p.say(acquireA)
	valid("at the right rate", 10*time.Second)
	p.say(`{"id":3,"op":"acquire","client":"c1","lock":"b"}`)
	valid("the same", 10*time.Second)
	p.say(`{"id":4,"op":"release","client":"c1","lock":"b"}`)
	p.want(`{"id":4,"ok":true}`)

	p.say(`{"id":5,"op":"clock-set","client":"c1","ppm":-500000}`)
	valid("told anew", 20*time.Second)
	p.want(`{"id":5,"ok":true}`)
	p.say(`{"id":6,"op":"acquire","client":"c1","lock":"b"}`)
	valid("at half the rate", 20*time.Second)
	p.say(`{"id":7,"op":"clock-set","client":"c1","skew_ns":-60000000000}`)
	valid("right again", 10*time.Second)
	valid("both", 10*time.Second)
	p.want(`{"id":7,"ok":true}`)
	for _, ppm := range []int{1_000_000, -1_000_000} {
		p.say(fmt.Sprintf(`{"id":8,"op":"clock-set","client":"c1","ppm":%d}`, ppm))
		p.want(fmt.Sprintf(`{"id":8,"ok":false,"error":"bad-request","text":"ppm is %d, and must be from -900000 to 900000"}`, ppm))
	}
}

// Sleeps, requests and operation timeouts run on the client's clocks.
func TestTimeoutsRunOnTheClientsClocks(t *testing.T) {
	t.Parallel()
	const d = 40 * time.Millisecond
	took := make(chan time.Duration, 2)
	p := serve(t, func(s Setup) *fake {
		port := s.Redis(slow{})
		return &fake{acquire: func(ctx context.Context) error {
			for _, wait := range []func(){
				func() { s.Host.Sleep(s.Host.Life(), d) },
				func() { port.Incr(s.Host.Life(), d, "n") },
			} {
				start := time.Now()
				wait()
				took <- time.Since(start)
			}
			s.Host.Sleep(ctx, time.Hour)
			return locks.ErrNotAcquired
		}}
	})
	p.say(`{"id":3,"op":"clock-set","client":"c1","ppm":-500000}`)
	p.want(`{"id":3,"ok":true}`)
	start := time.Now()
	p.say(`{"id":2,"op":"acquire","client":"c1","lock":"a","timeout_ms":120}`)
	p.hear()
	near(t, "an operation", time.Since(start), 240*time.Millisecond)
	near(t, "a sleep", <-took, 2*d)
	near(t, "a request", <-took, 2*d)
}
