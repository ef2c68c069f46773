package catalogue

import (
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

func TestEveryLockHasAKind(t *testing.T) {
	for i := range Locks {
		l := &Locks[i]
		k := l.Kind()
		if k.store != l.Store || k.lease != l.Lease || k.nodes != (l.Nodes > 1) {
			t.Errorf("%s has the kind %s, which is another one's", l.ID, k.Name)
		}
	}
	for _, k := range lockKinds {
		for _, best := range k.Best {
			if l, ok := FindLock(best); !ok || l.Store != k.store {
				t.Errorf("%s, of the kind %s, is no such lock", best, k.Name)
			}
		}
	}
}

func TestWhatAKindCannotKeep(t *testing.T) {
	for _, c := range []struct {
		lock     string
		struck   []string
		workload string
		fencing  history.Fencing
		property checker.Property
		want     bool
	}{
		{"redis-set-del", nil, "", "", checker.Exclusion, false},
		{"redis-set-del", []string{"pause"}, "", "", checker.Exclusion, true},
		{"redis-set-del", []string{"pause"}, "", "", checker.LeaseExclusion, false}, // its bare DEL lets a third one in
		{"redis-set-del", []string{"pause"}, "", "", checker.Ownership, false},
		{"redis-set-del", []string{"pause"}, "", "", checker.Resource, true},
		{"redis-set-del", []string{"pause"}, "", history.FencingAll, checker.Resource, false},
		{"redis-set-del", []string{"pause"}, "", history.FencingWrites, checker.Resource, true}, // a stale write may be the first
		{"redis-set-del", []string{"failover"}, "", history.FencingAll, checker.Fencing, true},
		{"redis-set-del", []string{"kill"}, "", "", checker.Handover, true},
		{"redis-set-del", []string{"kill"}, "", "", checker.Liveness, false},
		{"redis-setnx", []string{"kill"}, "", "", checker.Liveness, true},
		{"redis-setnx", []string{"restart-lost"}, "", "", checker.Ownership, false}, // it could ask whose entry it is
		{"redis-set-del", nil, "finally", "", checker.Ownership, false},
		{"mysql-fair", []string{"pause", "server-rate"}, "", "", checker.Ownership, true}, // nobody has looked at both
		{"mysql-fair", []string{"pause", "kill"}, "", "", checker.Ownership, false},
		{"mysql-optimistic", []string{"skew"}, "", "", checker.Exclusion, false},     // the server's clock would do
		{"redis-watchdog", []string{"server-pause"}, "", "", checker.Resource, true}, // who is told of the loss may have sent the write
		{"zk-predecessor", []string{"session-expiry"}, "", "", checker.Exclusion, true},
		{"zk-predecessor", []string{"hang"}, "", "", checker.Exclusion, false},
	} {
		lock, _ := FindLock(c.lock)
		kind := lock.Kind()
		if got := kind.CannotKeep(c.property, c.struck, c.workload, c.fencing); got != c.want {
			t.Errorf("%s, %v %s %s, %s: beyond its kind is %t, want %t", c.lock, c.struck, c.workload, c.fencing, c.property, got, c.want)
		}
	}
}

// A worker of which nobody has said what it is may be of any kind on its servers.
func TestTheKindOfAWorker(t *testing.T) {
	mysql, _ := WorkerLock("worker", "mysql")
	among := mysql.Kinds()
	any := OfAny(among)
	lease, connection := among[0], among[1]
	struck := []string{"poweroff"} // after hours the server notices that a connection is dead
	if lease.CannotKeep(checker.Liveness, struck, "", "") || !connection.CannotKeep(checker.Liveness, struck, "", "") || !any.CannotKeep(checker.Liveness, struck, "", "") {
		t.Errorf("%s, %s and %s under poweroff: want that only the lease keeps liveness", lease.Name, connection.Name, any.Name)
	}
}
