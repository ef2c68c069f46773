package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// onMySQL is a client's use of a MySQL server.
type onMySQL func(e catalogue.Env, ctx context.Context, p mysql.Port) error

func (f onMySQL) acquire(e catalogue.Env, ctx context.Context) error { return f(e, ctx, e.MySQL) }

// newMySQL returns a scene on a MySQL server with a T of 10 s.
func newMySQL(f onMySQL, clients ...string) *group {
	return newMySQLOn(catalogue.Server{}, 1, f, clients...)
}

func newMySQLOn(server catalogue.Server, together int, f onMySQL, clients ...string) *group {
	g := &group{&scene{}}
	cfg := configOf(catalogue.StoreMySQL, f.acquire, clients...)
	cfg.Lock.Together, cfg.Server = together, server
	g.World = New(cfg, g, replayOf())
	return g
}

// at sleeps until the client's clock shows d.
func at(e catalogue.Env, ctx context.Context, d time.Duration) { e.Host.Sleep(ctx, d-e.Host.Mono()) }

// firstHolds makes c1 hold the named lock a for d, in a session of its own. The
// others ask for it a second later and wait for up to a minute.
func firstHolds(d time.Duration) onMySQL {
	return func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
		first := e.Host.Unique()[:2] == "c1"
		if !first {
			at(e, ctx, time.Second)
		}
		s, err := p.Open(ctx, 0)
		if err != nil {
			return err
		}
		ok, err := s.GetLock(ctx, 2*time.Minute, "a", time.Minute)
		if err != nil || !ok {
			return fmt.Errorf("%v, %w", ok, err)
		}
		if first {
			at(e, ctx, d)
		}
		_, err = s.ReleaseLock(ctx, 0, "a")
		s.Return()
		return err
	}
}

// A named lock belongs to its session, and ends with it.
func TestANamedLockGoesWithItsSession(t *testing.T) {
	const waits = "1m1s c2 ends: false, %!w(<nil>)"
	for name, c := range map[string]struct {
		disturb func(*group) error
		heal    func(*group) error // 10 s later
		want    []string
	}{
		"undisturbed": {nil, nil, []string{
			"20s mysql-1 remove", "20s mysql-1 grant", "20s c1 ends: <nil>", "20s mysql-1 remove", "20s c2 ends: <nil>",
		}},
		"its client dies": {func(g *group) error { return g.Kill("c1") }, nil, []string{
			"5s c1 ends: the client crashed", "5s mysql-1 lose", "5s mysql-1 grant", "5s mysql-1 remove", "5s c2 ends: <nil>",
		}},
		"its client dies in a pause": {
			func(g *group) error { return g.Pause("c1") }, func(g *group) error { return g.Kill("c1") },
			[]string{
				"15s c1 ends: the client crashed", "15s mysql-1 lose", "15s mysql-1 grant", "15s mysql-1 remove", "15s c2 ends: <nil>",
			},
		},
		"its client's machine loses power": {func(g *group) error { return g.PowerOff("c1") }, nil, []string{
			"5s c1 ends: the client crashed", waits,
		}},
		"its client dies behind a partition": {
			func(g *group) error {
				if err := g.Impair(1, faults.Impairment{Client: "c1", Server: "mysql-1", Action: faults.Hold}); err != nil {
					return err
				}
				return g.Kill("c1")
			},
			func(g *group) error { _, err := g.Restore(1); return err },
			[]string{
				"5s c1 ends: the client crashed", "15s mysql-1 lose", "15s mysql-1 grant", "15s mysql-1 remove", "15s c2 ends: <nil>",
			},
		},
		"its session is killed": {func(g *group) error { return g.ExpireSession("c1") }, nil, []string{
			"5s mysql-1 lose", "5s mysql-1 grant", "5s mysql-1 remove", "5s c2 ends: <nil>",
			"20s c1 ends: " + mysql.ErrSessionOver.Error(),
		}},
		"an operator kills its connection": {func(g *group) error { return g.Tamper("mysql-1", faults.Removal, 0) }, nil, []string{
			"5s mysql-1 lose", "5s mysql-1 grant", "5s mysql-1 remove", "5s c2 ends: <nil>",
			"20s c1 ends: " + mysql.ErrSessionOver.Error(),
		}},
		"its server restarts": {
			func(g *group) error {
				if err := g.Stop("mysql-1", false); err != nil {
					return err
				}
				return g.Start("mysql-1")
			}, nil, []string{
				"5s mysql-1 lose", "5s c2 ends: false, " + mysql.ErrConnectionLost.Error(),
				"20s c1 ends: " + mysql.ErrSessionOver.Error(),
			},
		},
		"its server is paused": {
			func(g *group) error { return g.Pause("mysql-1") }, func(g *group) error { return g.Resume("mysql-1") },
			[]string{
				"20s mysql-1 remove", "20s mysql-1 grant", "20s c1 ends: <nil>", "20s mysql-1 remove", "20s c2 ends: <nil>",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newMySQL(firstHolds(20*time.Second), "c1", "c2")
			if c.disturb != nil {
				g.After(5*time.Second, func() { must(t, c.disturb(g)) })
			}
			if c.heal != nil {
				g.After(15*time.Second, func() { must(t, c.heal(g)) })
			}
			want(t, g.run(t, 2*time.Minute), append([]string{"0s mysql-1 grant"}, c.want...)...)
		})
	}
}

