package docker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/locks"
)

var members = []string{"zk-1", "zk-2", "zk-3"}

// queue returns a setup with an ensemble. T is twice the shortest session that the
// ensemble grants: on a busy machine heartbeats come late.
func queue() setup { return setup{lock: "zk-recipe", lease: 2 * time.Second} }

// nodes returns the reported server events, without the names of nodes.
func (w *witness) nodes() (list []string) {
	for _, line := range w.told() {
		words := strings.Fields(line)
		if len(words) == 2 && (words[1] == "queued" || words[1] == "lost") {
			continue
		}
		words = slices.DeleteFunc(words, func(s string) bool { return strings.HasPrefix(s, "/a/") })
		list = append(list, strings.Join(words, " "))
	}
	return list
}

func wantNodes(t *testing.T, w *witness, want ...string) {
	t.Helper()
	if got := w.nodes(); !slices.Equal(got, want) {
		t.Errorf("observed\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func observed(t *testing.T, observes []string) {
	t.Helper()
	if !slices.Equal(observes, []string{"ownership", "answers"}) {
		t.Errorf("observes %q", observes)
	}
}

// In each way in which a client's session can end, the ensemble removes its node, and
// the next client enters.
func TestASessionEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		begin, heal func(*docker.Environment) error
	}{
		"the client stands still": {
			func(p *docker.Environment) error { return p.Pause("c1") },
			func(p *docker.Environment) error { return p.Resume("c1") },
		},
		"the client is cut off": {
			func(p *docker.Environment) error {
				return each(func(i int, m string) error {
					return p.Impair(i, faults.Impairment{Client: "c1", Server: m, Action: faults.Hold})
				})
			},
			func(p *docker.Environment) error {
				return each(func(i int, _ string) error { _, err := p.Restore(i); return err })
			},
		},
		"its session is closed from elsewhere": {
			func(p *docker.Environment) error { return p.ExpireSession("c1") },
			func(*docker.Environment) error { return nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			observed(t, queue().run(t, w, func(p *docker.Environment) {
				acquire(t, p.Client("c1"), op(1), patience)
				waits := async(func() {
					acquire(t, p.Client("c2"), op(2), patience)
				})
				for len(w.nodes()) < 2 { // until the client is in the queue
					p.Sleep(time.Millisecond)
				}
				must(t, end.begin(p))
				waits()
				must(t, end.heal(p))
				until(t, p, "c1 learns the loss", func() bool { return slices.Contains(w.told(), "c1 lost") })
				// A member that is behind may still accept the session, and close it before
				// it answers the delete. Then the release returns ok instead of ErrLost.
				if err := p.Client("c1").Release(op(3)); err != nil && !errors.Is(err, locks.ErrLost) {
					t.Errorf("a release after the end of the session returns %v", err)
				}
				must(t, p.Client("c2").Release(op(4)))
			}))
			wantNodes(t, w, "grant of 1 by 1", "grant of 2 by 2", "expire of 1 by nobody", "remove of 2 by 4")
		})
	}
}

// each calls do for each member, up to the first error.
func each(do func(i int, member string) error) error {
	for i, m := range members {
		if err := do(i, m); err != nil {
			return err
		}
	}
	return nil
}

// A reply to a create or a delete is lost, and the lock finds out the effect on its
// next connection. The history has the effect, not the answer.
func TestALostReplyOfTheEnsemble(t *testing.T) {
	t.Parallel()
	for _, action := range []faults.Action{faults.Swallow, faults.Reset} {
		t.Run(fmt.Sprint(action), func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			disturbed := func(p *docker.Environment, first int, do func()) {
				must(t, each(func(i int, m string) error {
					return p.Impair(first+i, faults.Impairment{Client: "c1", Server: m, Direction: faults.ToClient, Action: action})
				}))
				do()
				hits := 0
				for i := range members {
					n, err := p.Restore(first + i)
					must(t, err)
					hits += n
				}
				if hits == 0 {
					t.Error("nothing was touched")
				}
			}
			observed(t, queue().run(t, w, func(p *docker.Environment) {
				c1 := p.Client("c1")
				_, err := c1.Acquire(op(1), patience) // the first acquire also creates the lock's node
				must(t, err)
				must(t, c1.Release(op(2)))
				disturbed(p, 10, func() {
					acquire(t, c1, op(3), patience)
				})
				disturbed(p, 20, func() { must(t, c1.Release(op(4))) })
			}))
			wantNodes(t, w, "grant of 1 by 1", "remove of 1 by 2", "grant of 3 by 3", "remove of 3 by 4")
		})
	}
}

// The leader is killed, stopped or cut off. Another member becomes the leader, and no
// event of either is lost.
func TestTheLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &witness{names: true}
			s := queue()
			s.lease = unhurried // so that sessions outlive the election
			leader := ""
			observed(t, s.run(t, w, func(p *docker.Environment) {
				c1, c2 := p.Client("c1"), p.Client("c2")
				acquire(t, c1, op(1), patience)
				leader, _, _ = strings.Cut(w.nodes()[0], ":")
				waits := async(func() {
					acquire(t, c2, op(2), patience)
				})
				eventually(t, p, patience, "c2 is in the queue", func() bool { return len(w.nodes()) == 2 })
				must(t, outage.begin(p, leader))
				must(t, c1.Release(op(3)))
				waits()
				must(t, outage.end(p, leader))
				must(t, c2.Release(op(4)))
			}))
			lines := w.nodes()
			for i := range lines {
				_, lines[i], _ = strings.Cut(lines[i], ": ")
			}
			if want := []string{"grant of 1 by 1", "grant of 2 by 2", "promote after " + leader, "remove of 1 by 3", "remove of 2 by 4"}; !slices.Equal(lines, want) {
				t.Errorf("observed %q, want %q", lines, want)
			}
		})
	}
}
