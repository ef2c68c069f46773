package checker

import (
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// verb is the kind of an operation.
type verb uint8

const (
	acquire verb = iota + 1 // also a try
	release
	extend
	read
	write
)

func verbOf(f string) verb {
	switch f {
	case history.Acquire, history.Try:
		return acquire
	case history.Release:
		return release
	case history.Extend:
		return extend
	case history.Read:
		return read
	case history.Write:
		return write
	}
	return 0
}

// deed is an act of a server on an entry of its store.
type deed uint8

const (
	granted deed = iota + 1
	removed
	takenOver
	shortened
	prolonged
	changed
	expired
	lost
)

func deedOf(f string) deed {
	switch f {
	case history.Granted:
		return granted
	case history.Remove:
		return removed
	case history.Takeover:
		return takenOver
	case history.Shorten:
		return shortened
	case history.Prolong:
		return prolonged
	case history.Change:
		return changed
	case history.Expire:
		return expired
	case history.Lose:
		return lost
	}
	return 0
}

// kind indexes kinds.
type kind uint8

const (
	stall     kind = kind(faults.Count) + iota // a stall of the machine: not an injected fault
	otherKind                                  // possibly on servers: the checker does not know
)

// undisturbed is the kind of runs without faults.
const undisturbed = otherKind + 1

// kinds are the faults that the checker knows by name. The last one is for all
// others.
var kinds = append(faults.All(), faults.InHistory(history.Stall), faults.InHistory("other"))

func kindOf(name string) kind {
	for k := range otherKind {
		if kinds[k].Name == name {
			return k
		}
	}
	return otherKind
}

// ends reports whether its client never executes anything again.
func (k kind) ends() bool { return kinds[k].Ends }

func (k kind) onServers() bool {
	return kinds[k].On == faults.OnServer || kinds[k].On == faults.OnServers
}

// excuses reports whether a hand-over may take any time while k lasts.
func (k kind) excuses() bool { return kinds[k].Stops && !kinds[k].Once }

// stopsClient reports whether the client's caller is stopped while k lasts.
func (k kind) stopsClient() bool { return kinds[k].On == faults.OnClient && k.excuses() }

// idles reports whether a client that holds when k strikes may never release the
// lock.
func (k kind) idles() bool {
	return k.stopsClient() || kinds[k].On == faults.OnClient && (kinds[k].Clock || kinds[k].Rate)
}
