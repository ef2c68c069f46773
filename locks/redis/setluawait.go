package redis

import (
	"cmp"
	"context"
	"errors"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

type setLuaWait struct{ locker }

// NewSetLuaWait is NewSetLua for a master with replicas, with a flaw: it waits
// for up to T/20 until one replica has the key, and considers that safe. If no
// replica has it, it deletes the key and tries again. But WAIT is no consensus:
// another replica without the key can still become the master.
//
// Source: the Redis manual's page on WAIT, "Consistency and WAIT".
func NewSetLuaWait(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &setLuaWait{newLocker(h, p, o)}
}

func (l *setLuaWait) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.acquire(ctx, name, l.setAndWait, compareAndDelete)
}

// setAndWait is an attempt with SET NX PX and WAIT.
func (l *setLuaWait) setAndWait(ctx context.Context, name, value string) (lease, bool, error) {
	g, ok, err := l.try(ctx, name, value)
	if ok && err == nil {
		ok, err = l.hasReplica(ctx, &g)
	}
	return g, ok, err
}

var errNoReplica = errors.New("no replica has the key")

// hasReplica reports whether a replica has the key. If no replica has it and the error is
// nil, the key is gone.
func (l *setLuaWait) hasReplica(ctx context.Context, g *lease) (bool, error) {
	n, err := l.port.Wait(ctx, l.Timeout, 1, l.TTL/20)
	if err == nil && n > 0 {
		return true, nil
	}
	left := l.giveBack(g)
	if err == nil && left == nil {
		return false, nil
	}
	return false, undoneErr(cmp.Or(err, errNoReplica), left)
}
