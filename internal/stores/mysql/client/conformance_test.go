package client_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/client"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/porttest"
)

// The client and a real server must answer like the model.
func TestConformance(t *testing.T) {
	porttest.Run(t, func(t *testing.T, o model.Options) porttest.World {
		// A killed process loses no data that the kernel has, so the server need
		// not wait for a disk.
		flags := []string{"--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync"}
		if o.LockWait > 0 {
			flags = append(flags, fmt.Sprintf("--innodb-lock-wait-timeout=%d", o.LockWait/time.Second))
		}
		if o.WaitTime > 0 {
			flags = append(flags, fmt.Sprintf("--wait-timeout=%d", o.WaitTime/time.Second))
		}
		s := dockertest.MySQL(t, flags...)
		admin, err := s.Admin()
		must(t, err)
		options := client.Options{Addr: s.Addr, Timeout: time.Minute}
		must(t, client.Create(t.Context(), options))
		w := &world{t: t, server: s, admin: admin, options: options, start: time.Now(), ways: map[int64]*wire{}}
		w.port, _, _ = newClient(t, options)
		t.Cleanup(func() {
			admin.Close()
			w.wakers.Wait()
		})
		return w
	})
}

// world is a porttest.World of a real server.
type world struct {
	t       *testing.T
	server  *docker.MySQLServer
	admin   *sql.DB
	options client.Options
	port    mysql.Port
	start   time.Time
	wakers  sync.WaitGroup

	calls []*call // statements that may be under way

	mu   sync.Mutex
	ways map[int64]*wire // of sessions
}

func (w *world) Port() mysql.Port { return w.port }

func (w *world) Open() mysql.Handle {
	p, _, wires := newClient(w.t, w.options)
	h := open(w.t, p)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ways[h.ID()] = wires.last()
	return h
}

func (w *world) way(h mysql.Handle) *wire {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ways[h.ID()]
}

func (w *world) Drop(h mysql.Handle) { w.way(h).drop() }

func (w *world) Silence(h mysql.Handle) { y := w.way(h); y.set(func() { y.silent = true }) }

func (w *world) Now() time.Duration    { return time.Since(w.start) }
func (w *world) Sleep(d time.Duration) { time.Sleep(d) }
func (w *world) Slack() time.Duration  { return 20 * time.Millisecond }

// Start returns when the statement has an answer, or when the server shows that
// it waits.
func (w *world) Start(h mysql.Handle, c mysql.Command) porttest.Call {
	w.rest()
	k := &call{done: make(chan struct{}), session: h.ID(), verb: c.Verb, way: w.way(h)}
	w.calls = append(w.calls, k)
	go func() {
		defer close(k.done)
		k.reply, k.err = h.Do(context.Background(), 0, c)
	}()
	for limit := time.Now().Add(patience); !k.await(2*time.Millisecond) && time.Now().Before(limit); {
		if k.waits = w.waits(h.ID(), c.Verb); k.waits {
			break
		}
	}
	return k
}

// rest waits until each statement under way has an answer or waits for a row. The
// commit that wakes a statement has its answer before the statement has taken its
// next lock.
func (w *world) rest() {
	for limit := time.Now().Add(patience); ; {
		w.calls = slices.DeleteFunc(w.calls, func(k *call) bool {
			return k.await(0) || k.verb == mysql.GetLock || k.way.isSilent()
		})
		if len(w.calls) == 0 {
			return
		}
		waiting := w.innodb().waiting
		moves := func(k *call) bool { return !waiting[k.session] && !k.await(0) }
		if !slices.ContainsFunc(w.calls, moves) {
			return
		}
		if time.Now().After(limit) {
			w.t.Fatalf("after %v there are still statements that neither wait nor have an answer", patience)
		}
	}
}

// waits reports whether a session's statement waits for a row or a named lock.
func (w *world) waits(session int64, v mysql.Verb) bool {
	if v == mysql.GetLock {
		return w.list()[session] == "User lock"
	}
	return w.innodb().waiting[session]
}

// list returns the state of each session.
func (w *world) list() map[int64]string {
	states := map[int64]string{}
	w.query("SELECT ID, IF(COMMAND = 'Query', COALESCE(STATE, ''), COMMAND) FROM information_schema.PROCESSLIST", func(rows *sql.Rows) error {
		var id int64
		var state string
		err := rows.Scan(&id, &state)
		states[id] = state
		return err
	})
	return states
}

// innodb is InnoDB's status. The same data in information_schema may be 100 ms
// old.
type innodb struct {
	waiting map[int64]bool // the sessions whose statements wait for rows
	purged  string         // progress of the purge
	history int            // transactions that are not purged yet
	next    int64          // next number of a transaction or a commit
	done    int64          // the purge has handled all commits below this number
	open    map[int64]bool // numbers of open transactions
	views   bool           // one of them keeps a snapshot
}

