package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// NewSetNXGetSet keeps in the key the time at which the lock ends, and no
// expiry: SETNX takes it, and from a lock that has ended GETSET does, if what it
// replaced had ended, too. Two things are wrong. The clients' wall clocks decide
// who holds. And the release looks at the key and deletes it only if the time in
// it has passed, the wrong way round: a lock that is given back in time stays
// until it ends, and one that is given back late is deleted whoever has it by
// then.
//
// Source: imcoderlemon, Three ways to lock with Redis (in Chinese), the first.
func NewSetNXGetSet(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &stamped{newLocker(h, p, o), getSet, dropIfEnded}
}

// dropIfEnded deletes a key whose time has passed. One whose time has not it
// leaves alone, and takes that for a release.
func dropIfEnded(ctx context.Context, l *lease) error {
	now, ok, err := l.port.Get(ctx, l.Timeout, l.name)
	switch {
	case err != nil:
		return err
	case !ok:
		return locks.ErrNotHeld
	case !l.ended(now):
		return nil
	}
	return held(l.port.Del(ctx, l.Timeout, l.name))
}

// stamped is the locks that keep in the key the time at which it ends. They
// differ in how they take one that has ended, and in the release.
type stamped struct {
	locker
	steal   func(ctx context.Context, l *stamped, name string) (stamp, bool, error)
	release func(context.Context, *lease) error
}

// stamp is a time as a key holds it, and the same instant on Host.Mono: the
// client believes that it holds up to then.
//
// The sources write "now + timeout + 1" in Unix time, which is one second. Here
// it is milliseconds, so that leases below a second make sense, and instead of
// the 1 a tenth of the lease: the second of a lease of ten.
type stamp struct {
	ms    int64
	until time.Duration
}

func (l *stamped) stamp() stamp {
	lasts := l.TTL + l.TTL/10
	return stamp{l.host.Now().Add(lasts).UnixMilli(), l.host.Mono() + lasts}
}

func (s stamp) String() string { return strconv.FormatInt(s.ms, 10) }

// ended tells whether the time that a key holds has passed, by this client's
// wall clock. What is no time never ends.
func (l *locker) ended(value string) bool {
	ms, err := strconv.ParseInt(value, 10, 64)
	return err == nil && l.host.Now().UnixMilli() > ms
}

// Acquire waits until SETNX or steal has put a time of its own into the key.
//
// It is sure to have failed only if none is left there: a steal that came too
// late has written into the key of another, and cannot take that back.
func (l *stamped) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	var left int64 // what such a steal wrote, 0 if nothing of it is there
	var pause time.Duration
	for {
		l.host.Mark("try", int64(pause), left)
		own, ok, err := l.try(ctx, name, &left)
		if ok {
			return l.granted(ctx, lease{locker: &l.locker, name: name, value: own.String(), until: own.until, release: l.release})
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

func (l *stamped) try(ctx context.Context, name string, left *int64) (own stamp, ok bool, err error) {
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
	if !l.ended(now) {
		return own, false, nil
	}
	own, ok, err = l.steal(ctx, l, name)
	if !ok && err == nil {
		*left = own.ms
	}
	return own, ok, err
}

// getSet takes a lock that has ended. Who comes second sees the time of who came
// first, and has not got the lock; but has made it last a little longer. A key
// that is gone by then was nobody's, and is taken.
func getSet(ctx context.Context, l *stamped, name string) (stamp, bool, error) {
	own := l.stamp()
	old, had, err := l.port.GetSet(ctx, l.Timeout, name, own.String())
	return own, err == nil && (!had || l.ended(old)), err
}
