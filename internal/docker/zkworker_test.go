package docker_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// worked is a worker of ours with one client of a lock.
type worked struct {
	*testing.T
	*worker.Process
	enters chan worker.Answer
}

// session is longer than it takes to hear of heartbeats on a busy machine.
const session = 4 * time.Second

// entered is the next entry of a run, which may be over before.
func entered(t *testing.T, w worked, over <-chan worker.Reply) (a worker.Answer) {
	t.Helper()
	select {
	case a = <-w.enters:
	case r := <-over:
		t.Fatalf("it is over: %+v", r)
	}
	return a
}

// work starts one whose lock stands on an ensemble.
func work(t *testing.T, lock string, members []string) worked {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	w := worked{T: t, enters: make(chan worker.Answer, 9)}
	w.Process, err = worker.Start([]string{self, "worker"}, nil, worker.Handler{Do: func(a worker.Answer) { w.enters <- a }})
	must(t, err)
	t.Cleanup(func() { must(t, w.Kill()) })
	_, err = w.Ask(worker.Request{
		Op: worker.OpInit, Protocol: worker.Protocol, Clients: []string{"c"}, Locks: []string{"a"}, TTLMS: session.Milliseconds(),
		Targets: map[string][]string{worker.TargetZooKeeper: members},
		Options: worker.LockOptions(lock, catalogue.Options{Token: true}),
	}, 2*patience)
	must(t, err)
	return w
}

// asks is an operation's answer.
func (w worked) asks(op string, timeout time.Duration) (worker.Answer, error) {
	return w.Ask(worker.Request{Op: op, Client: "c", Lock: "a", TimeoutMS: timeout.Milliseconds()}, 2*patience)
}

// Workers bring a lock that stands on a real ensemble: a release hands it over,
// and so does the end of a session. What a worker's end cuts short is no release.
func TestZooKeeperInWorkers(t *testing.T) {
	t.Parallel()
	g := dockertest.ZooKeeper(t)
	c1, c2 := work(t, "zk-recipe", g.Addrs()), work(t, "zk-recipe", g.Addrs())
	first, err := c1.asks(history.Acquire, patience)
	must(t, err)
	if _, err := c2.asks(history.Acquire, 300*time.Millisecond); !errors.Is(err, locks.ErrNotAcquired) {
		t.Errorf("while it is held: %v", err)
	}
	_, err = c1.asks(history.Release, 0)
	must(t, err)
	asked := time.Now() // before the ensemble has heard of c2 last
	second, err := c2.asks(history.Acquire, patience)
	must(t, err)
	if second.Token <= first.Token {
		t.Errorf("token %d after %d", second.Token, first.Token)
	}
	must(t, c2.Close(patience))
	if exit := c2.Exit(); exit != "exit status 0" {
		t.Errorf("the worker ended with %s: %s", exit, c2.Log())
	}
	_, err = c1.asks(history.Acquire, patience)
	must(t, err)
	if lived := time.Since(asked); lived < session {
		t.Errorf("its node went after %v, before its session was over", lived)
	}
}

// The locks that call the critical section themselves do so.
func TestZooKeeperRunsInWorkers(t *testing.T) {
	t.Parallel()
	g := dockertest.ZooKeeper(t)
	for _, lock := range []string{"zk-predecessor", "zk-predecessor-recheck", "zk-predecessor-leaky-timeout"} {
		t.Run(lock, func(t *testing.T) {
			run := func(w worked) <-chan worker.Reply {
				_, reply := w.Call(worker.Request{Op: worker.OpRun, Client: "c", Lock: lock})
				return reply
			}
			c1, c2 := work(t, lock, g.Addrs()), work(t, lock, g.Addrs())
			over := run(c1)
			first := entered(t, c1, over)
			next := run(c2)
			select {
			case a := <-c2.enters:
				t.Fatalf("it enters as well: %+v", a)
			case <-time.After(300 * time.Millisecond):
			}
			must(t, c1.Send(worker.Request{ID: first.ID, Entry: first.Entry}))
			if r := <-over; r.Err != nil || r.Answer.Err() != nil {
				t.Errorf("%+v", r)
			}
			second := entered(t, c2, next)
			if second.Token <= first.Token {
				t.Errorf("token %d after %d", second.Token, first.Token)
			}
			must(t, c2.Send(worker.Request{ID: second.ID, Entry: second.Entry}))
			if r := <-next; r.Err != nil || r.Answer.Err() != nil {
				t.Errorf("%+v", r)
			}
		})
	}
}
