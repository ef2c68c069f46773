package checker

// Counter names a situation that a run can reach: a hazard without which the run
// shows nothing.
type Counter uint8

// The counters, in the order in which they are shown.
const (
	Grants Counter = iota
	Contended
	LeaseExpiredWhileHeld
	LeaseExpiredWhileHeldAndWaited
	LeaseExpiredWhileReleasing
	EntryLostWhileHeld
	ReleasedUnowned
	ReleasedUnheld
	LateAccess
	StaleRefused
	AmbiguousAcquires
	AmbiguousReleases
	ReplyDropped
	PauseHitHolder
	PauseHitWaiter
	PauseHitVoted
	KillHitHolder
	KillHitAcquirer
	RestartWithHolder
	FailoverWithHolder
	JumpWithHolder
	Promotions
	Renewed
	LostNoticed
	HangHitHolder
	ServerPausedWithHolder
	ClockOffWithHolder
	RateWithHolder
	FaultInjected
	FaultTouched

	firstTouched // from here on one counter for each kind of fault
	numCounters  = int(firstTouched) + int(otherKind) + 1
)

// counters has their names, and the meaning of each.
var counters = [firstTouched]struct{ name, means string }{
	Grants:                         {"grants", "acquires that came back ok"},
	Contended:                      {"contended", "acquires during which somebody else held"},
	LeaseExpiredWhileHeld:          {"lease_expired_while_held", "a server expired the entry of a grant whose hold was open"},
	LeaseExpiredWhileHeldAndWaited: {"lease_expired_while_held_and_waited", "the same, and somebody else wanted the lock"},
	LeaseExpiredWhileReleasing:     {"lease_expired_while_releasing", "a server expired the entry of a grant while its release was under way"},
	EntryLostWhileHeld:             {"entry_lost_while_held", "a server lost the entry of a grant whose hold was open"},
	ReleasedUnowned:                {"released_unowned", "a command removed the entry of another's grant"},
	ReleasedUnheld:                 {"released_unheld", "releases by clients that held nothing"},
	LateAccess:                     {"late_access", "an access reached the resource after its hold or its valid_until"},
	StaleRefused:                   {"stale_refused", "the resource refused a stale token"},
	AmbiguousAcquires:              {"ambiguous_acquires", "acquires that ended with info"},
	AmbiguousReleases:              {"ambiguous_releases", "releases that ended with info"},
	ReplyDropped:                   {"reply_dropped", "a reply was lost on purpose"},
	PauseHitHolder:                 {"pause_hit_holder", "a client was paused while it held"},
	PauseHitWaiter:                 {"pause_hit_waiter", "a client was paused while its acquire was open"},
	PauseHitVoted:                  {"pause_hit_voted", "the same, and most of several servers had its entry"},
	KillHitHolder:                  {"kill_hit_holder", "a client was killed or powered off while it held"},
	KillHitAcquirer:                {"kill_hit_acquirer", "a client was killed or powered off while its acquire was open"},
	RestartWithHolder:              {"restart_with_holder", "a server restarted while somebody held"},
	FailoverWithHolder:             {"failover_with_holder", "a replica became the master while somebody held"},
	JumpWithHolder:                 {"jump_with_holder", "a clock jumped while somebody held: a server's, or the holder's own"},
	Promotions:                     {"promotions", "replicas that became the master"},
	Renewed:                        {"renewed", "reports of clients that a grant is valid until another time than before: renewals in the background"},
	LostNoticed:                    {"lost_noticed", "reports of clients that a grant is lost"},
	HangHitHolder:                  {"hang_hit_holder", "a client hung, but for its background tasks, while it held"},
	ServerPausedWithHolder:         {"server_paused_with_holder", "somebody held while a server stood still"},
	ClockOffWithHolder:             {"clock_off_with_holder", "somebody held while a clock was wrong: a server's, or any client's"},
	RateWithHolder:                 {"rate_with_holder", "somebody held while a clock ran fast or slow: a server's, or any client's"},
	FaultInjected:                  {"fault_injected", "faults"},
	FaultTouched:                   {"fault_touched", "faults that touched somebody"},
}

// TouchedBy counts the faults of one kind that touched a client. Kinds that the
// checker does not know share one counter. FaultTouched is their sum.
func TouchedBy(kind string) Counter { return firstTouched + Counter(kindOf(kind)) }

// String returns the counter's name in reports and JSON.
func (c Counter) String() string {
	switch {
	case c < firstTouched:
		return counters[c].name
	case int(c) < numCounters:
		return kinds[c-firstTouched].Name + "_touched"
	default:
		return "?"
	}
}

// Means returns a line about the events that are counted.
func (c Counter) Means() string {
	if c < firstTouched {
		return counters[c].means
	}
	return "faults of that kind that touched somebody"
}

// Counts are the counts of one run, or of many, by Counter. The zero value is empty.
type Counts [numCounters]int

// Add adds the counts of another run.
func (c *Counts) Add(o Counts) {
	for i, n := range o {
		c[i] += n
	}
}

// CountsOf reverses Map, except for the counters of single kinds of faults. It
// ignores names that this lockcheck does not know.
func CountsOf(m map[string]int) (c Counts) {
	for i := range firstTouched {
		c[i] = m[i.String()]
	}
	return c
}

// Counters returns the counters from Grants to FaultTouched, in the order in which
// they are shown. For single kinds of faults see TouchedBy.
func Counters() []Counter {
	list := make([]Counter, firstTouched)
	for i := range list {
		list[i] = Counter(i)
	}
	return list
}

// Map returns the counts that are not zero, by name. It has only the counters of
// Counters.
func (c *Counts) Map() map[string]int {
	m := map[string]int{}
	for i, n := range c[:firstTouched] {
		if n != 0 {
			m[Counter(i).String()] = n
		}
	}
	return m
}
