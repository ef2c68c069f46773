package zookeeper_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
)

// A node's number is no token after it has restarted, and no order after it has
// overflowed. The transaction is both.
func TestTokens(t *testing.T) {
	for _, name := range []string{"predecessor", "recheck", "children", "recipe"} {
		t.Run(name, func(t *testing.T) {
			for czxid, want := range map[bool][]uint64{false: {1, 2}, true: {2, 4}} {
				d := newDesk(t)
				c := d.client()
				l := recipes[name](c, c.port(), zklocks.Options{TTL: lease, Token: true, Czxid: czxid})
				var tokens []uint64
				for range 2 {
					c.Start(func(ctx context.Context) {
						take := func(_ context.Context, g locks.Lease) { tokens = append(tokens, g.(locks.Fencer).Token()) }
						if r, ok := l.(locks.Runner); ok {
							_ = r.Run(ctx, "a", take)
							return
						}
						g, err := l.Acquire(ctx, "a")
						if err != nil {
							t.Error(err)
							return
						}
						take(ctx, g)
						_ = g.Release(ctx)
					})
					d.Pass(d.Time + lease)
				}
				if !slices.Equal(tokens, want) {
					t.Errorf("tokens %d, want %d", tokens, want)
				}
			}
		})
	}
}

// Without the option Token there is no token, even with an order by transactions.
func TestNoToken(t *testing.T) {
	c := newDesk(t).client()
	g := c.take(zklocks.NewRecipe(c, c.port(), zklocks.Options{TTL: lease, Czxid: true}), "a")
	if token := g.(locks.Fencer).Token(); token != 0 {
		t.Errorf("token %d", token)
	}
}

func byCzxids(h locks.Host, p zookeeper.Port, o zklocks.Options) locks.Locker {
	o.Czxid = true
	return zklocks.NewRecipe(h, p, o)
}

// The counter is at its end, and the waiter gets the same number as the holder.
// With a unique string its node is created, and may sort before the holder's;
// without one it is refused.
func TestTheSameNumber(t *testing.T) {
	for name, tt := range map[string]struct {
		new     makeLock
		most    int
		refused bool
	}{
		"predecessor":      {zklocks.NewPredecessor, 1, true},
		"recheck":          {zklocks.NewPredecessorRecheck, 1, true},
		"recipe":           {zklocks.NewRecipe, 2, false},
		"recipe by czxids": {byCzxids, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.nodes["/a"] = &node{count: math.MaxInt32}
			for range 8 {
				d.client()
			}
			runs := d.queue(tt.new, 2*second, 2*second) // c9, and c10, whose string is less
			d.Pass(lease)
			if refused := errors.Is(runs[1].err, zookeeper.NodeExists); d.most != tt.most || refused != tt.refused || len(d.Log) == 4 == tt.refused {
				t.Errorf("%q; %v", d.Log, runs[1].err)
			}
		})
	}
}

// The counter overflows between the holder and the waiter, as it does if the
// first create is under way when the second comes. By number and by name the
// second is before the first.
func TestOverflow(t *testing.T) {
	for name, most := range map[string]int{
		"predecessor":      2,
		"recheck":          2,
		"recipe":           2,
		"recipe by czxids": 1,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.underWay = true
			d.nodes["/a"] = &node{count: math.MaxInt32}
			runs := d.queue(recipes[name], 2*second, 2*second)
			d.Pass(lease)
			if d.most != most || len(d.Log) != 4 {
				t.Errorf("%q", d.Log)
			}
			if sent := d.clients[1].sent; !slices.ContainsFunc(sent, func(s string) bool { return strings.HasSuffix(s, "-2147483648") }) {
				t.Errorf("sent %q", sent)
			}
			if runs[0].err != nil || runs[1].err != nil {
				t.Errorf("%v, %v", runs[0].err, runs[1].err)
			}
		})
	}
}
