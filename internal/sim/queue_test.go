package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Events come in the order of their times, and those of one instant in the order
// of their numbers. Their count and the order of insertion do not matter.
func TestTheQueueIsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var q queue
	for range 3 {
		var all []event
		put := func() {
			e := event{at: time.Duration(rng.IntN(50)), seq: uint64(len(all))}
			all = append(all, e)
			q.push(e)
		}
		var last event
		for range 1000 {
			put()
			if rng.IntN(3) == 0 {
				last = q.pop()
				i := slices.IndexFunc(all, func(e event) bool { return e.seq == last.seq })
				for _, e := range all {
					if e.seq != last.seq && e.at >= 0 && e.before(&last) {
						t.Fatalf("%v comes before %v", last, e)
					}
				}
				all[i].at = -1 // gone
			}
		}
		for last = q.pop(); len(q.events) > 0; {
			e := q.pop()
			if !last.before(&e) {
				t.Fatalf("%v comes before %v", last, e)
			}
			last = e
		}
		put()
		q = q.empty()
		if len(q.events) != 0 {
			t.Fatal("it is not empty")
		}
	}
}
