package docker_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// tables returns an environment with a MySQL server whose rows are locks. Its workers
// do nothing: tests act as the clients, through links.
func tables(t *testing.T, s catalogue.Server, w *witness, schedule []faults.Injection, script func(p *docker.Environment)) []string {
	t.Helper()
	start := time.Now()
	var p *docker.Environment
	observes := setup{
		lock: rowsLock, lease: 4 * time.Second, server: s, schedule: schedule,
		own: []string{"sh", "-c", `read q; echo '{"id":1,"ok":true,"name":"idle"}'; exec cat >/dev/null`},
	}.run(t, w, func(made *docker.Environment) {
		p = made
		t.Logf("up after %v", time.Since(start))
		script(p)
	})
	wantNothingLeft(t, p)
	return observes
}

// wantNothingLeft checks that a closed environment has left no server.
func wantNothingLeft(t *testing.T, p *docker.Environment) {
	t.Helper()
	if left, err := docker.Left(context.Background(), p); len(left) > 0 || err != nil {
		t.Errorf("left: %q, %v", left, err)
	}
}

// through returns a pool of a client's connections, of which one is made.
func through(t *testing.T, p *docker.Environment, client string) *sql.DB {
	t.Helper()
	c := driver.NewConfig()
	c.Net, c.Addr, c.User, c.DBName, c.InterpolateParams = "tcp", docker.Via(p, client, "mysql-1"), "lockcheck", "lockcheck", true
	c.Logger = &driver.NopLogger{}
	connector, err := driver.NewConnector(c)
	must(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	must(t, db.Ping())
	return db
}

const (
	insert  = "INSERT INTO " + mysql.Table + " (resource, version_no, expire_time) VALUES ('a', 0, ?) /* lockcheck: grants */"
	replace = "UPDATE " + mysql.Table + " SET version_no = version_no + 1, expire_time = ? WHERE resource = 'a' /* lockcheck: grants */"
	remove  = "DELETE FROM " + mysql.Table + " WHERE resource = 'a' /* lockcheck: frees */"
)

// does executes a client's statement in an operation.
func does(t *testing.T, p *docker.Environment, db *sql.DB, client string, op int, q string, args ...any) {
	t.Helper()
	docker.As(p, client, op)
	if _, err := db.ExecContext(context.Background(), q, args...); err != nil {
		t.Errorf("%s: %v", q, err)
	}
}

// The server's event always precedes the client's answer.
func TestRowsAreReportedBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	w := &witness{}
	var want []string
	observed(t, tables(t, catalogue.Server{}, w, nil, func(p *docker.Environment) {
		dbs := []*sql.DB{through(t, p, "c1"), through(t, p, "c2")}
		start := time.Now()
		for i := range 50 {
			client, db, n := fmt.Sprint("c", 1+i%2), dbs[i%2], 3*i+1
			does(t, p, db, client, n, insert, 5)
			w.add("inserted")
			does(t, p, db, client, n+1, replace, 7)
			w.add("replaced")
			does(t, p, db, client, n+2, remove)
			w.add("removed")
			want = append(want, fmt.Sprintf("grant a of %d by %[1]d", n), "inserted",
				fmt.Sprintf("takeover a of %d by %d", n, n+1), fmt.Sprintf("grant a of %d by %[1]d", n+1), "replaced",
				fmt.Sprintf("remove a of %d by %d", n+1, n+2), "removed")
		}
		t.Logf("%v a statement", time.Since(start)/150)
	}))
	wantLines(t, w, want...)
}

// try is does with a timeout, and returns the error.
func try(p *docker.Environment, db *sql.DB, client string, op int, within time.Duration, q string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	docker.As(p, client, op)
	_, err := db.ExecContext(ctx, q, args...)
	return err
}

// A restarted server has all data; after a loss of power it has its synced data.
func TestMySQLRestarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server catalogue.Server
		lose   bool
		want   string // of the row of operation 1, after its grant
	}{
		"a clean stop": {catalogue.Server{}, false, "remove a of 1 by 2"},
		"always":       {catalogue.Server{Fsync: catalogue.FsyncAlways}, true, "remove a of 1 by 2"},
		"never":        {catalogue.Server{}, true, "lose a of 1 by nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			observed(t, tables(t, c.server, w, nil, func(p *docker.Environment) {
				db := through(t, p, "c1")
				does(t, p, db, "c1", 1, insert, 5)
				must(t, p.Stop("mysql-1", c.lose))
				if err := try(p, db, "c1", 2, time.Second, remove); err == nil {
					t.Error("a stopped server answers")
				}
				must(t, p.Start("mysql-1"))
				does(t, p, db, "c1", 2, remove)
				does(t, p, db, "c1", 3, insert, 5)
			}))
			wantLines(t, w, "grant a of 1 by 1", c.want, "grant a of 3 by 3")
		})
	}
}

// The primary is out of reach, and its replica takes its place at the same address.
// Changes that the replica did not get are lost. The old primary comes back as a
// replica.
func TestMySQLFailover(t *testing.T) {
	t.Parallel()
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &witness{names: true}
			early, fate := true, "mysql-1b: remove a of 1 by 2"
			if name == "is cut off" { // then the row is new
				early, fate = false, "mysql-1b: lose a of 1 by nobody"
			}
			observed(t, tables(t, catalogue.Server{Replicas: 1}, w, nil, func(p *docker.Environment) {
				db := through(t, p, "c1")
				if early {
					does(t, p, db, "c1", 1, insert, 5)
					inStep(t, p, "mysql-1b")
				}
				must(t, outage.begin(p, "mysql-1"))
				if !early {
					does(t, p, db, "c1", 1, insert, 5)
				}
				promotion(t, p, w, 1)
				insist(t, p, db, 2, remove)
				must(t, outage.end(p, "mysql-1"))
				insist(t, p, db, 3, insert, 5)
				inStep(t, p, "mysql-1") // it must start empty
				must(t, p.Stop("mysql-1b", false))
				promotion(t, p, w, 2)
				insist(t, p, db, 4, remove)
			}))
			wantLines(t, w, "mysql-1: grant a of 1 by 1", "mysql-1b: promote after mysql-1", fate,
				"mysql-1b: grant a of 3 by 3", "mysql-1: promote after mysql-1b", "mysql-1: remove a of 3 by 4")
		})
	}
}

