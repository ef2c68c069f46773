package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewSetNXGetSet stores the lock's end as the value of a key without an expiry.
// SETNX takes the lock. After its end GETSET takes it, if the replaced value had
// ended, too. It has two flaws. The clients' wall clocks decide who holds. And
// the release checks the key the wrong way round: it deletes the key only if its
// time has passed. A release in time leaves the lock until its end, and a late
// release deletes the key of any later holder.
//
// Source: imcoderlemon, Three ways to lock with Redis (in Chinese), the first.
func NewSetNXGetSet(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &timeLock{newLocker(h, p, o), getSet, dropIfEnded}
}

// dropIfEnded deletes a key whose time has passed. It leaves another key alone
// and reports success.
func dropIfEnded(ctx context.Context, l *lease) error {
	now, ok, err := l.port.Get(ctx, l.Timeout, l.name)
	switch {
	case err != nil:
		return err
	case !ok:
		return locks.ErrNotHeld
	case !l.hasEnded(now):
		return nil
	}
	return held(l.port.Del(ctx, l.Timeout, l.name))
}

// timeLock is the locks whose key has the lock's end as its value. They differ in
// how they take an expired lock, and in the release.
type timeLock struct {
	locker
	steal   func(ctx context.Context, l *timeLock, name string) (stamp, bool, error)
	release func(context.Context, *lease) error
}

// stamp is the end of a lock: the value in the key, and the same instant on
// Host.Mono, up to which the client believes that it holds.
//
// The sources write "now + timeout + 1" in Unix time, so 1 is one second. Here
// the unit is milliseconds, to allow leases below a second. The 1 becomes a tenth
// of the lease, which is one second for a lease of ten.
type stamp struct {
	ms    int64
	until time.Duration
}

func (l *timeLock) stamp() stamp {
	lasts := l.TTL + l.TTL/10
	return stamp{l.host.Now().Add(lasts).UnixMilli(), l.host.Mono() + lasts}
}

func (s stamp) String() string { return strconv.FormatInt(s.ms, 10) }

// hasEnded reports whether the time in a key has passed by this client's wall clock.
// An invalid time never passes.
func (l *locker) hasEnded(value string) bool {
	ms, err := strconv.ParseInt(value, 10, 64)
	return err == nil && l.host.Now().UnixMilli() > ms
}

// Acquire waits until SETNX or steal has stored a time of its own in the key.
//
// Its error is definite only if no such time is left: a late steal has
// overwritten another's key and cannot undo that.
func (l *timeLock) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	var left int64 // the value of such a steal; 0: no value is left
	var pause time.Duration
	for {
		l.host.Mark("try", int64(pause), left)
		own, ok, err := l.try(ctx, name, &left)
		if ok {
			return l.newLease(ctx, lease{locker: &l.locker, name: name, value: own.String(), until: own.until, release: l.release})
		}
		if err == nil {
			pause, err = l.wait(ctx, pause)
		}
		switch {
		case err != nil && left != 0:
			return nil, fmt.Errorf("the key may hold a time of this client's: %v", err)
		case err != nil:
			return nil, err
		}
	}
}

func (l *timeLock) try(ctx context.Context, name string, left *int64) (own stamp, ok bool, err error) {
	own = l.stamp()
	if ok, err := l.port.SetNX(ctx, l.Timeout, name, own.String()); ok || err != nil {
		return own, ok, err
	}
	now, _, err := l.port.Get(ctx, l.Timeout, name)
	if err != nil {
		return own, false, err
	}
	if *left != 0 && now != (stamp{ms: *left}).String() {
		*left = 0
	}
	if !l.hasEnded(now) {
		return own, false, nil
	}
	own, ok, err = l.steal(ctx, l, name)
	if !ok && err == nil {
		*left = own.ms
	}
	return own, ok, err
}

// getSet takes an expired lock. A client that comes second gets the first one's
// time as the reply and has not got the lock, but has extended it a little. A
// missing key had no owner, and the client takes it.
func getSet(ctx context.Context, l *timeLock, name string) (stamp, bool, error) {
	own := l.stamp()
	old, had, err := l.port.GetSet(ctx, l.Timeout, name, own.String())
	return own, err == nil && (!had || l.hasEnded(old)), err
}
