package adapters_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck"
)

// github.com/go-zookeeper/zk, its Lock. Lock takes no context. A wait that the caller has
// given up goes on, and a lock that comes after that is released at once.

func newZooKeeperLock(e *lockcheck.Env) (lockcheck.Lock, error) {
	return newZooKeeperLockBy(e, nil, (*zk.Lock).Unlock)
}

// newZooKeeperLockPatient repeats an Unlock that failed.
func newZooKeeperLockPatient(e *lockcheck.Env) (lockcheck.Lock, error) {
	return newZooKeeperLockBy(e, nil, unlockUntilGone)
}

// newZooKeeperLockKept has one Lock for each name, and repeats an Unlock that failed.
func newZooKeeperLockKept(e *lockcheck.Env) (lockcheck.Lock, error) {
	return newZooKeeperLockBy(e, map[string]*zk.Lock{}, unlockUntilGone)
}

// unlockUntilGone repeats Unlock each second, ten times at most, until the node is gone.
func unlockUntilGone(l *zk.Lock) (err error) {
	for range 10 {
		if err = l.Unlock(); err == nil || errors.Is(err, zk.ErrNoNode) {
			break
		}
		time.Sleep(time.Second)
	}
	return err
}

// newZooKeeperLockBy makes a Lock for each acquire, or keeps those that it makes.
func newZooKeeperLockBy(e *lockcheck.Env, kept map[string]*zk.Lock, unlock func(*zk.Lock) error) (lockcheck.Lock, error) {
	conn, _, err := zk.Connect(e.Addrs(), e.Lease(), zk.WithDialer(e.DialTimeout), zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			l := kept[name]
			if l == nil {
				l = zk.NewLock(conn, "/"+name, zk.WorldACL(zk.PermAll))
				if kept != nil {
					kept[name] = l
				}
			}
			got := make(chan error, 1)
			go func() { got <- l.Lock() }()
			select {
			case err := <-got:
				return lockcheck.Grant{Release: func(context.Context) error { return unlock(l) }}, err
			case <-ctx.Done():
				delete(kept, name) // it still waits
				go func() {
					if <-got == nil {
						l.Unlock()
					}
				}()
				return lockcheck.Grant{}, ctx.Err()
			}
		},
		Refused: func(err error) bool { return errors.Is(err, zk.ErrDeadlock) }, // it has asked no server
		NotHeld: func(err error) bool { return errors.Is(err, zk.ErrNoNode) },
		Close:   func() error { conn.Close(); return nil },
	}, nil
}

// silent writes no log.
type silent struct{}

func (silent) Printf(string, ...any) {}

// Without faults of the holder's session, locks exclude each other.
func TestZooKeeperLock(t *testing.T) {
	lockcheck.Test(t, lockcheck.ZooKeeper(), newZooKeeperLock, patience,
		lockcheck.Faults("none", "kill", "restart", "failover", "partition-servers", "drop-reply", "kill-connection"),
		lockcheck.Promise("exclusion", "ownership", "answers"))
}

// Under all faults, no client deletes the node of another.
func TestZooKeeperLockOwnership(t *testing.T) {
	lockcheck.Test(t, lockcheck.ZooKeeper(), newZooKeeperLock, patience, lockcheck.Promise("ownership", "answers"))
}
