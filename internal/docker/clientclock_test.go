package docker_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
)

// A client whose clocks run fast thinks earlier that its lease is over, also
// where they are set while it is stopped. A wall clock that jumps changes
// nothing for a lock that does not look at it.
func TestClientClocks(t *testing.T) {
	t.Parallel()
	const (
		lease = 4 * time.Second
		offBy = 50 * time.Millisecond // a client's clock and ours
	)
	w := &witness{}
	valid := make(chan history.Entry, 10)
	w.report = func(e history.Entry) { valid <- e }
	setup{lease: lease}.run(t, w, func(p *docker.Place) {
		c1 := p.Client("c1")
		g, err := c1.Acquire(op(1), time.Second)
		must(t, err)
		must(t, p.Jump("c1", -2*lease))
		rated := p.Now()
		must(t, p.Rate("c1", lease/2))
		e := <-valid
		// From some moment in between on they run half as fast again.
		from, to := rated+(g.ValidUntil-rated)*2/3, p.Now()+(g.ValidUntil-p.Now())*2/3
		if e.ValidUntil < from-offBy || e.ValidUntil > to+offBy || e.F != history.Valid || e.Op.V != 1 {
			t.Errorf("%s of %d until %v, want valid until %v to %v", e.F, e.Op.V, e.ValidUntil, from, to)
		}
		must(t, c1.Release(op(2)))

		must(t, p.Pause("c1"))
		must(t, p.Rate("c1", -lease/2)) // right again
		must(t, p.Jump("c1", 2*lease))
		must(t, p.Resume("c1"))
		before := p.Now()
		g, err = c1.Acquire(op(3), time.Second)
		must(t, err)
		if from := g.ValidUntil - lease; from < before-offBy || from > p.Now()+offBy {
			t.Errorf("with clocks that are right it is valid from %v on, and was acquired between %v and %v", from, before, p.Now())
		}
	})
	wantLines(t, w, "grant a of 1 by 1", "c1 valid", "remove a of 1 by 2", "grant a of 3 by 3")
}

// What is set while a client stands still at a point is so when it goes on.
func TestClockSetAtAPoint(t *testing.T) {
	t.Parallel()
	const lease = 4 * time.Second
	w := &witness{}
	var place *docker.Place
	w.point = func(_ string, _ env.Op, p faults.Point) {
		if p.Op == history.Acquire && p.After {
			must(t, place.Pause("c1"))
			w.add("stands")
		}
	}
	schedule := []faults.Injection{{Fault: "pause", On: []string{"c1"}, Point: &faults.Point{Client: "c1", Acquisition: 1, Op: history.Acquire, Last: true, After: true}}}
	setup{lease: lease, schedule: schedule}.run(t, w, func(p *docker.Place) {
		place = p
		acquired := async(func() {
			g, err := p.Client("c1").Acquire(op(1), time.Second)
			must(t, err)
			if left := g.ValidUntil - p.Now(); left > 2*lease/3 {
				t.Errorf("with clocks that are half as fast again it is valid for %v", left)
			}
		})
		eventually(t, p, patience, "it stands still", func() bool { return len(w.told()) == 2 })
		must(t, p.Rate("c1", lease/2))
		must(t, p.Resume("c1"))
		acquired()
	})
	wantLines(t, w, "grant a of 1 by 1", "stands")
}

// The clocks of a stranger's worker, and the rate of a server's, are what they are.
func TestClocksThatCannotBeSet(t *testing.T) {
	t.Parallel()
	const ready = `read l; echo '{"id":1,"ok":true,"name":"bad"}'; read l`
	setup{worker: []string{"sh", "-c", ready}, clients: []string{"c1"}}.run(t, &witness{}, func(p *docker.Place) {
		if p.Jump("c1", time.Second) == nil || p.Rate("c1", time.Second) == nil || p.Rate(redis1, time.Second) == nil {
			t.Error("they can")
		}
	})
}
