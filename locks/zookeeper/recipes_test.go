package zookeeper_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/locks"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
)

// Each lock sends exactly the requests of its recipe, for a client alone and for
// one waiter.
func TestRecipes(t *testing.T) {
	for name, tt := range map[string]struct {
		alone  []string
		behind []string
	}{
		"predecessor": {
			[]string{"create /a/sub", "create /a", "create /a/sub", "list /a", "delete /a/sub0000000000"},
			[]string{"create /a/sub", "list /a", "get /a/sub0000000000 watch", "delete /a/sub0000000001"},
		},
		"recheck": {
			[]string{"create /a/sub", "create /a", "create /a/sub", "list /a", "delete /a/sub0000000000"},
			[]string{"create /a/sub", "list /a", "get /a/sub0000000000 watch", "list /a", "delete /a/sub0000000001"},
		},
		"leaky": {
			[]string{"create /a/sub", "create /a", "create /a/sub", "list /a", "delete /a/sub0000000000"},
			[]string{"create /a/sub", "list /a", "get /a/sub0000000000 watch", "list /a", "delete /a/sub0000000001"},
		},
		"recipe": {
			[]string{"create /a/c1-1-lock-", "create /a", "create /a/c1-1-lock-", "list /a", "delete /a/c1-1-lock-0000000000"},
			[]string{"create /a/c2-1-lock-", "list /a", "exists /a/c1-1-lock-0000000000 watch", "list /a", "delete /a/c2-1-lock-0000000001"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			runs := d.queue(recipes[name], second, second)
			d.Pass(lease)
			for i, want := range [][]string{tt.alone, tt.behind} {
				if got := d.clients[i].sent; !slices.Equal(got, want) {
					t.Errorf("client %d sent %q, want %q", i+1, got, want)
				}
				if runs[i].err != nil || !runs[i].task.Done {
					t.Errorf("client %d returned %v", i+1, runs[i].err)
				}
			}
		})
	}
}

// Each client of a herd watches the queue from its first list on.
func TestTheHerdLists(t *testing.T) {
	d := newDesk(t)
	d.client().wants(zklocks.NewChildren, second, never)
	d.Pass(lease)
	want := []string{"create /a/sub", "create /a", "create /a/sub", "list /a watch", "delete /a/sub0000000000"}
	if got := d.clients[0].sent; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// A client keeps its session for the next use, and opens another after its end.
func TestSessions(t *testing.T) {
	for _, name := range []string{"predecessor", "recheck", "children", "recipe"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.client()
			l := recipes[name](c, c.port(), options)
			var runs []*run
			for i, expires := range []bool{false, true, false, false} {
				runs = append(runs, c.wantsWith(l, second, never))
				d.Pass(d.Time + lease)
				if expires {
					c.expire()
					d.Pass(d.Time + second)
				}
				if runs[i].err != nil && expires == false && i != 2 {
					t.Errorf("%d: %v", i, runs[i].err)
				}
			}
			// The first request notices that the session has ended meanwhile: a
			// Run fails then, an Acquire continues.
			_, runner := l.(locks.Runner)
			if failed := runs[2].err != nil; failed != runner || failed && !locks.IsDefinite(runs[2].err) {
				t.Errorf("after an expiry: %v", runs[2].err)
			}
			if len(c.opened) != 2 {
				t.Errorf("%d sessions", len(c.opened))
			}
			c.Does(second, func(ctx context.Context) {
				if err := l.Close(ctx); err != nil {
					t.Error(err)
				}
			})
			if c.opened[1].ended == nil {
				t.Error("the session has not been closed")
			}
		})
	}
}

// The published programs call the critical section themselves, so Acquire is an
// error.
func TestAcquireOfARunner(t *testing.T) {
	c := newDesk(t).client()
	_, err := zklocks.NewPredecessor(c, c.port(), options).Acquire(t.Context(), "a")
	if !errors.Is(err, errors.ErrUnsupported) || !locks.IsDefinite(err) {
		t.Error(err)
	}
}
