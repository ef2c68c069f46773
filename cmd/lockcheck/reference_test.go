package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// referenceWorker is the argument that turns the test binary into a worker with the
// reference lock. The address of its server follows.
const referenceWorker = "reference-worker"

// referenceServer is the server of the reference lock for workers, which is right by
// construction, like its twin in package explore. The server grants, checks tokens and
// releases in one step each. It runs in the process of the test, never fails and is
// reached by no disturbed link. When a client's process ends, its lock is free.
type referenceServer struct {
	mu     sync.Mutex
	holder net.Conn
	token  uint64
}

// serve answers "acquire" with a token or 0, and "release" with 1 or 0.
func (s *referenceServer) serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		fmt.Fprintln(conn, s.step(conn, lines.Text()))
	}
	s.step(conn, "release")
}

func (s *referenceServer) step(conn net.Conn, what string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case what == "acquire" && s.holder == nil:
		s.token++
		s.holder = conn
		return s.token
	case what == "release" && s.holder == conn:
		s.holder = nil
		return 1
	}
	return 0
}

// referenceClient is the side of a worker.
type referenceClient struct {
	host   locks.Host
	conn   net.Conn
	answer *bufio.Reader
}

func referenceFactory(addr string) worker.Factory {
	return func(s worker.Setup) (locks.Locker, func() error, error) {
		conn, err := net.Dial("unix", addr)
		if err != nil {
			return nil, nil, err
		}
		return &referenceClient{s.Host, conn, bufio.NewReader(conn)}, conn.Close, nil
	}
}

func (c *referenceClient) ask(what string) (n uint64, err error) {
	if _, err = fmt.Fprintln(c.conn, what); err == nil {
		_, err = fmt.Fscanln(c.answer, &n)
	}
	return n, err
}

func (c *referenceClient) Acquire(ctx context.Context, _ string) (locks.Lease, error) {
	for {
		token, err := c.ask("acquire")
		if err != nil {
			return nil, err
		}
		if token > 0 {
			return referenceLease{c, token}, nil
		}
		if c.host.Backoff(ctx, 10*time.Millisecond, 20*time.Millisecond) != nil {
			return nil, locks.ErrNotAcquired
		}
	}
}

func (c *referenceClient) Close(context.Context) error { return nil }

type referenceLease struct {
	client *referenceClient
	token  uint64
}

func (l referenceLease) Token() uint64 { return l.token }

func (l referenceLease) Release(context.Context) error {
	n, err := l.client.ask("release")
	if err == nil && n == 0 {
		return locks.ErrNotHeld
	}
	return err
}

// The judge reports no violation of a lock that cannot break, with real processes and
// under every fault, for a minute.
func TestTheReferenceLockIsNeverConvictedOnWorkers(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	limit := time.Minute
	if !alltests.Wanted() {
		limit = 5 * time.Second
	}
	socket := filepath.Join(t.TempDir(), "reference")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var reached checker.Counts
	all := slices.DeleteFunc(faults.Usual(), func(f faults.Fault) bool { return f.Available(batch.Offers("docker", false)) != nil })
	start := time.Now()
	runs := 0
	for ; time.Since(start) < limit; runs++ {
		// Each run has a new server, so that a dead client of the last run does not
		// affect it.
		addr := fmt.Sprint(socket, runs)
		listener, err := net.Listen("unix", addr)
		if err != nil {
			t.Fatal(err)
		}
		server := &referenceServer{}
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go server.serve(conn)
			}
		}()
		s := explore.Settings{
			Lock: "reference", On: "docker", Lease: time.Second, Fencing: history.FencingAll,
			Clients: explore.Exactly(4), Acquires: explore.Exactly(6), Kinds: all[runs%len(all) : runs%len(all)+1], Count: explore.Exactly(2),
			Worker: []string{self, referenceWorker, addr}, Seed: uint64(runs),
		}
		plan := s.Plan(0)
		j, err := harness.Live(plan, docker.Opener(t.Context(), docker.Options{Log: t.Output()}, nil),
			func(history.Header) func(*history.Entry) { return func(*history.Entry) {} })
		listener.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range j.Verdicts {
			if v.Outcome == checker.Violated {
				t.Errorf("%s, seed %d: %s is said to be violated: %s", plan.Faults[0].Fault, runs, v.Property, v.Witness.Sentence)
			}
		}
		reached.Add(j.Reached)
	}
	t.Logf("%d runs: %v", runs, reached.Map())
	if reached[checker.Grants] == 0 || reached[checker.FaultTouched] == 0 || reached[checker.Contended] == 0 {
		t.Errorf("the runs were too tame: %v", reached.Map())
	}
}