// An operator deletes a row with a grant.
func TestAnOperatorDeletesARow(t *testing.T) {
	g := newMySQL(func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
		if _, err := p.Insert(ctx, 0, mysql.Row{Resource: "a"}, 10*time.Second, mysql.Grants); err != nil {
			return err
		}
		at(e, ctx, 5*time.Second)
		_, found, _, err := p.Select(ctx, 0, "a")
		return fmt.Errorf("%v, %w", found, err)
	}, "c1")
	g.After(time.Second, func() { must(t, g.Tamper("mysql-1", faults.Removal, 0)) })
	want(t, g.run(t, time.Minute), "0s mysql-1 grant", "1s mysql-1 remove", "5s c1 ends: false, %!w(<nil>)")
}

// An operator gives a row another owner: in its column, or at the head of the queue if only
// the queue names one. The row keeps its lease. What a session keeps has no owner to change.
func TestAnOperatorChangesARow(t *testing.T) {
	for name, c := range map[string]struct {
		row  mysql.Row
		want string
	}{
		"with an owner": {mysql.Row{Owner: mysql.Some("c1"), Queue: mysql.Some("c2,c3,")}, "operator of c2,c3,"},
		"with a queue":  {mysql.Row{Queue: mysql.Some("c1,c2,")}, " of operator,c2,"},
		"with neither":  {mysql.Row{}, "operator of "},
	} {
		t.Run(name, func(t *testing.T) {
			g := newMySQL(func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
				c.row.Resource = "a"
				if _, err := p.Insert(ctx, 0, c.row, 10*time.Second, mysql.Grants); err != nil {
					return err
				}
				at(e, ctx, 5*time.Second)
				row, _, now, err := p.Select(ctx, 0, "a")
				return fmt.Errorf("%w, %s of %s, for %d s", err, row.Owner.S, row.Queue.S, (row.Expires-now)/1000)
			}, "c1")
			for range 2 {
				g.After(time.Second, func() { must(t, g.Tamper("mysql-1", faults.Overwriting, 0)) })
			}
			want(t, g.run(t, time.Minute), "0s mysql-1 grant", "1s mysql-1 takeover", "5s c1 ends: %!w(<nil>), "+c.want+", for 5 s")
		})
	}
	g := newMySQL(firstHolds(20*time.Second), "c1")
	g.After(5*time.Second, func() { must(t, g.Tamper("mysql-1", faults.Overwriting, 0)) })
	want(t, g.run(t, 2*time.Minute), "0s mysql-1 grant", "20s mysql-1 remove", "20s c1 ends: <nil>")
}

// A statement can end in these ways.
func TestWhatBecomesOfAStatement(t *testing.T) {
	inserts := func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
		at(e, ctx, time.Second)
		_, err := p.Insert(ctx, 0, mysql.Row{Resource: "a"}, 10*time.Second, mysql.Grants)
		at(e, ctx, 10*time.Second)
		_, found, _, again := p.Select(ctx, 0, "a")
		if again != nil {
			return fmt.Errorf("%w, then %w", err, again)
		}
		if found {
			return fmt.Errorf("%w, and the row is there", err)
		}
		return err
	}
	impair := func(d faults.Direction, a faults.Action) func(g *group) error {
		return func(g *group) error {
			return g.Impair(1, faults.Impairment{Client: "c1", Server: "mysql-1", Direction: d, Action: a})
		}
	}
	for name, c := range map[string]struct {
		disturb func(*group) error
		heal    func(*group) error // 5 s later
		want    []string
	}{
		"its reply is lost": {impair(faults.ToClient, faults.Swallow), nil, []string{
			"1s mysql-1 grant", "10s c1 ends: mysql: no answer in time, and the row is there",
		}},
		"its connection is reset on the way there": {impair(faults.ToServer, faults.Reset), nil, []string{
			"10s c1 ends: mysql: connection lost",
		}},
		"its connection is reset on the way back": {impair(faults.ToClient, faults.Reset), nil, []string{
			"1s mysql-1 grant", "10s c1 ends: mysql: connection lost, and the row is there",
		}},
		"it arrives when its client has given up": {
			impair(faults.ToServer, faults.Hold), func(g *group) error { _, err := g.Restore(1); return err },
			[]string{"5.5s mysql-1 grant", "10s c1 ends: mysql: no answer in time, and the row is there"},
		},
		"the server is paused": {
			func(g *group) error { return g.Pause("mysql-1") }, func(g *group) error { return g.Resume("mysql-1") },
			[]string{"5.5s mysql-1 grant", "10s c1 ends: mysql: no answer in time, and the row is there"},
		},
		"the server dies": {
			func(g *group) error { return g.Stop("mysql-1", false) }, nil,
			[]string{"10s c1 ends: mysql: not connected, then mysql: not connected"},
		},
		"the server has restarted meanwhile": {
			func(g *group) error { g.Stop("mysql-1", false); return g.Start("mysql-1") }, nil,
			[]string{"1s mysql-1 grant", "10s c1 ends: %!w(<nil>), and the row is there"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newMySQL(inserts, "c1")
			g.After(time.Second/2, func() { must(t, c.disturb(g)) })
			if c.heal != nil {
				g.After(5*time.Second+time.Second/2, func() { must(t, c.heal(g)) })
			}
			want(t, g.run(t, time.Minute), c.want...)
		})
	}
}