// promotion waits for the nth promotion.
func promotion(t *testing.T, p *docker.Environment, w *witness, n int) {
	t.Helper()
	start := time.Now()
	until(t, p, fmt.Sprintf("promotion %d", n), func() bool {
		seen := 0
		for _, line := range w.told() {
			if strings.Contains(line, "promote") {
				seen++
			}
		}
		return seen >= n
	})
	t.Logf("promoted after %v", time.Since(start))
}

// until waits until so returns true.
func until(t *testing.T, p *docker.Environment, what string, so func() bool) {
	t.Helper()
	for start := time.Now(); !so(); p.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 2*patience {
			t.Errorf("not within %v: %s", time.Since(start), what)
			return
		}
	}
}

// inStep waits until a replica has all changes of the primary.
func inStep(t *testing.T, p *docker.Environment, replica string) {
	t.Helper()
	until(t, p, replica+" has all changes", func() bool { return docker.Has(p, replica) })
}

// insist executes a statement that may find its connection broken.
func insist(t *testing.T, p *docker.Environment, db *sql.DB, op int, q string, args ...any) {
	t.Helper()
	for start := time.Now(); ; p.Sleep(5 * time.Millisecond) {
		err := try(p, db, "c1", op, 10*time.Second, q, args...)
		if err == nil {
			return
		}
		if time.Since(start) > patience {
			t.Errorf("%s: %v", q, err)
			return
		}
	}
}

// A server's clock jumps, and it is paused.
func TestMySQLClockAndPause(t *testing.T) {
	t.Parallel()
	w := &witness{}
	observed(t, tables(t, catalogue.Server{}, w, []faults.Injection{{Fault: "server-jump", On: []string{"mysql-1"}}}, func(p *docker.Environment) {
		db := through(t, p, "c1")
		// shows returns bounds for how far its clock is ahead.
		shows := func() (least, most time.Duration) {
			before := time.Now()
			var ms float64
			must(t, db.QueryRow("SELECT UNIX_TIMESTAMP(NOW(3)) * 1000").Scan(&ms))
			at := time.UnixMilli(int64(ms))
			return time.Until(at), at.Sub(before)
		}
		must(t, p.Jump("mysql-1", 3*time.Second))
		if least, most := shows(); least > 3100*time.Millisecond || most < 2900*time.Millisecond {
			t.Errorf("its clock is %v to %v ahead, want 3 s", least, most)
		}
		must(t, p.Jump("mysql-1", -5*time.Second))
		if least, most := shows(); least > -1900*time.Millisecond || most < -2100*time.Millisecond {
			t.Errorf("its clock is %v to %v ahead, want -2 s", least, most)
		}
		must(t, p.Pause("mysql-1"))
		if err := try(p, db, "c1", 1, 300*time.Millisecond, insert, 5); err == nil {
			t.Error("a paused server answers")
		}
		must(t, p.Resume("mysql-1"))
		until(t, p, "it goes on", func() bool { return len(w.told()) > 0 })
	}))
	wantLines(t, w, "grant a of 1 by 1")
}

// A session that is closed from elsewhere ends with its locks. A loss of power at the
// client does not end it.
func TestMySQLSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(p *docker.Environment) error
		free bool
	}{
		"killed from elsewhere": {func(p *docker.Environment) error { return p.ExpireSession("c1") }, true},
		"poweroff":              {func(p *docker.Environment) error { return p.PowerOff("c1") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tables(t, catalogue.Server{}, &witness{}, nil, func(p *docker.Environment) {
				locked := func(client string, within float64) (got int) {
					conn, err := through(t, p, client).Conn(t.Context())
					must(t, err)
					must(t, conn.QueryRowContext(t.Context(), "SELECT GET_LOCK('a', ?)", within).Scan(&got))
					return got
				}
				if locked("c1", 0) != 1 || locked("c2", 0) != 0 {
					t.Error("c1 must hold the lock, and c2 must not")
				}
				must(t, c.end(p))
				within := 0.3
				if c.free {
					within = patience.Seconds()
				}
				if got := locked("c2", within) == 1; got != c.free {
					t.Errorf("free: %v, want %v", got, c.free)
				}
			})
		})
	}
}

// The effect of a statement whose answer is lost is reported, too.
func TestMySQLLosesAnAnswer(t *testing.T) {
	t.Parallel()
	for _, action := range []faults.Action{faults.Swallow, faults.Reset, faults.Hold} {
		t.Run(fmt.Sprint(action), func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			observed(t, tables(t, catalogue.Server{}, w, nil, func(p *docker.Environment) {
				db := through(t, p, "c1")
				must(t, p.Impair(1, faults.Impairment{Client: "c1", Server: "mysql-1", Direction: faults.ToClient, Action: action}))
				if err := try(p, db, "c1", 1, 2*time.Second, insert, 5); err == nil {
					t.Error("the answer came")
				}
				w.add("given up")
				restore(t, p, 1)
			}))
			wantLines(t, w, "grant a of 1 by 1", "given up")
		})
	}
}
