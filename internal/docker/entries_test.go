package docker_test

import (
	"database/sql"
	"log"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
)

// declaring runs a script with a worker that declares entries in a store and does nothing
// else: the script acts as the clients.
func declaring(t *testing.T, w *witness, store, entries string, script func(p *docker.Environment)) {
	t.Helper()
	lock, err := catalogue.WorkerLock("worker", store)
	must(t, err)
	p, err := docker.New(t.Context(), env.Config{
		Lock: lock, Lease: 4 * time.Second, Clients: []string{"c1", "c2"}, Names: []string{"a"}, Seed: 1,
		Worker: []string{"sh", "-c", `read q; echo '{"id":1,"ok":true,"entries":[` + entries + `]}'; exec cat >/dev/null`},
	}, w, docker.Options{Log: t.Output()})
	must(t, err)
	p.Go(func() { script(p) })
	must(t, p.Run())
	if got := p.Observes(); !slices.Contains(got, "ownership") || !slices.Contains(got, "answers") {
		t.Errorf("observes %q", got)
	}
	must(t, p.Close())
}

// A worker's table is observed from its declaration on: the owner in a row has the lock.
func TestRowsThatAWorkerDeclares(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	w := &witness{}
	declaring(t, w, "mysql", `{"mysql":{"table":"lockcheck_lock","key":"resource","owner":"owner"}}`, func(p *docker.Environment) {
		c1, c2 := through(t, p, "c1"), through(t, p, "c2")
		does(t, p, c1, "c1", 1, "INSERT INTO lockcheck_lock (resource, version_no, expire_time, owner) VALUES ('a', 0, 5, 'c1')")
		does(t, p, c2, "c2", 2, "UPDATE lockcheck_lock SET owner = 'c2' WHERE resource = 'a'")
		does(t, p, c2, "c2", 3, "UPDATE lockcheck_lock SET owner = NULL WHERE resource = 'a'")
		does(t, p, c1, "c1", 4, "UPDATE lockcheck_lock SET owner = 'c1' WHERE resource = 'a' AND owner IS NULL")
		does(t, p, c2, "c2", 5, "DELETE FROM lockcheck_lock")
		does(t, p, c1, "c1", 6, "INSERT INTO lockcheck_lock (resource, version_no, expire_time, owner) VALUES ('a', 0, 5, 'c1')")
		must(t, p.Tamper("mysql-1", faults.Removal, 0))
	})
	wantLines(t, w, "grant a of 1 by 1", "takeover a of 1 by 2", "grant a of 2 by 2", "remove a of 2 by 3", "grant a of 4 by 4", "remove a of 4 by 5",
		"grant a of 6 by 6", "remove a of 6 by nobody")
}

// Named locks of a worker are observed, although no server reports them: who holds them is
// asked before each answer passes. They end with their session, and with their server.
func TestNamedLocksThatAWorkerDeclares(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	w := &witness{}
	declaring(t, w, "mysql", `{"mysql":"get_lock","name":"my-{name}"}`, func(p *docker.Environment) {
		c1, c2 := through(t, p, "c1"), through(t, p, "c2")
		c1.SetMaxOpenConns(1)
		c2.SetMaxOpenConns(1)
		asks := func(db *sql.DB, client string, op, want int, q string, args ...any) {
			t.Helper()
			docker.As(p, client, op)
			var got sql.NullInt64
			if err := db.QueryRowContext(t.Context(), q, args...).Scan(&got); err != nil || got.Int64 != int64(want) {
				t.Errorf("%s in operation %d: %v, %v", q, op, got, err)
			}
		}
		const get, free = "SELECT GET_LOCK('my-a', ?)", "SELECT RELEASE_LOCK('my-a')"
		asks(c1, "c1", 1, 1, get, 0)
		asks(c2, "c2", 2, 0, get, 0)
		asks(c2, "c2", 3, 0, free)
		asks(c1, "c1", 4, 1, get, 0)
		asks(c1, "c1", 5, 1, free)
		var waits sync.WaitGroup
		waits.Go(func() { asks(c2, "c2", 6, 1, get, patience.Seconds()) })
		until(t, p, "c2 waits", func() bool { return docker.Waits(p) == 1 })
		asks(c1, "c1", 7, 1, free)
		waits.Wait()
		must(t, p.ExpireSession("c2"))
		asks(c1, "c1", 8, 1, get, patience.Seconds())
		must(t, p.Tamper("mysql-1", faults.Removal, 0))
		asks(c2, "c2", 9, 1, get, 0)
		must(t, p.Stop("mysql-1", false))
		must(t, p.Start("mysql-1"))
	})
	wantLines(t, w, "grant my-a of 1 by 1", "prolong my-a of 1 by 4", "remove my-a of 1 by 7", "grant my-a of 6 by 6",
		"lose my-a of 6 by nobody", "grant my-a of 8 by 8", "lose my-a of 8 by nobody",
		"grant my-a of 9 by 9", "lose my-a of 9 by nobody")
}

