package harness

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// watch writes down when the machine stood still: where time is real, a busy
// machine keeps clients, servers and us from running, and what took long then
// is nobody's fault. It runs as a task of the harness until the run is over.
func (r *recorder) watch(lease time.Duration) {
	// A look every T/100; a stall is what comes T/20 too late.
	tick, slack := lease/100, lease/20
	for last := r.place.Now(); !r.isOver(); {
		r.place.Sleep(tick)
		now := r.place.Now()
		if late := now - last - tick; late > slack {
			r.add(&history.Entry{
				Process: history.Process{Name: history.Nemesis},
				Type:    history.Info, F: history.Stall, Amount: late,
			})
		}
		last = now
	}
}
