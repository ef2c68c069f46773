package docker

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/worker"
)

// clocks are how a client's clocks are set: by its worker, which is asked to.
type clocks struct {
	mu      sync.Mutex
	skew    time.Duration // of the wall clock
	ppm     int64         // what both gain, in parts per million
	waiting []<-chan worker.Reply
}

// jump moves the client's wall clock.
func (c *client) jump(by time.Duration) error {
	return c.setClocks(func(k *clocks) { k.skew += by })
}

// rate lets its clocks gain so much more in each T.
func (c *client) rate(gain time.Duration) error {
	return c.setClocks(func(k *clocks) { k.ppm += int64(gain * 1e6 / c.place.cfg.Lease) })
}

// setClocks returns when the clocks are set. Those of a client that is stopped
// are when it goes on, before anything that it is told then.
func (c *client) setClocks(set func(*clocks)) error {
	if !c.can(worker.FeatureClockSet) {
		return fmt.Errorf("docker: the worker of %s has clocks that cannot be set", c.name)
	}
	if c.ended() {
		return nil // nobody looks at them any more
	}
	k := &c.clocks
	k.mu.Lock()
	set(k)
	_, reply := c.process.Call(worker.Request{Op: worker.OpClockSet, Client: c.name, SkewNS: k.skew.Nanoseconds(), PPM: k.ppm})
	k.waiting = append(k.waiting, reply)
	k.mu.Unlock()
	if c.paused.Load() {
		return nil
	}
	return c.clocksAre(false)
}

// clocksAre waits until the worker has set the clocks as it was asked to, or is
// stopped, unless it goes on just now.
func (c *client) clocksAre(goesOn bool) error {
	c.clocks.mu.Lock()
	defer c.clocks.mu.Unlock()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	limit := time.Now().Add(atOnce)
	for len(c.clocks.waiting) > 0 {
		select {
		case rep := <-c.clocks.waiting[0]:
			c.clocks.waiting = c.clocks.waiting[1:]
			switch {
			case c.ended():
			case rep.Err != nil:
				return fmt.Errorf("set the clocks of %s: %w", c.name, rep.Err)
			case rep.Answer.Err() != nil:
				return fmt.Errorf("set the clocks of %s: %w", c.name, rep.Answer.Err())
			}
		case <-ticker.C:
			if !goesOn && c.paused.Load() {
				return nil
			}
			if time.Now().Before(limit) {
				continue
			}
			return fmt.Errorf("set the clocks of %s: %w", c.name, worker.ErrLate)
		}
	}
	return nil
}
