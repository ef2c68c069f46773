package docker_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
)

// A client with fast clocks expects the end of its lease earlier, also if they were set
// while it was stopped. A jump of the wall clock has no effect on a lock that does not
// read it.
func TestClientClocks(t *testing.T) {
	t.Parallel()
	const (
		lease = 4 * time.Second
		offBy = 50 * time.Millisecond // between a client's clock and ours
	)
	w := &witness{}
	valid := make(chan history.Entry, 10)
	w.report = func(e history.Entry) { valid <- e }
	setup{lease: lease}.run(t, w, func(p *docker.Environment) {
		c1 := p.Client("c1")
		g := acquire(t, c1, op(1), time.Second)
		must(t, p.Jump("c1", -2*lease))
		rated := p.Now()
		must(t, p.Rate("c1", lease/2))
		e := <-valid
		// They run faster by half from some moment in between.
		from, to := rated+(g.ValidUntil-rated)*2/3, p.Now()+(g.ValidUntil-p.Now())*2/3
		if e.ValidUntil < from-offBy || e.ValidUntil > to+offBy || e.F != history.Valid || e.Op.V != 1 {
			t.Errorf("%s of %d until %v, want valid until %v to %v", e.F, e.Op.V, e.ValidUntil, from, to)
		}
		must(t, c1.Release(op(2)))

		must(t, p.Pause("c1"))
		must(t, p.Rate("c1", -lease/2)) // back to the right rate
		must(t, p.Jump("c1", 2*lease))
		must(t, p.Resume("c1"))
		before := p.Now()
		g = acquire(t, c1, op(3), time.Second)
		if from := g.ValidUntil - lease; from < before-offBy || from > p.Now()+offBy {
			t.Errorf("with right clocks the grant is valid from %v on, and was acquired between %v and %v", from, before, p.Now())
		}
	})
	wantLines(t, w, "grant a of 1 by 1", "c1 valid", "remove a of 1 by 2", "grant a of 3 by 3")
}

// Clocks that are set while a client is stopped at a point are set when it goes on.
func TestClockSetAtAPoint(t *testing.T) {
	t.Parallel()
	const lease = 4 * time.Second
	w := &witness{}
	var environment *docker.Environment
	w.point = func(_ string, _ env.Op, p faults.Point) {
		if p.Op == history.Acquire && p.After {
			must(t, environment.Pause("c1"))
			w.add("stands")
		}
	}
	schedule := []faults.Injection{{Fault: "pause", On: []string{"c1"}, Point: &faults.Point{Client: "c1", Acquisition: 1, Op: history.Acquire, Last: true, After: true}}}
	setup{lease: lease, schedule: schedule}.run(t, w, func(p *docker.Environment) {
		environment = p
		acquired := async(func() {
			g := acquire(t, p.Client("c1"), op(1), time.Second)
			if left := g.ValidUntil - p.Now(); left > 2*lease/3 {
				t.Errorf("with clocks that are faster by half the grant is valid for %v", left)
			}
		})
		eventually(t, p, patience, "it stands still", func() bool { return len(w.told()) == 2 })
		must(t, p.Rate("c1", lease/2))
		must(t, p.Resume("c1"))
		acquired()
	})
	wantLines(t, w, "grant a of 1 by 1", "stands")
}

// The clocks of a user's worker, and the rate of a server's clocks, cannot be set.
func TestClocksThatCannotBeSet(t *testing.T) {
	t.Parallel()
	const ready = `read l; echo '{"id":1,"ok":true,"name":"bad"}'; read l`
	setup{worker: []string{"sh", "-c", ready}, clients: []string{"c1"}}.run(t, &witness{}, func(p *docker.Environment) {
		if p.Jump("c1", time.Second) == nil || p.Rate("c1", time.Second) == nil || p.Rate(redis1, time.Second) == nil {
			t.Error("the clocks can be set")
		}
	})
}
