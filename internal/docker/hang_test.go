package docker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
)

// Requests of the caller of a hanging client are done afterwards. At a point, the
// operation stays.
func TestHang(t *testing.T) {
	t.Parallel()
	w := &witness{}
	var environment *docker.Environment
	w.point = func(_ string, _ env.Op, p faults.Point) {
		if p.Op == history.Release && !p.After {
			must(t, environment.Hang("c1"))
			w.add("hangs")
		}
	}
	w.access = func(a env.Access) { w.add("access by %d", a.By) }
	schedule := []faults.Injection{{Fault: "hang", On: []string{"c1"}, Point: &faults.Point{Client: "c1", Acquisition: 1, Op: history.Release, Last: true}}}
	setup{schedule: schedule, lease: 20 * time.Second}.run(t, w, func(p *docker.Environment) {
		environment = p
		c1 := p.Client("c1")
		must(t, p.Hang("c1"))
		acquired := async(func() {
			acquire(t, c1, op(1), time.Second)
		})
		p.Sleep(50 * time.Millisecond)
		w.add("goes on")
		must(t, p.Unhang("c1"))
		acquired()

		must(t, p.Hang("c1"))
		written := async(func() { must(t, c1.Write(op(2), 1)) })
		p.Sleep(50 * time.Millisecond)
		w.add("goes on")
		must(t, p.Unhang("c1"))
		written()

		released := async(func() { must(t, c1.Release(op(3))) })
		eventually(t, p, patience, "c1 hangs", func() bool { return slices.Contains(w.told(), "hangs") })
		w.add("goes on")
		must(t, p.Unhang("c1"))
		released()

		must(t, p.Hang("c1"))
		dead := async(func() {
			if _, err := c1.Acquire(op(4), time.Second); err == nil {
				t.Error("a client that dies while it hangs gets the lock")
			}
		})
		must(t, p.Kill("c1"))
		dead()
	})
	wantLines(t, w, "goes on", "grant a of 1 by 1", "goes on", "access by 2", "hangs", "goes on", "remove a of 1 by 3")
}
