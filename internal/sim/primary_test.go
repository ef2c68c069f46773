package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// has creates a row and a named lock at that time, and after 20 s reports which
// of them are left.
func has(g **group, since time.Duration) onMySQL {
	return func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
		at(e, ctx, since)
		s, err := p.Open(ctx, 0)
		if err != nil {
			return err
		}
		defer s.Close()
		if _, err := s.Insert(ctx, 0, mysql.Row{Resource: "a"}, time.Minute, mysql.Grants); err != nil {
			return err
		}
		s.GetLock(ctx, 0, "b", 0)
		at(e, ctx, 20*time.Second)
		_, found, _, err := p.Select(ctx, 0, "a")
		_, over := s.IsUsedLock(ctx, 0, "b")
		return fmt.Errorf("the row is there: %v, %w; %w", found, err, over)
	}
}

// A power loss may remove commits from the primary's disk that replicas have. No
// client sees that.
func TestWhatReplicasHaveGotIsNotLost(t *testing.T) {
	g := newMySQLOn(catalogue.Server{Replicas: 2}, 1, func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
		at(e, ctx, time.Second/2)
		p.Insert(ctx, 0, mysql.Row{Resource: "a"}, time.Minute, mysql.Grants)
		at(e, ctx, 2*time.Second)
		_, err := p.Delete(ctx, 0, mysql.Resource, mysql.Row{Resource: "a"}, mysql.Frees)
		at(e, ctx, 9*time.Second)
		_, found, _, _ := p.Select(ctx, 0, "a")
		return fmt.Errorf("%w, and the row is there: %v", err, found)
	}, "c1")
	g.After(2*time.Second+time.Second/2, func() { must(t, g.Stop("mysql-1", true)) })
	want(t, g.run(t, time.Minute),
		"500ms mysql-1 grant", "2s mysql-1 remove", "3.5s mysql-1b promote", "9s c1 ends: %!w(<nil>), and the row is there: false")
}

// All choices are 0: the monitor considers the primary dead after a second, and
// another takes over at once.
func TestAReplicaTakesThePrimarysPlace(t *testing.T) {
	const (
		kept = "20s c1 ends: the row is there: true, %!w(<nil>); mysql: the session is over"
		gone = "20s c1 ends: the row is there: false, %!w(<nil>); mysql: the session is over"
		same = "20s c1 ends: the row is there: true, %!w(<nil>); %!w(<nil>)"
	)
	for name, c := range map[string]struct {
		at      time.Duration
		disturb func(*group) error
		heal    func(*group) error // 5 s later
		want    []string
	}{
		"a dead primary": {
			5 * time.Second, func(g *group) error { return g.Stop("mysql-1", false) }, nil,
			[]string{"5s mysql-1 lose", "6s mysql-1b promote", kept},
		},
		"a primary that died before it sent the row": {
			2*time.Second + 3*latencyMin/2, func(g *group) error { return g.Stop("mysql-1", false) }, nil,
			[]string{"3s mysql-1b promote", "3s mysql-1b lose", gone},
		},
		"a paused primary, resumed later": {
			5 * time.Second, func(g *group) error { return g.Pause("mysql-1") }, func(g *group) error { return g.Resume("mysql-1") },
			[]string{"6s mysql-1b promote", "6s mysql-1b lose", kept},
		},
		"an isolated primary with writes of its own": {
			time.Second + time.Second/2, func(g *group) error { return g.Isolate(1, []string{"mysql-1"}) },
			func(g *group) error { _, err := g.Restore(1); return err },
			[]string{"2.5s mysql-1b promote", "2.5s mysql-1b lose", "2.5s mysql-1b lose", gone},
		},
		"then the old primary takes over again": {
			5 * time.Second, func(g *group) error { return g.Stop("mysql-1", true) },
			func(g *group) error {
				if err := g.Start("mysql-1"); err != nil {
					return err
				}
				g.After(time.Second, func() { g.Stop("mysql-1b", true) })
				return g.Stop("mysql-1c", true)
			},
			[]string{"5s mysql-1 lose", "6s mysql-1b promote", "12s mysql-1 promote", kept},
		},
		"no failover: the primary is soon back": {
			5 * time.Second, func(g *group) error { g.Stop("mysql-1", false); return g.Start("mysql-1") }, nil,
			[]string{"5s mysql-1 lose", kept},
		},
		"no failover: only replicas are isolated": {
			time.Second, func(g *group) error { return g.Isolate(1, []string{"mysql-1b", "mysql-1c"}) }, nil,
			[]string{same},
		},
		"a replica with more of the log": {
			time.Second, func(g *group) error { return g.Isolate(1, []string{"mysql-1b"}) },
			func(g *group) error {
				g.Restore(1)
				return g.Stop("mysql-1", false)
			},
			[]string{"6s mysql-1 lose", "7s mysql-1c promote", kept},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var g *group
			g = newMySQLOn(catalogue.Server{Replicas: 2}, 1, has(&g, 2*time.Second), "c1")
			g.cfg.Names = []string{"a", "b"}
			g.After(c.at, func() { must(t, c.disturb(g)) })
			g.After(c.at+5*time.Second, func() {
				if c.heal != nil {
					must(t, c.heal(g))
				}
			})
			got := slices.DeleteFunc(g.run(t, time.Minute), func(s string) bool { return s == "2s mysql-1 grant" })
			want(t, got, c.want...)
		})
	}
}
