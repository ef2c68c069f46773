package harness

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// watch records when the machine stood still. In real time a busy machine delays
// clients, servers and the harness; the lock is not the cause. It runs as a task of the
// harness until the run is over.
func (r *recorder) watch(lease time.Duration) {
	// A check every T/100; a stall is a check that comes T/20 too late.
	tick, slack := lease/100, lease/20
	for last := r.environment.Now(); !r.isOver(); {
		r.environment.Sleep(tick)
		now := r.environment.Now()
		if late := now - last - tick; late > slack {
			r.add(&history.Entry{
				Process: history.Process{Name: history.Nemesis},
				Type:    history.Info, F: history.Stall, Amount: late,
			})
		}
		last = now
	}
}
