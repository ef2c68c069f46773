package explore

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/locks"
)

// reference is a lock that is right by construction. One step of a server that never
// fails, without the network, grants, fences or releases. It has no lease; a client's
// death frees its lock at that instant. Any violation is a false alarm.
type reference struct {
	observer env.Observer
	holder   *referenceLease
	token    uint64
}

// simHost is what the simulator's hosts offer beyond locks.Host.
type simHost interface {
	locks.Host
	Op() env.Op
	Dead() bool
}

type referenceClient struct {
	server *reference
	host   simHost
}

type referenceLease struct {
	client referenceClient
	token  uint64
	op     int // the acquire that got it
}

func (c referenceClient) Acquire(ctx context.Context, _ string) (locks.Lease, error) {
	s := c.server
	for {
		if s.holder != nil && s.holder.client.host.Dead() {
			s.tell(history.Lose, 0)
			s.holder = nil
		}
		if s.holder == nil {
			s.token++
			s.holder = &referenceLease{c, s.token, c.host.Op().Index}
			s.tell(history.Granted, c.host.Op().Index)
			return s.holder, nil
		}
		if c.host.Backoff(ctx, 1, 300*time.Millisecond) != nil {
			return nil, locks.ErrNotAcquired
		}
	}
}

func (c referenceClient) Close(context.Context) error { return nil }

func (l *referenceLease) Token() uint64 { return l.token }

func (l *referenceLease) Release(context.Context) error {
	s := l.client.server
	if s.holder != l {
		return locks.ErrNotHeld
	}
	s.tell(history.Remove, l.client.host.Op().Index)
	s.holder = nil
	return nil
}

func (s *reference) tell(f string, by int) {
	e := history.Entry{
		Process: history.Process{Name: "reference"}, Type: history.Event, F: f,
		Lock: harness.LockName, Key: harness.LockName, Op: history.Some(int64(s.holder.op)),
	}
	if by != 0 {
		e.By = history.Some(int64(by))
	}
	s.observer.Server(e)
}

func openReference(d env.Decisions) harness.Open {
	return func(cfg env.Config, o env.Observer) (env.Environment, error) {
		server := &reference{observer: o}
		cfg.Lock.New = func(e catalogue.Env) locks.Locker { return referenceClient{server, e.Host.(simHost)} }
		return sim.New(cfg, o, d), nil
	}
}

// The judge raises no false alarm in 20,000 runs of a lock that cannot be wrong, under
// every fault, with each strategy.
func TestTheReferenceLockIsNeverViolated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		strategy string
		runs     int
	}{{harness.Random, 20_000}, {harness.PCT, 6_000}} {
		t.Run(cmp.Or(tt.strategy, "random"), func(t *testing.T) {
			neverConvicted(t, tt.strategy, alltests.Budget(tt.runs, tt.runs/20))
		})
	}
}

func neverConvicted(t *testing.T, strategy string, runs int) {
	t.Helper()
	all := faults.All()
	var reached checker.Counts
	buffer := new(harness.Buffer)
	for i := range runs {
		s := Settings{
			Lock: "redis-setnx", On: "sim", Lease: 10 * time.Second, Seed: uint64(i), Fencing: history.FencingAll,
			Options: catalogue.Options{Token: true},
			Clients: AnyClients, Acquires: Range{1, 12},
			Kinds: all[i%len(all) : i%len(all)+1], Count: Range{1, 3},
			Strategy: strategy,
		}
		plan := s.Plan(0)
		h, err := harness.Run(plan, openReference(plan.Decide(false)), buffer, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", i, err)
		}
		for _, v := range checker.Judge(h) {
			if v.Outcome == checker.Violated {
				t.Errorf("%s, seed %d: %s is violated: %s", plan.Faults[0].Fault, i, v.Property, v.Witness.Sentence)
			}
		}
		reached.Add(checker.Reach(h))
	}
	if reached[checker.PauseHitHolder] == 0 || reached[checker.KillHitHolder] == 0 || reached[checker.Contended] == 0 {
		t.Errorf("the runs reached too little: %v", reached.Map())
	}
}
