package catalogue

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
)

// Exposure is a property that random runs of a faulty lock have to violate, and the
// settings of those runs: the faults, or the workload. The settings do not say when a
// fault strikes, whom, or how often a client asks.
type Exposure struct {
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

// Exposures are the violations to look for: the flaw of each variant, and each
// property that the published locks of ZooKeeper and of MySQL break.
var Exposures = []Exposure{
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
func (x *Exposure) Under() string {
	switch names := strings.Join(x.Faults, ", "); {
	case names == "":
		return cmp.Or(x.Workload, NoFault)
	case x.Count > 1 && len(x.Faults) > 1:
		return fmt.Sprintf("%d of %s", x.Count, names)
	case x.Count > 1:
		return fmt.Sprintf("%d %s", x.Count, names)
	default:
		return names
	}
}
