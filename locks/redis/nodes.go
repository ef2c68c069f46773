package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// redlock is what the Redlocks share: rounds of requests to nodes that know
// nothing of one another, the count of those that granted, and the release.
type redlock struct {
	locker
	nodes []redis.Port
	recipe
}

// recipe is what they differ in.
type recipe struct {
	clock    func(locks.Host) time.Duration        // what the length of a round is taken with
	drift    func(ttl time.Duration) time.Duration // which a lease may end early by
	quorum   func(nodes, answered int) int         // how many have to grant
	parallel bool                                  // all nodes at once, not one after another
	restart  bool                                  // the lease counts from the end of the round, not from its start
	grantors bool                                  // only nodes that said yes are told to delete the key
}

func newRedlock(h locks.Host, nodes []redis.Port, o Options, r recipe) redlock {
	if o.Timeout == 0 {
		o.Timeout = nodeTimeout(o.TTL)
	}
	return redlock{newLocker(h, redis.Port{}, o), nodes, r}
}

// nodeTimeout is how long a request to one of several nodes may take: far less
// than the lease, so that a dead node does not use it up. The manual says 5 to
// 50 ms where a lease is 10 s, which is little for a network; this is 250 ms
// there, and 25 ms for a lease of 1 s.
func nodeTimeout(ttl time.Duration) time.Duration { return ttl / 40 }

// The clocks.
func mono(h locks.Host) time.Duration { return h.Mono() }

func wall(h locks.Host) time.Duration {
	return time.Duration(h.Now().UnixMilli()) * time.Millisecond
}

func wallSeconds(h locks.Host) time.Duration { return time.Duration(h.Now().Unix()) * time.Second }

// noDrift trusts all clocks, and hundredth allows for the drift that the manual
// allows for: 1 %, and 2 ms for how exactly Redis expires keys.
func noDrift(time.Duration) time.Duration { return 0 }

func hundredth(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// majority is that of all nodes, whether they can be reached or not.
func majority(nodes, _ int) int { return nodes/2 + 1 }

// Acquire does rounds until one gets the lock. Each writes a value of its own,
// "unique across all clients and all lock requests", as the manual asks: what
// undoes a round may be late, and must not find that of a later one.
func (r *redlock) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	var left error // why something of ours may be in a node
	for {
		r.host.Mark("round", flag(left))
		value := r.host.Unique()
		until, votes := r.round(func(node int) (bool, error) {
			return r.nodes[node].SetIfAbsent(ctx, r.Timeout, name, value, r.TTL)
		})
		if until > 0 {
			return r.granted(ctx, lease{locker: &r.locker, name: name, value: value, until: until, release: r.release}, votes)
		}
		if err := r.undo(name, value, votes); err != nil {
			left = err
		}
		if err := r.again(ctx, left); err != nil {
			return nil, err
		}
	}
}

// vote is what came of a request to a node.
type vote struct {
	yes bool
	err error
}

// open tells whether the node may have executed the request, or may later.
func (v vote) open() bool { return v.err != nil && !locks.IsDefinite(v.err) }

// each asks every node, and returns when all have answered or their time is up.
func (r *redlock) each(ask func(node int) (bool, error)) []vote {
	votes := make([]vote, len(r.nodes))
	tasks := make([]locks.Task, 0, len(r.nodes))
	for i := range r.nodes {
		one := func() { votes[i].yes, votes[i].err = ask(i) }
		if r.parallel {
			tasks = append(tasks, r.host.Go(func(context.Context) { one() }))
		} else {
			one()
		}
	}
	for _, t := range tasks {
		t.Wait()
	}
	return votes
}

// round asks every node for the lock. If enough of them grant it, and the time
// that this took leaves something of the lease, until is its end; else 0.
//
// Whatever a node answers but yes, an error included, is a no.
func (r *redlock) round(set func(node int) (bool, error)) (until time.Duration, votes []vote) {
	start := r.clock(r.host)
	votes = r.each(set)
	now := r.host.Mono()
	took := r.clock(r.host) - start
	validity := r.TTL - took - r.drift(r.TTL)
	yes, answered := 0, 0
	for _, v := range votes {
		if v.err == nil {
			answered++
		}
		if v.yes {
			yes++
		}
	}
	if yes < r.quorum(len(r.nodes), answered) || validity <= 0 {
		return 0, votes
	}
	if r.restart {
		validity += took
	}
	return now + validity, votes
}

// undo deletes what a round has set, on all nodes, whatever they have answered,
// and also when the caller's time is up. Without an error nothing is left.
func (r *redlock) undo(name, value string, set []vote) (left error) {
	for i, del := range r.delete(r.host.Life(), name, value, set) {
		switch {
		case del.yes: // what was set has been, and is gone
		case set[i].open():
			left = fmt.Errorf("a node may set the key yet: %v", set[i].err)
		case del.open(), set[i].yes && del.err != nil:
			left = fmt.Errorf("a node may still have the key: %v", del.err)
		}
	}
	return left
}

// delete removes the key from every node where it holds value. set is what came of
// setting it.
func (r *redlock) delete(ctx context.Context, name, value string, set []vote) []vote {
	return r.each(func(node int) (bool, error) {
		if r.grantors && !set[node].yes {
			return false, nil
		}
		return r.nodes[node].CompareAndDelete(ctx, r.Timeout, name, value)
	})
}

// flag is what a search has to know of an error: whether there is one.
func flag(err error) int64 {
	if err == nil {
		return 0
	}
	return 1
}

// again waits for the next round. Its error means that ctx has ended, and is
// definite if nothing is left.
func (r *redlock) again(ctx context.Context, left error) error {
	_, err := r.wait(ctx, 0)
	if err != nil && left != nil {
		return left
	}
	return err
}

// granted is a new lease, once it has its token. votes are of its last round.
func (r *redlock) granted(ctx context.Context, g lease, votes []vote) (locks.Lease, error) {
	if r.grantors {
		g.release = func(ctx context.Context, l *lease) error { return r.drop(ctx, l.name, l.value, votes) }
	}
	if err := r.fence(ctx, &g, votes); err != nil {
		return nil, err
	}
	return r.keep(g), nil
}

func (r *redlock) fence(ctx context.Context, g *lease, votes []vote) error {
	if err := r.draw(ctx, g); err != nil {
		return undone(err, r.undo(g.name, g.value, votes))
	}
	return nil
}

func (r *redlock) release(ctx context.Context, l *lease) error {
	return r.drop(ctx, l.name, l.value, nil)
}

// drop gives a lock back on all nodes, those included that have not granted it.
// It is given back once a majority has deleted it, or all have answered and one
// has. What less says is not certain.
func (r *redlock) drop(ctx context.Context, name, value string, set []vote) error {
	deleted := 0
	var errs []error
	for _, v := range r.delete(ctx, name, value, set) {
		if v.yes {
			deleted++
		}
		if v.err != nil {
			errs = append(errs, v.err)
		}
	}
	switch {
	case deleted >= majority(len(r.nodes), 0):
		return nil
	case len(errs) > 0:
		// Joined they would be definite if one is.
		return fmt.Errorf("%d of %d nodes have deleted the key: %v", deleted, len(r.nodes), errors.Join(errs...))
	case deleted == 0:
		return locks.ErrNotHeld
	}
	return nil
}
