package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// redlock is the common part of the Redlocks: rounds of requests to independent
// nodes, the count of their grants, and the release.
type redlock struct {
	locker
	nodes []redis.Port
	recipe
}

// recipe has the differences between them.
type recipe struct {
	clock    func(locks.Host) time.Duration        // the clock that measures a round
	drift    func(ttl time.Duration) time.Duration // by which a lease may end early
	quorum   func(nodes, answered int) int         // how many nodes must grant
	parallel bool                                  // all nodes at once, not one after the other
	restart  bool                                  // the lease counts from the end of the round, not from its start
	grantors bool                                  // only nodes that answered yes get the delete
}

// newRedlock also sets the timeout of a request to one of several nodes: far less than
// the lease, so that a dead node does not use it up. The manual says 5 to 50 ms
// for a lease of 10 s, which is little for a network. This is 250 ms there, and
// 25 ms for a lease of 1 s.
func newRedlock(h locks.Host, nodes []redis.Port, o Options, r recipe) *redlock {
	o.Timeout = cmp.Or(o.Timeout, o.TTL/40)
	return &redlock{newLocker(h, redis.Port{}, o), nodes, r}
}

// The clocks.
func mono(h locks.Host) time.Duration { return h.Mono() }

func wall(h locks.Host) time.Duration {
	return time.Duration(h.Now().UnixMilli()) * time.Millisecond
}

func wallSeconds(h locks.Host) time.Duration { return time.Duration(h.Now().Unix()) * time.Second }

// noDrift trusts all clocks. hundredth allows for the drift in the manual: 1 %,
// and 2 ms for the precision of Redis' expiry.
func noDrift(time.Duration) time.Duration { return 0 }

func hundredth(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// majority returns the majority of all nodes, reachable or not.
func majority(nodes, _ int) int { return nodes/2 + 1 }

// Acquire does rounds until one gets the lock. Each writes a value of its own,
// "unique across all clients and all lock requests", as the manual requires: the
// undo of a round may be late and must not find the value of a later one.
func (r *redlock) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	var left error // why a node may still have an entry of this client
	for {
		r.host.Mark("round", flag(left))
		value := r.host.Unique()
		until, votes := r.round(func(node int) (bool, error) {
			return r.nodes[node].SetIfAbsent(ctx, r.Timeout, name, value, r.TTL)
		})
		if until > 0 {
			return r.newLease(ctx, lease{locker: &r.locker, name: name, value: value, until: until, release: r.release}, votes)
		}
		if err := r.undo(name, value, votes); err != nil {
			left = err
		}
		if err := r.waitForRound(ctx, left); err != nil {
			return nil, err
		}
	}
}

// vote is a node's answer to a request.
type vote struct {
	yes bool
	err error
}

// isUncertain reports whether the node may have executed the request, or may execute it
// later.
func (v vote) isUncertain() bool { return v.err != nil && !locks.IsDefinite(v.err) }

// askAll asks every node, and returns when all have answered or their time is over.
func (r *redlock) askAll(ask func(node int) (bool, error)) []vote {
	votes := make([]vote, len(r.nodes))
	if !r.parallel {
		for i := range r.nodes {
			votes[i].yes, votes[i].err = ask(i)
		}
		return votes
	}
	var few [8]locks.Task
	tasks := few[:0]
	for i := range r.nodes {
		tasks = append(tasks, r.host.Go(func(context.Context) { votes[i].yes, votes[i].err = ask(i) }))
	}
	for _, t := range tasks {
		t.Wait()
	}
	return votes
}

// round asks every node for the lock. If enough of them grant it, and part of the
// lease is left after the round, until is the lease's end; else it is 0.
//
// Every answer but yes, errors included, counts as no.
func (r *redlock) round(set func(node int) (bool, error)) (until time.Duration, votes []vote) {
	start := r.clock(r.host)
	votes = r.askAll(set)
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

// undo deletes the keys of a round on all nodes, whatever their answers, and even
// after the end of the caller's time. If the error is nil no key is left.
func (r *redlock) undo(name, value string, set []vote) (left error) {
	for i, del := range r.delete(r.host.Life(), name, value, set) {
		switch {
		case del.yes: // the key was set and is gone
		case set[i].isUncertain():
			left = fmt.Errorf("a node may set the key yet: %v", set[i].err)
		case del.isUncertain(), set[i].yes && del.err != nil:
			left = fmt.Errorf("a node may still have the key: %v", del.err)
		}
	}
	return left
}

// delete removes the key from every node where it has value. set has the answers
// to the requests that set it.
func (r *redlock) delete(ctx context.Context, name, value string, set []vote) []vote {
	return r.askAll(func(node int) (bool, error) {
		if r.grantors && !set[node].yes {
			return false, nil
		}
		return r.nodes[node].CompareAndDelete(ctx, r.Timeout, name, value)
	})
}

// flag returns for a search whether there is an error.
func flag(err error) int64 {
	if err == nil {
		return 0
	}
	return 1
}

// waitForRound waits for the next round. It returns an error if ctx has ended; the error
// is definite if no key is left.
func (r *redlock) waitForRound(ctx context.Context, left error) error {
	_, err := r.wait(ctx, 0)
	if err != nil && left != nil {
		return left
	}
	return err
}

// newLease returns a new lease after drawing its token. votes are from its last
// round.
func (r *redlock) newLease(ctx context.Context, g lease, votes []vote) (locks.Lease, error) {
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
		return undoneErr(err, r.undo(g.name, g.value, votes))
	}
	return nil
}

func (r *redlock) release(ctx context.Context, l *lease) error {
	return r.drop(ctx, l.name, l.value, nil)
}

// drop releases a lock on all nodes, including those that have not granted it. It
// has succeeded when a majority has deleted the key, or when all have answered
// and one has deleted it. Otherwise the outcome is uncertain.
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
		// The joined error would be definite if one of them is.
		return fmt.Errorf("%d of %d nodes have deleted the key: %v", deleted, len(r.nodes), errors.Join(errs...))
	case deleted == 0:
		return locks.ErrNotHeld
	}
	return nil
}
