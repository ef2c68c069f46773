package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/workloads"
)

// exposure is a property that random runs of a faulty lock have to violate, and the
// settings of those runs: the faults, or the workload. The settings do not say when a
// fault strikes, whom, or how often a client asks.
type exposure struct {
	Lock     string
	Shows    checker.Property
	Faults   []string // the kinds of faults that strike; empty: no fault
	Workload string   // the workload; "": the usual one
	Mixed    bool     // several kinds in a run
	Count    int      // faults in a run; 0: one
	Lease    time.Duration
	Replicas int // replicas of each server; 0: as many as the lock needs
	// Sound is a lock that does not show the violation there. It is empty if no lock
	// can keep the property there, or if only this lock promises it.
	Sound string
}

// exposures are the violations to look for: the flaw of each variant, and each
// property that the published locks of ZooKeeper and of MySQL break.
var exposures = []exposure{
	{Lock: "redis-setnx-del-stale", Shows: checker.LeaseExclusion, Faults: []string{"kill"}, Sound: "redis-setnx-getset-fixed"},
	{Lock: "redis-setnx-getset-unread", Shows: checker.LeaseExclusion, Faults: []string{"kill"}, Sound: "redis-setnx-getset-fixed"},
	{Lock: "redis-set-lua-wait", Shows: checker.LeaseExclusion, Faults: []string{"partition-servers"}, Replicas: 3},
	{Lock: "redis-watchdog-blind", Shows: checker.LeaseExclusion, Faults: []string{"pause"}, Sound: "redis-watchdog"},
	{Lock: "redlock-flawed-quorum", Shows: checker.LeaseExclusion, Faults: []string{"partition"}, Sound: "redlock"},
	{Lock: "redlock-flawed-timeout", Shows: checker.Liveness, Faults: []string{"drop-reply"}, Sound: "redlock"},
	{Lock: "redlock-flawed-wallclock", Shows: checker.LeaseExclusion, Faults: []string{"jump", "pause"}, Mixed: true, Count: 2, Sound: "redlock"},
	{Lock: "redlock-flawed-seconds", Shows: checker.LeaseExclusion, Faults: []string{"pause"}, Count: 2, Lease: time.Second, Sound: "redlock"},
	{Lock: "redlock-flawed-validity", Shows: checker.LeaseExclusion, Faults: []string{"pause"}, Count: 2, Sound: "redlock"},
	{Lock: "redlock-flawed-release", Shows: checker.Handover, Faults: []string{"drop-reply"}, Count: 2, Sound: "redlock"},

	// Entries without a sound lock are properties that no lock can keep: a session
	// may end while its client is paused, and the session of a dead client ends late.
	{Lock: "zk-predecessor", Shows: checker.Exclusion, Faults: []string{"kill"}, Sound: "zk-recipe"},
	{Lock: "zk-predecessor", Shows: checker.Exclusion, Faults: []string{"pause"}},
	{Lock: "zk-predecessor", Shows: checker.Liveness, Sound: "zk-recipe"},
	{Lock: "zk-predecessor", Shows: checker.Handover, Faults: []string{"kill"}},
	{Lock: "zk-predecessor", Shows: checker.Fairness, Faults: []string{"session-expiry"}, Sound: "zk-recipe"},
	{Lock: "zk-predecessor-recheck", Shows: checker.Exclusion, Faults: []string{"pause"}},
	{Lock: "zk-predecessor-recheck", Shows: checker.Exclusion, Faults: []string{"partition"}, Sound: "zk-recipe"},
	{Lock: "zk-predecessor-recheck", Shows: checker.Liveness, Sound: "zk-recipe"},
	{Lock: "zk-predecessor-recheck", Shows: checker.Handover, Faults: []string{"kill"}},
	{Lock: "zk-children", Shows: checker.Exclusion, Sound: "zk-recipe"},
	{Lock: "zk-children", Shows: checker.Liveness, Sound: "zk-recipe"},
	{Lock: "zk-children", Shows: checker.Handover, Faults: []string{"kill"}},
	{Lock: "zk-predecessor-leaky-timeout", Shows: checker.Liveness, Sound: "zk-recipe"},

	// Entries without a sound lock: either any client waits if its request has no
	// answer, or only this lock lets its callers do that.
	{Lock: "mysql-optimistic", Shows: checker.Exclusion, Workload: "finally", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-optimistic", Shows: checker.LeaseExclusion, Workload: "finally", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-optimistic", Shows: checker.LeaseExclusion, Faults: []string{"skew"}, Sound: "mysql-fair-fixed"},
	{Lock: "mysql-optimistic", Shows: checker.Ownership, Workload: "finally", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-optimistic", Shows: checker.Ownership, Faults: []string{"pause"}, Sound: "mysql-fair-fixed"},
	{Lock: "mysql-optimistic", Shows: checker.Resource, Workload: "finally", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-optimistic", Shows: checker.Answers, Faults: []string{"kill-connection"}, Sound: "mysql-fair-fixed"},
	{Lock: "mysql-optimistic", Shows: checker.Handover, Faults: []string{"drop-reply"}},
	{Lock: "mysql-fair", Shows: checker.Exclusion, Workload: "mixed"},
	{Lock: "mysql-fair", Shows: checker.LeaseExclusion, Workload: "nested", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-fair", Shows: checker.Ownership, Workload: "mixed"},
	{Lock: "mysql-fair", Shows: checker.Resource, Workload: "nested", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-fair", Shows: checker.Liveness, Workload: "give-up", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-fair", Shows: checker.Handover, Workload: "give-up", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-fair", Shows: checker.Fairness, Workload: "give-up", Sound: "mysql-fair-fixed"},
	{Lock: "mysql-fair", Shows: checker.Fairness, Faults: []string{"kill"}, Sound: "mysql-fair-fixed"},
}

// Under returns the faults that strike in each run, as "none", "kill" or "2 of jump,
// pause", or the workload.
func (x *exposure) Under() string {
	switch names := strings.Join(x.Faults, ", "); {
	case names == "":
		return cmp.Or(x.Workload, catalogue.NoFault)
	case x.Count > 1 && len(x.Faults) > 1:
		return fmt.Sprintf("%d of %s", x.Count, names)
	case x.Count > 1:
		return fmt.Sprintf("%d %s", x.Count, names)
	default:
		return names
	}
}

// Every variant has an exposure that separates it from a sound lock. Each published
// lock of ZooKeeper and MySQL has one for every property that it has to violate.
func TestEveryFlawIsExposed(t *testing.T) {
	exposed := map[string][]checker.Property{}
	for i := range exposures {
		x := &exposures[i]
		exposed[x.Lock] = append(exposed[x.Lock], x.Shows)
	}
	for _, l := range catalogue.Locks {
		if l.Like != "" && len(exposed[l.ID]) == 0 {
			t.Errorf("%s, which is wrong, has no exposure", l.ID)
		}
	}
	for _, id := range []string{"zk-predecessor", "zk-predecessor-recheck", "zk-children", "mysql-optimistic", "mysql-fair"} {
		lock, _ := catalogue.FindLock(id)
		for _, fault := range lock.Columns() {
			e, err := catalogue.Expect(id, fault)
			if err != nil {
				t.Error(err)
			}
			for _, code := range e.Must {
				for _, p := range code.Properties() {
					// No grant on ZooKeeper has a known end.
					if (p != checker.LeaseExclusion || lock.Store != catalogue.StoreZooKeeper) && !slices.Contains(exposed[id], p) {
						t.Errorf("%s violates %s under %s, and has no exposure of that", id, p, fault)
					}
				}
			}
		}
	}
}

// An exposure names a lock and faults that exist. Its sound lock is not expected to
// show the violation.
func TestExposuresAreOfWhatThereIs(t *testing.T) {
	for i := range exposures {
		x := &exposures[i]
		lock, ok := catalogue.FindLock(x.Lock)
		if !ok {
			t.Errorf("%s is no lock", x.Lock)
		}
		under := slices.Clone(x.Faults)
		for _, name := range under {
			if f, ok := faults.Find(name); !ok || lock.Applies(f, catalogue.Server{Replicas: x.Replicas}) != nil {
				t.Errorf("%s: %s is no fault that applies to it", x.Lock, name)
			}
		}
		if w, ok := workloads.Find(x.Workload); !ok || lock.Takes(w) != nil || x.Workload != "" && len(x.Faults) > 0 {
			t.Errorf("%s: %s is no workload for it, or not without %v", x.Lock, x.Workload, x.Faults)
		}
		if len(under) == 0 {
			under = []string{x.Under()}
		}
		for _, fault := range under {
			if e, err := catalogue.Expect(x.Sound, fault); x.Sound != "" && (err != nil || slices.Contains(e.May, x.Shows)) {
				t.Errorf("%s may violate %s under %s, as %s does: %v", x.Sound, x.Shows, fault, x.Lock, err)
			}
		}
	}
}

func TestUnder(t *testing.T) {
	for _, tt := range []struct {
		x    exposure
		want string
	}{
		{exposure{}, "none"},
		{exposure{Workload: "finally"}, "finally"},
		{exposure{Faults: []string{"kill"}}, "kill"},
		{exposure{Faults: []string{"kill"}, Count: 2}, "2 kill"},
		{exposure{Faults: []string{"jump", "pause"}, Count: 2}, "2 of jump, pause"},
	} {
		if got := tt.x.Under(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.x, got, tt.want)
		}
	}
}