// A pool lends the connection that came back last and keeps two. It drops a dead
// connection only when it would lend it. The clients of a process share one pool.
func TestAPool(t *testing.T) {
	var g *group
	g = newMySQLOn(catalogue.Server{}, 2, func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
		second := e.Host.Unique()[:2] == "c2"
		if second {
			at(e, ctx, time.Second)
		}
		var sessions [3]mysql.Handle
		for i := range sessions {
			sessions[i], _ = p.Open(ctx, 0)
			sessions[i].Ping(ctx, 0)
			g.note("session %d", sessions[i].ID())
		}
		for _, s := range sessions {
			s.Return()
			if s.Ping(ctx, 0) != mysql.ErrSessionOver {
				t.Error("a returned session is still usable")
			}
		}
		if second {
			p.Kill(ctx, 0, 2)
			g.note("%v", p.Kill(ctx, 0, 3))
			for range 2 {
				s, _ := p.Open(ctx, 0)
				g.note("session %d", s.ID())
			}
		}
		return nil
	}, "c1", "c2")
	want(t, g.run(t, time.Minute),
		"0s session 1", "0s session 2", "1ms session 3", "1ms c1 ends: <nil>",
		"1s session 2", "1s session 1", "1s session 4",
		"1.001s mysql: no such session", "1.001s session 1", "1.001s session 5", "1.001s c2 ends: <nil>")
}

// A power loss takes what is not on the disk: everything, the commits of the last
// second, or nothing.
func TestAServerLosesPower(t *testing.T) {
	for name, c := range map[string]struct {
		fsync catalogue.Fsync
		at    time.Duration
		want  []string
	}{
		"none":              {catalogue.FsyncNone, 5 * time.Second, []string{"5s mysql-1 lose"}},
		"everysec, at once": {catalogue.FsyncEverysec, 2*time.Second + 900*time.Millisecond, []string{"2.9s mysql-1 lose"}},
		"everysec, later":   {catalogue.FsyncEverysec, 3*time.Second + 100*time.Millisecond, nil},
		"always":            {catalogue.FsyncAlways, 2*time.Second + 900*time.Millisecond, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newMySQLOn(catalogue.Server{Fsync: c.fsync}, 1, func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
				at(e, ctx, 2*time.Second+time.Second/2)
				_, err := p.Insert(ctx, 0, mysql.Row{Resource: "a"}, 10*time.Second, mysql.Grants)
				at(e, ctx, 10*time.Second)
				return err
			}, "c1")
			g.After(c.at, func() { must(t, g.Stop("mysql-1", true)); must(t, g.Start("mysql-1")) })
			want(t, g.run(t, time.Minute), append(append([]string{"2.5s mysql-1 grant"}, c.want...), "10s c1 ends: <nil>")...)
		})
	}
}

// NOW(3) reads the server's wall clock, but a wait is measured with its monotonic
// clock.
func TestAServersClocks(t *testing.T) {
	var g *group
	g = newMySQL(func(e catalogue.Env, ctx context.Context, p mysql.Port) error {
		if e.Host.Unique()[:2] == "c1" {
			_, err := p.GetLock(ctx, 0, "a", 0)
			return err
		}
		at(e, ctx, time.Second)
		_, _, now, _ := p.Select(ctx, 0, "a")
		g.note("it is %v", time.Duration(now)*time.Millisecond-epoch)
		ok, err := p.GetLock(ctx, time.Minute, "a", 6*time.Second)
		g.note("%v", ok)
		return err
	}, "c1", "c2")
	g.After(time.Second/2, func() { must(t, g.Jump("mysql-1", -time.Hour)) })
	g.After(2*time.Second, func() { must(t, g.Rate("mysql-1", 5*time.Second)) })
	want(t, g.run(t, time.Minute),
		"0s mysql-1 grant", "0s c1 ends: <nil>", "1s it is -59m59s", "5.333s false", "5.333s c2 ends: <nil>")
}
