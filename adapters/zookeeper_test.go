package adapters_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck"
)

// github.com/go-zookeeper/zk, its Lock. Lock takes no context. A wait that the caller has
// given up goes on, and a lock that comes after that is released at once.

func newZooKeeperLock(e *lockcheck.Env) (lockcheck.Lock, error) {
	conn, _, err := zk.Connect(e.Addrs(), e.Lease(), zk.WithDialer(e.DialTimeout), zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			l := zk.NewLock(conn, "/"+name, zk.WorldACL(zk.PermAll))
			got := make(chan error, 1)
			go func() { got <- l.Lock() }()
			select {
			case err := <-got:
				return lockcheck.Grant{Release: func(context.Context) error { return l.Unlock() }}, err
			case <-ctx.Done():
				go func() {
					if <-got == nil {
						l.Unlock()
					}
				}()
				return lockcheck.Grant{}, ctx.Err()
			}
		},
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

// The holder does not learn that its session has ended.
func TestZooKeeperLockOutlivesItsSession(t *testing.T) {
	if fails(t, "exclusion is violated", "both held", "the session of") {
		return
	}
	lockcheck.Test(t, lockcheck.ZooKeeper(), newZooKeeperLock, patience, lockcheck.Faults("session-expiry"), lockcheck.Promise("exclusion"))
}

// Unlock does not repeat a delete whose connection was lost, and the session goes on: the
// node stays.
func TestZooKeeperLockIsNotReleased(t *testing.T) {
	if fails(t, "liveness is violated", "still kept") {
		return
	}
	lockcheck.Test(t, lockcheck.ZooKeeper(), newZooKeeperLock, patience, lockcheck.Faults("kill-connection"), lockcheck.Promise("liveness"))
}
