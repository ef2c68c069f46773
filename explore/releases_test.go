package explore

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/locks"
)

// keeping has leases whose release says yes and does nothing.
type keeping struct{ locks.Locker }

func (k keeping) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	lease, err := k.Locker.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return kept{lease}, nil
}

type kept struct{ locks.Lease }

func (kept) Release(context.Context) error { return nil }

// Until is part of what a row says that is taken over when its time is over.
func (k kept) Until() time.Duration {
	if d, ok := k.Lease.(locks.Deadliner); ok {
		return d.Until()
	}
	return 0
}

// On every store a release is found out that says yes and leaves the entry to its lease
// or its session.
func TestAReleaseThatDoesNothingIsFoundOut(t *testing.T) {
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
		lock.New = func(e catalogue.Env) locks.Locker { return keeping{made(e)} }
		s := settings("changed", fault, 20)
		s.Use = &lock
		r := random(t, s)
		if out := r.Outcome(checker.Answers); out != checker.Violated {
			t.Errorf("%s under %s: answers is %s", name, fault, out)
		}
	}
}
