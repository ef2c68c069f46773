package docker_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// workerProcess is a worker of ours with one client of a lock.
type workerProcess struct {
	*testing.T
	*worker.Process
	enters chan worker.Answer
}

// session is longer than a heartbeat may take on a busy machine.
const session = 4 * time.Second

// entered returns the next entry of a run. It fails the test if the run ends first.
func entered(t *testing.T, w workerProcess, over <-chan worker.Reply) (a worker.Answer) {
	t.Helper()
	select {
	case a = <-w.enters:
	case r := <-over:
		t.Fatalf("the run is over: %+v", r)
	}
	return a
}

// work starts a worker whose lock uses an ensemble.
func work(t *testing.T, lock string, members []string) workerProcess {
	t.Helper()
	w := workerProcess{T: t, enters: make(chan worker.Answer, 9)}
	var err error
	w.Process, err = worker.Start([]string{os.Args[0], "worker"}, nil, worker.Handler{Do: func(a worker.Answer) { w.enters <- a }})
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

// asks returns the answer to an operation.
func (w workerProcess) asks(op string, timeout time.Duration) (worker.Answer, error) {
	return w.Ask(worker.Request{Op: op, Client: "c", Lock: "a", TimeoutMS: timeout.Milliseconds()}, 2*patience)
}

// Workers use real ensembles: a release hands the lock over, and so does the end of a
// session. The end of a worker is not a release.
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
	asked := time.Now() // before c2's last message to the ensemble
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
		t.Errorf("its node was removed after %v, before the end of its session", lived)
	}
}

// Locks of the catalogue call the critical section themselves.
func TestZooKeeperRunsInWorkers(t *testing.T) {
	t.Parallel()
	g := dockertest.ZooKeeper(t)
	for _, lock := range []string{"zk-predecessor", "zk-predecessor-recheck", "zk-predecessor-leaky-timeout"} {
		t.Run(lock, func(t *testing.T) {
			run := func(w workerProcess) <-chan worker.Reply {
				_, reply := w.Call(worker.Request{Op: worker.OpRun, Client: "c", Lock: lock})
				return reply
			}
			c1, c2 := work(t, lock, g.Addrs()), work(t, lock, g.Addrs())
			over := run(c1)
			first := entered(t, c1, over)
			next := run(c2)
			select {
			case a := <-c2.enters:
				t.Fatalf("the second run enters, too: %+v", a)
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
