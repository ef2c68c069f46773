package harness

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// line is a lock with a queue below /a, and a node /held for the holder. A client that
// cuts in tries to make that node without a look at the queue.
type line struct {
	catalogue.Env
	cutsIn bool
	node   string
	handle zookeeper.Handle
}

const held = "/held"

func (l *line) Close(context.Context) error { return nil }

func (l *line) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	if l.handle.Session == nil {
		h, err := l.ZooKeeper.Open(ctx, l.Lease, l.Lease)
		if err != nil {
			return nil, err
		}
		l.handle = h
	}
	_, err := l.handle.Create(ctx, l.Lease, "/"+name, "", zookeeper.Persistent)
	if err != nil && !errors.Is(err, zookeeper.NodeExists) {
		return nil, err
	}
	l.node, err = l.handle.Create(ctx, l.Lease, "/"+name+"/q", "", zookeeper.Ephemeral|zookeeper.Sequential)
	if err != nil {
		return nil, err
	}
	number := int64(0)
	for _, digit := range strings.TrimPrefix(l.node, "/"+name+"/q") {
		number = 10*number + int64(digit-'0')
	}
	l.Host.Report(locks.News{Queued: number + 1})
	for {
		queue, err := l.handle.GetChildren(ctx, l.Lease, "/"+name, false)
		if err != nil {
			return nil, err
		}
		if l.cutsIn || "/"+name+"/"+slices.Min(queue) == l.node {
			_, err = l.handle.Create(ctx, l.Lease, held, "", zookeeper.Ephemeral)
			if err == nil {
				return l, nil
			}
		}
		if err := l.Host.Backoff(ctx, l.Lease/100, l.Lease/50); err != nil {
			return nil, err
		}
	}
}

func (l *line) Release(ctx context.Context) error {
	return errors.Join(l.handle.Delete(ctx, l.Lease, l.node, zookeeper.AnyVersion), l.handle.Delete(ctx, l.Lease, held, zookeeper.AnyVersion))
}

// A lock that lets clients cut in line violates fairness in every run, and the same
// lock without that in none.
func TestCuttingInLineViolatesFairness(t *testing.T) {
	for _, c := range []struct {
		name   string
		cutsIn bool
		want   int // runs of 20
	}{
		{"keeps to the queue", false, 0},
		{"cuts in", true, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lock := catalogue.Lock{
				ID: "line", Store: catalogue.StoreZooKeeper, Lease: catalogue.LeaseSession, Order: true,
				Steps: catalogue.Requests{Acquire: 4, Release: 2},
				New:   func(e catalogue.Env) locks.Locker { return &line{Env: e, cutsIn: c.cutsIn} },
			}
			convicted := 0
			for seed := range uint64(20) {
				p := &Plan{Lock: lock.ID, On: "sim", Seed: seed, Lease: 10 * time.Second, Clients: []string{"c1", "c2", "c3", "c4"}, Acquires: 10}
				p.Use(&lock)
				j := simulate(t, p)
				must(t, history.Check(j.History))
				for _, property := range []checker.Property{checker.Exclusion, checker.Liveness} {
					if got := j.Outcome(property); got != checker.Valid {
						t.Errorf("seed %d: %s is %s", seed, property, got)
					}
				}
				switch j.Outcome(checker.Fairness) {
				case checker.Violated:
					convicted++
				case checker.Valid:
				default:
					t.Errorf("seed %d: fairness is %s", seed, j.Outcome(checker.Fairness))
				}
			}
			if convicted != c.want {
				t.Errorf("violated in %d of 20 runs, want %d", convicted, c.want)
			}
		})
	}
}

// ZooKeeper's recipe breaks its order only when its queue is empty: no fault makes it
// unfair. A lock without a queue promises no order.
func TestFairnessOfTheLocks(t *testing.T) {
	for _, c := range []struct {
		lock string
		want checker.Outcome
	}{
		{"zk-recipe", checker.Valid},
		{"redis-set-lua", checker.NA},
	} {
		l, _ := catalogue.FindLock(c.lock)
		for _, f := range applicableFaults(l) {
			t.Run(c.lock+"/"+f.Name, func(t *testing.T) {
				t.Parallel()
				for seed := range seeds(10) {
					j := simulate(t, randomPlan(c.lock, f.Name, seed))
					if got := j.Outcome(checker.Fairness); got != c.want && (got != checker.Unknown || j.Reached[checker.Grants] > 0) {
						t.Errorf("seed %d: fairness is %s, want %s", seed, got, c.want)
					}
				}
			})
		}
	}
}
