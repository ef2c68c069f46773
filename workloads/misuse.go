package workloads

import (
	"slices"
	"time"
)

// Workload is a way in which clients use a lock at random: correctly, or with a common
// mistake.
type Workload struct {
	Name string
	Does string // one line
	Need Need   // of the lock
	habits
}

// habits are the deviations of a workload from correct use.
type habits struct {
	byName bool // all wait for a short time only, release by name even if refused, and stay away for a while if refused
	unfair bool // every second client, from the first on, asks out of turn
	nests  bool // clients acquire again within their critical sections, and release twice
	leaves bool // in half of the sections, on average, clients wait for a short time only, and stay away for a while if refused
}

// Need is an ability that some locks lack.
type Need string

const (
	NeedReleaseName Need = "a lock that releases by name"
	NeedUnfair      Need = "a lock that can be acquired out of turn"
	NeedNesting     Need = "a lock whose caller goes through the critical section"
)

// AsUsual is the default workload.
const AsUsual = "usual"

// All returns all workloads in the order of lists.
func All() []Workload {
	return []Workload{
		{Name: AsUsual, Does: "asks until it is granted, works, releases what it was granted"},
		{Name: "finally", Does: "waits for a short time only, releases by name in any case, as in a finally block around both, and stays away for a while if refused", Need: NeedReleaseName, habits: habits{byName: true}},
		{Name: "mixed", Does: "every second client, from the first on, asks out of turn", Need: NeedUnfair, habits: habits{unfair: true}},
		{Name: "nested", Does: "asks again within its critical section, and releases twice", Need: NeedNesting, habits: habits{nests: true}},
		{Name: "give-up", Does: "in half of its sections, on average, waits for a short time only, and stays away for a while if refused", habits: habits{leaves: true}},
	}
}

// Misuses returns all workloads but the usual one.
func Misuses() []Workload { return All()[1:] }

// Find returns the workload with that name; "" is the usual one.
func Find(name string) (Workload, bool) {
	all := All()
	if name == "" {
		return all[0], true
	}
	i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name })
	if i < 0 {
		return Workload{}, false
	}
	return all[i], true
}

// Names returns the names of all workloads.
func Names() (names []string) {
	for _, w := range All() {
		names = append(names, w.Name)
	}
	return names
}

// A client that gives up soon waits for T/20 to T/20 + T/10: long enough for a request
// or two, and mostly too short for a turn. Then it stays away for 0.6 T to 2.6 T:
// longer than the T/2 after which it no longer counts as a waiter, and until a lease
// that it left behind has mostly ended.
const (
	briefWait = 20 // T/20
	extraWait = 10 // T/10
	minAway   = 6  // tenths of T
	moreAway  = 2  // T
)

// askBriefly asks once, for a short time.
func (r Random) askBriefly(c Client, ask func(time.Duration) Result) Result {
	most := (r.Lease / extraWait).Microseconds()
	res := ask(r.Lease/briefWait + time.Duration(c.Rand("patience", most))*time.Microsecond)
	if res == Waits {
		return c.Abandon()
	}
	return res
}

// nestedSection goes through a critical section within that of a client that has read:
// like a function that takes the lock although its caller holds it. It asks for a short
// time only, because a lock that does not know its holder refuses it. It returns the
// result with which the outer section goes on.
func (r Random) nestedSection(c Client, read Result) Result {
	if got := c.Acquire(r.Lease/briefWait, false); got != OK {
		if got == Dead {
			return Dead
		}
		return read
	}
	res := c.Read(0)
	if res == OK {
		res = c.Write(0)
	}
	if res == Dead || c.Release() == Dead {
		return Dead
	}
	return res
}
