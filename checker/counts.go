package checker

// Counter names one thing that a run can reach: a hazard without which the
// run shows nothing.
type Counter uint8

// The counters, in the order in which they are shown.
const (
	Grants                         Counter = iota // acquires that came back ok
	Contended                                     // acquires during which somebody else held
	LeaseExpiredWhileHeld                         // a server expired the entry of a grant whose hold was open
	LeaseExpiredWhileHeldAndWaited                // the same, and somebody else wanted the lock
	LeaseExpiredWhileReleasing                    // a server expired the entry of a grant while its release was under way
	EntryLostWhileHeld                            // a server lost the entry of a grant whose hold was open
	ReleasedUnowned                               // a command removed the entry of another's grant
	LateAccess                                    // an access reached the resource after its hold or its valid_until
	StaleRefused                                  // the resource refused a stale token
	AmbiguousAcquires                             // acquires that ended with info
	AmbiguousReleases                             // releases that ended with info
	ReplyDropped                                  // a reply was lost on purpose
	PauseHitHolder                                // a client was paused while it held
	PauseHitWaiter                                // a client was paused while its acquire was open
	KillHitHolder                                 // a client was killed or powered off while it held
	KillHitAcquirer                               // a client was killed or powered off while its acquire was open
	RestartWithHolder                             // a server restarted while somebody held
	FailoverWithHolder                            // a server was replaced while somebody held
	JumpWithHolder                                // a clock jumped while somebody held: a server's, or the holder's own
	FaultInjected                                 // faults
	FaultTouched                                  // faults that touched somebody

	firstTouched // from here on one for each kind of fault
	numCounters  = int(firstTouched) + len(kinds)
)

var counterNames = [firstTouched]string{
	Grants:                         "grants",
	Contended:                      "contended",
	LeaseExpiredWhileHeld:          "lease_expired_while_held",
	LeaseExpiredWhileHeldAndWaited: "lease_expired_while_held_and_waited",
	LeaseExpiredWhileReleasing:     "lease_expired_while_releasing",
	EntryLostWhileHeld:             "entry_lost_while_held",
	ReleasedUnowned:                "released_unowned",
	LateAccess:                     "late_access",
	StaleRefused:                   "stale_refused",
	AmbiguousAcquires:              "ambiguous_acquires",
	AmbiguousReleases:              "ambiguous_releases",
	ReplyDropped:                   "reply_dropped",
	PauseHitHolder:                 "pause_hit_holder",
	PauseHitWaiter:                 "pause_hit_waiter",
	KillHitHolder:                  "kill_hit_holder",
	KillHitAcquirer:                "kill_hit_acquirer",
	RestartWithHolder:              "restart_with_holder",
	FailoverWithHolder:             "failover_with_holder",
	JumpWithHolder:                 "jump_with_holder",
	FaultInjected:                  "fault_injected",
	FaultTouched:                   "fault_touched",
}

// TouchedBy counts the faults of one kind that touched somebody; kinds that
// the checker does not know share one counter. FaultTouched is their sum.
func TouchedBy(kind string) Counter { return firstTouched + Counter(kindOf(kind)) }

// String is the counter's name in reports and JSON.
func (c Counter) String() string {
	switch {
	case c < firstTouched:
		return counterNames[c]
	case int(c) < numCounters:
		return kinds[c-firstTouched].name + "_touched"
	default:
		return "?"
	}
}

// Counts are what a run, or many, reached, by Counter. The zero value is empty.
type Counts [numCounters]int

// Add adds what another run reached.
func (c *Counts) Add(o Counts) {
	for i, n := range o {
		c[i] += n
	}
}

// Each calls f for every counter from Grants to FaultTouched, in their order,
// zeros included. The counters of single kinds of faults are left to TouchedBy.
func (c *Counts) Each(f func(name string, n int)) {
	for i := range firstTouched {
		f(i.String(), c[i])
	}
}

// Map is the counters of Each that are not zero, by name.
func (c *Counts) Map() map[string]int {
	m := map[string]int{}
	c.Each(func(name string, n int) {
		if n != 0 {
			m[name] = n
		}
	})
	return m
}