// A worker's keys are entries if it declares them, and others are none.
func TestKeysThatAWorkerDeclares(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	w := &witness{}
	declaring(t, w, "redis", `{"redis":"lock:{name}"}`, func(p *docker.Environment) {
		wantSaid(t, p, redis1, 1, "SET lock:a v1 NX PX 60000", "+OK")
		wantSaid(t, p, redis1, 2, "SET a v2", "+OK")
		wantSaid(t, p, redis1, 3, "DEL lock:a", ":1")
		wantSaid(t, p, redis1, 4, "SET lock:a v1 NX PX 60000", "+OK")
		must(t, p.Tamper(redis1, faults.Removal, 0))
		wantSaid(t, p, redis1, 5, "EXISTS lock:a a", ":1")
	})
	wantLines(t, w, "grant lock:a of 1 by 1", "remove lock:a of 1 by 3", "grant lock:a of 4 by 4", "remove lock:a of 4 by nobody")
}

// The children of a declared node are entries, and so is the node itself if it is
// ephemeral. Other nodes are none, and the node for the children may be made at any time.
func TestNodesThatAWorkerDeclares(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	w := &witness{}
	declaring(t, w, "zookeeper", `{"zookeeper":"/locks/{name}"},{"zookeeper":"/own-{name}"}`, func(p *docker.Environment) {
		session := func(client string) *zk.Conn {
			conn, _, err := zk.Connect([]string{docker.Via(p, client, "zk-1")}, patience, zk.WithLogger(log.New(t.Output(), "", 0)))
			must(t, err)
			t.Cleanup(conn.Close)
			return conn
		}
		c1, c2 := session("c1"), session("c2")
		create := func(conn *zk.Conn, client string, op int, path string, flags int32) {
			t.Helper()
			docker.As(p, client, op)
			_, err := conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll))
			must(t, err)
		}
		remove := func(conn *zk.Conn, client string, op int, path string) {
			t.Helper()
			docker.As(p, client, op)
			must(t, conn.Delete(path, -1))
		}
		create(c1, "c1", 1, "/locks", 0)
		create(c1, "c1", 1, "/locks/a", 0)
		create(c1, "c1", 1, "/locks/a/x", zk.FlagEphemeral)
		create(c2, "c2", 2, "/locks/a/y", zk.FlagEphemeral)
		create(c2, "c2", 2, "/locks/b", zk.FlagEphemeral)
		remove(c2, "c2", 3, "/locks/a/x")
		create(c2, "c2", 4, "/own-a", zk.FlagEphemeral)
		remove(c1, "c1", 5, "/own-a")
		create(c1, "c1", 6, "/locks/a/z", zk.FlagEphemeral)
		must(t, p.Tamper("zk-2", faults.Removal, 1))
		must(t, p.ExpireSession("c2"))
	})
	wantLines(t, w, "grant /locks/a/x of 1 by 1", "grant /locks/a/y of 2 by 2", "remove /locks/a/x of 1 by 3",
		"grant /own-a of 4 by 4", "remove /own-a of 4 by 5", "grant /locks/a/z of 6 by 6", "remove /locks/a/z of 6 by nobody", "expire /locks/a/y of 2 by nobody")
}
