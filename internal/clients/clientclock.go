package clients

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/worker"
)

// clocks are the settings of a client's clocks. Its worker sets them on request.
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

// rate makes the client's clocks gain this much in each T.
func (c *client) rate(gain time.Duration) error {
	return c.setClocks(func(k *clocks) { k.ppm += int64(gain * 1e6 / c.run.Cfg.Lease) })
}

// setClocks returns when the clocks are set. The clocks of a stopped client are set
// when it goes on, before anything else.
func (c *client) setClocks(set func(*clocks)) error {
	if !c.can(worker.FeatureClockSet) {
		return fmt.Errorf("the worker of %s cannot set its clocks", c.name)
	}
	if c.isOver() {
		return nil // the client has ended
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
	return c.awaitClocks(false)
}

// awaitClocks waits until the worker has set the clocks. It returns early if the worker
// is stopped, unless goesOn: then the worker is about to go on.
func (c *client) awaitClocks(goesOn bool) error {
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
			case c.isOver():
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