func (w *world) innodb() innodb {
	b := innodb{waiting: map[int64]bool{}, open: map[int64]bool{}}
	w.query("SHOW ENGINE INNODB STATUS", func(rows *sql.Rows) error {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return err
		}
		_, text, _ = strings.Cut(text, "\nTrx id counter ")
		all := strings.Split(text, "\n---TRANSACTION ")
		_, b.purged, _ = strings.Cut(all[0], "\n")
		b.views = strings.Contains(text, "\nTrx read view ")
		if _, err := fmt.Sscanf(all[0], "%d\nPurge done for trx's n:o < %d", &b.next, &b.done); err != nil {
			return err
		}
		_, after, _ := strings.Cut(all[0], "\nHistory list length ")
		if _, err := fmt.Sscan(after, &b.history); err != nil {
			return err
		}
		for _, trx := range all[1:] {
			var number, session int64
			_, after, _ := strings.Cut(trx, "\nMariaDB thread id ")
			if _, err := fmt.Sscanf(trx, "%d,", &number); err != nil {
				continue // not started
			}
			b.open[number] = true
			if _, err := fmt.Sscanf(after, "%d,", &session); err == nil && strings.Contains(trx, "\nLOCK WAIT ") {
				b.waiting[session] = true
			}
		}
		return nil
	})
	return b
}

// isPurged reports whether everything is purged that can be. While transactions are
// open the server keeps one or two purged entries. So all is purged, too, if all
// numbers from done on belong to open transactions.
func (b innodb) isPurged() bool {
	if b.history == 0 || b.views {
		return true
	}
	for n := b.done; n < b.next; n++ {
		if !b.open[n] {
			return false
		}
	}
	return true
}

// query runs a query and calls row for each row.
func (w *world) query(query string, row func(*sql.Rows) error) {
	rows, err := w.admin.Query(query)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() && err == nil {
		err = row(rows)
	}
	if err != nil || rows.Err() != nil {
		w.t.Fatal(query, err, rows.Err())
	}
}

func (w *world) run(query string) {
	if _, err := w.admin.Exec(query); err != nil {
		w.t.Error(query, err)
	}
}

func (w *world) Empty() { w.run("TRUNCATE TABLE " + client.Database + "." + mysql.Table) }

func (w *world) ReadOnly(on bool) { w.run(fmt.Sprintf("SET GLOBAL read_only = %t", on)) }

// Settle waits for the purge, and wakes it: it may sleep for up to a second. It
// also waits for the end of closed sessions, except those whose statement waits
// for a row: the server notices their lost client only after that wait.
func (w *world) Settle() {
	w.wakers.Go(func() { w.admin.Exec("SET GLOBAL innodb_max_purge_lag_wait = 0") }) // fails if the server is killed meanwhile
	b := w.innodb()
	for last := time.Now(); !b.isPurged() && time.Since(last) < stands; {
		before := b.purged
		if b = w.innodb(); b.purged != before {
			last = time.Now()
		}
	}
	for limit := time.Now().Add(patience); !w.allClosed(b.waiting); b = w.innodb() {
		if time.Now().After(limit) {
			w.t.Fatalf("after %v there are still sessions that are over", patience)
		}
	}
}

// stands is the time without progress after which an awake purge has nothing to
// do.
const stands = 200 * time.Millisecond

// allClosed reports whether all closed sessions have ended, except the waiting ones.
func (w *world) allClosed(waiting map[int64]bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list()
	for id, y := range w.ways {
		switch _, there := list[id]; {
		case !y.hasEnded():
		case !there:
			delete(w.ways, id)
		case !waiting[id]:
			return false
		}
	}
	return true
}

func (w *world) Restart() {
	ctx := context.Background()
	err := w.server.Kill(ctx)
	if err == nil {
		err = w.server.Start(ctx)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// call is a statement under way.
type call struct {
	session int64
	verb    mysql.Verb
	way     *wire
	done    chan struct{}
	waits   bool // the server has shown that it waits
	reply   mysql.Reply
	err     error
}

// await waits up to d for the answer, and reports whether it has come.
func (k *call) await(d time.Duration) bool {
	select {
	case <-k.done: // even if d is over
		return true
	default:
	}
	select {
	case <-k.done:
		return true
	case <-time.After(d):
		return false
	}
}

func (k *call) Answer(d time.Duration) (r mysql.Reply, done bool, err error) {
	if !k.await(d) {
		return mysql.Reply{}, false, nil
	}
	return k.reply, true, k.err
}
