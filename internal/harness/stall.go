package harness

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// watch records when the machine stood still. In real time a busy machine delays
// clients, servers and the harness; the lock is not the cause. It runs as a task of the
// harness until the run is over.
func (r *recorder) watch(lease time.Duration) {
	// A check every T/100; a stall is a check that comes T/20 too late, or a client that
	// has waited for a processor for as long between two looks, which cost more.
	tick, slack, look := lease/100, lease/20, lease/20
	busy, _ := r.environment.(env.Busy)
	if busy != nil {
		busy.Starved() // what was before the run does not count
	}
	seen := r.environment.Now()
	for last := seen; !r.isOver(); {
		r.environment.Sleep(tick)
		now := r.environment.Now()
		late := now - last - tick
		if busy != nil && now-seen >= look {
			seen, late = now, max(late, busy.Starved())
		}
		if late > slack {
			r.add(&history.Entry{
				Process: history.Process{Name: history.Nemesis},
				Type:    history.Info, F: history.Stall, Amount: late,
			})
		}
		last = now
	}
}
