package workloads

import (
	"slices"
	"time"
)

// Workload is a way in which clients use a lock at random: as they should, or as
// people do all the same.
type Workload struct {
	Name string
	Does string // in a line
	Need Need   // of the lock
	habits
}

// habits are what the clients of a workload do otherwise than they should.
type habits struct {
	byName bool // they release by name, who was refused, too: all wait for a short time only, and stay away when they were refused
	unfair bool // every other one, from the first on, asks out of turn
	nests  bool // they ask again within their sections, and release twice
	leaves bool // some of the times they wait for a short time only, and stay away when they were refused
}

// Need is something that not every lock can do.
type Need string

// The needs.
const (
	NeedReleaseName Need = "a lock that releases by name"
	NeedUnfair      Need = "a lock that can be asked out of turn"
	NeedNesting     Need = "a lock that lets its caller go through the critical section"
)

// AsUsual is the workload of a run that names none.
const AsUsual = "usual"

// All are all workloads, in the order in which they are shown.
func All() []Workload {
	return []Workload{
		{Name: AsUsual, Does: "asks until it is granted, works, releases what it was granted"},
		{Name: "finally", Does: "asks for a short time, and releases by name in any case, as in a finally around both; stays away for a while if it was refused", Need: NeedReleaseName, habits: habits{byName: true}},
		{Name: "mixed", Does: "every other client, from the first on, asks out of turn", Need: NeedUnfair, habits: habits{unfair: true}},
		{Name: "nested", Does: "asks again within its critical section, and releases twice", Need: NeedNesting, habits: habits{nests: true}},
		{Name: "give-up", Does: "every second time, on average, waits for a short time only, and stays away for a while if that was too short", habits: habits{leaves: true}},
	}
}

// Misuses are all but the usual one.
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

// Names are the names of all workloads.
func Names() (names []string) {
	for _, w := range All() {
		names = append(names, w.Name)
	}
	return names
}

// How long who gives up soon waits, from T/20 to T/20 and T/10 more: long enough for
// a request or two, and mostly not for a turn. And how long it stays away then:
// longer than who goes on waiting, which is T/2, and for 2 T more at most, by when
// a lease that it left behind has ended.
const (
	shortly = 20
	further = 10
	atLeast = 6 // tenths of T
	away    = 2 // T
)

// soon asks once, for a short time.
func (r Random) soon(c Client, ask func(time.Duration) Result) Result {
	most := (r.Lease / further).Microseconds()
	res := ask(r.Lease/shortly + time.Duration(c.Rand("patience", most))*time.Microsecond)
	if res == Waits {
		return c.Abandon()
	}
	return res
}

// nested goes through a critical section within that of a client that has read
// value: as a function does that is called with the lock held, and takes it
// itself. It asks for a short time only: a lock that does not know who holds it
// refuses its own holder. What it returns is what the section around it goes on
// with.
func (r Random) nested(c Client, value int64, read Result) (int64, Result) {
	if got := c.Acquire(r.Lease / shortly); got != OK {
		if got == Dead {
			read = Dead
		}
		return value, read
	}
	inner, res := c.Read(0)
	if res == OK {
		inner++
		res = c.Write(inner, 0)
	}
	if res == Dead || c.Release() == Dead {
		return value, Dead
	}
	return inner, res
}
