package faults

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// all are the faults that can be injected.
var all = [...]Fault{
	pause, kill, powerOff, hang, skew, jump, rate,
	serverPause, restart, restartLost, failover, serverSkew, serverJump, serverRate, evict,
	partition, partitionOneway, partitionServers, delay, dropReply, killConnection,
	sessionExpiry, entryLost, entryChanged,
}

// seen are what else goes wrong in histories: nobody injects it.
var seen = [...]Fault{
	{Name: history.Exit, On: OnClient, Ends: true, Once: true, Words: Words{
		Past: "{on} was|were found dead{since}",
		Now:  "{on} is|are found dead{since}",
	}},
	{Name: history.Stall, On: OnServer, Stops: true, Words: wordsFor(history.Stall)},
}

// All returns all faults in the order of lists and tables.
func All() []Fault { return slices.Clone(all[:]) }

// Usual returns the faults that "all" means: all but those of operators.
func Usual() []Fault {
	return slices.DeleteFunc(All(), func(f Fault) bool { return f.Operator != "" })
}

// Count is how many faults there are.
const Count = len(all)

// Find returns the fault with that name.
func Find(name string) (Fault, bool) {
	i := slices.IndexFunc(all[:], func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return all[i], true
}

// InHistory returns what is known of a fault that a history names: one of All,
// history.Exit or history.Stall. Any other name means a fault on servers.
func InHistory(name string) Fault {
	for _, known := range [...][]Fault{all[:], seen[:]} {
		for i := range known {
			if known[i].Name == name {
				return known[i]
			}
		}
	}
	return Fault{Name: name, On: OnServer, Words: wordsFor(name)}
}

// wordsFor are the words of a fault of which only the name is known.
func wordsFor(name string) Words {
	return Words{Lane: name, Past: name + " struck {on}{for}", Now: name + " strikes {on}{for}"}
}
