package lockcheck_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck"
)

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func zkLock(e *lockcheck.Env) (lockcheck.Lock, error) {
	c, _, err := zk.Connect(e.Addrs(), e.Lease(), zk.WithDialer(e.DialTimeout), zk.WithLogger(quiet{}))
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			l := zk.NewLock(c, "/locks/"+name, zk.WorldACL(zk.PermAll))
			err := l.Lock()
			return lockcheck.Grant{Release: func(context.Context) error { return l.Unlock() }}, err
		},
		NotHeld: func(err error) bool { return errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotLocked) },
		Close:   func() error { c.Close(); return nil },
	}, nil
}

func TestZK(t *testing.T) {
	lockcheck.Test(t, lockcheck.ZooKeeper(), zkLock, lockcheck.For(60e9))
}
