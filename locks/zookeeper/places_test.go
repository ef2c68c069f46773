package zookeeper_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
)

// Each lock reports the position of its node once, as soon as it knows it: both
// holders and waiters do.
func TestPlaces(t *testing.T) {
	for name, want := range map[string]string{
		"predecessor":      "[[0] [1] [2]]",
		"recheck":          "[[0] [1] [2]]",
		"leaky":            "[[0] [1] [2]]",
		"children":         "[[0] [1] [2]]",
		"recipe":           "[[0] [1] [2]]",
		"recipe by czxids": "[[2] [3] [4]]",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.queue(recipes[name], 3*second, second, second)
			d.Pass(4 * second) // the second one has been woken
			d.wantPlaces(want)
		})
	}
}

// wantPlaces asserts the clients' reported places.
func (d *desk) wantPlaces(want string) {
	d.T.Helper()
	var got [][]int64
	for _, c := range d.clients {
		got = append(got, c.Places)
	}
	if fmt.Sprint(got) != want {
		d.T.Errorf("places %v, want %s", got, want)
	}
}

// A node whose create got no answer has a place, too, once it is found. A new
// node has a new place.
func TestAnotherPlace(t *testing.T) {
	for name, tt := range map[string]struct {
		new     makeLock
		befalls func(*desk, *client)
		want    string
	}{
		"adopted":           {zklocks.NewRecipe, func(_ *desk, c *client) { c.faults[1] = after }, "[[0] [1]]"},
		"adopted, by czxid": {byCzxids, func(_ *desk, c *client) { c.faults[1] = after }, "[[2] [3]]"},
		"after its session": {zklocks.NewRecipe, func(d *desk, c *client) { d.Pass(second); c.expire() }, "[[0] [1 2]]"},
		"after its node": {zklocks.NewRecipe, func(d *desk, _ *client) {
			d.Pass(second)
			d.remove("/a/c2-1-lock-0000000001")
			d.clients[1].opened[0].deliver(zookeeper.Event{Type: zookeeper.NodeDeleted, Path: "/a/c1-1-lock-0000000000"})
		}, "[[0] [1 2]]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.client().wants(tt.new, lease, never)
			d.Pass(100 * ms)
			c := d.client()
			c.wants(tt.new, second, never)
			tt.befalls(d, c)
			d.Pass(5 * second)
			d.wantPlaces(tt.want)
		})
	}
}

// A number that has overflowed gives no place, because the counter may return to
// an earlier value. The transaction does.
func TestNoPlace(t *testing.T) {
	for name, want := range map[string]string{
		"predecessor":      "[[2147483647] []]",
		"recipe":           "[[2147483647] []]",
		"recipe by czxids": "[[1] [2]]",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.underWay = true
			d.nodes["/a"] = &node{count: math.MaxInt32}
			d.queue(recipes[name], 2*second, 2*second)
			d.Pass(second)
			d.wantPlaces(want)
		})
	}
}
