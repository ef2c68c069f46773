package explore

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/locks"
)

// keepingLock has leases whose release returns ok and does nothing.
type keepingLock struct{ locks.Locker }

func (k keepingLock) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	lease, err := k.Locker.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return keptLease{lease}, nil
}

type keptLease struct{ locks.Lease }

func (keptLease) Release(context.Context) error { return nil }

// Until is also stored in rows that others take over after that time.
func (k keptLease) Until() time.Duration {
	if d, ok := k.Lease.(locks.Deadliner); ok {
		return d.Until()
	}
	return 0
}

// On every store the runs find a release that returns ok and leaves the entry to its
// lease or its session.
func TestAReleaseThatDoesNothingIsFound(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"redis-set-lua":    "none",
		"redlock":          "none",
		"mysql-optimistic": "none",
		"mysql-get-lock":   "session-expiry",
		"zk-recipe":        "session-expiry",
	} {
		lock, _ := catalogue.FindLock(name)
		made := lock.New
		lock.ID = "changed"
		lock.New = func(e catalogue.Env) locks.Locker { return keepingLock{made(e)} }
		s := settings("changed", fault, 20)
		s.Use = &lock
		r := random(t, s)
		if out := r.Outcome(checker.Answers); out != checker.Violated {
			t.Errorf("%s under %s: answers is %s", name, fault, out)
		}
	}
}
