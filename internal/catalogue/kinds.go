package catalogue

import (
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// LockKind is a kind of lock: where it keeps its grants, and what ends one that nobody releases.
// That decides what a lock can keep under a fault, however well it is written. No lease
// outlasts a pause of any length, for example.
type LockKind struct {
	Name  string
	Best  []string // locks of this kind that break least; what each of them may break, no lock of the kind can keep
	store Store
	lease Lease
	nodes bool // it asks several independent servers
	// keeps are properties that the kind can keep, though its best lock does not.
	keeps []checker.Property
}

// lockKinds are all kinds, each with the locks in the table of expectations that stand for it.
// So what a kind cannot keep has been found, and examined, in those locks.
var lockKinds = []LockKind{
	{Name: "lease", Best: []string{"redis-set-lua"}},
	{Name: "renewed-lease", lease: LeaseRenewed, Best: []string{"redis-watchdog"}},
	{Name: "no-expiry", lease: LeaseNone, Best: []string{"redis-setnx"}, keeps: []checker.Property{checker.Ownership}},
	{Name: "lease", nodes: true, Best: []string{"redlock"}},
	{Name: "renewed-lease", nodes: true, lease: LeaseRenewed, Best: []string{"redlock", "redis-watchdog"}},
	{Name: "session", store: StoreZooKeeper, lease: LeaseSession, Best: []string{"zk-recipe"}},
	{Name: "lease", store: StoreMySQL, Best: []string{"mysql-fair-fixed"}},
	{Name: "connection", store: StoreMySQL, lease: LeaseSession, Best: []string{"mysql-get-lock", "mysql-for-update"}},
}

// Kinds returns the kinds that a user's lock on the servers of l may be of.
func (l *Lock) Kinds() []LockKind {
	return slices.DeleteFunc(slices.Clone(lockKinds), func(k LockKind) bool { return k.store != l.Store || k.nodes != (l.Nodes > 1) })
}

// Kind returns the kind of a lock of the catalogue.
func (l *Lock) Kind() LockKind {
	among := l.Kinds()
	return among[max(0, slices.IndexFunc(among, func(k LockKind) bool { return k.lease == l.Lease }))]
}

// OfAny returns the kind of a lock of which nobody has said more than that it is of one of
// these: it can keep no more than the weakest of them.
func OfAny(among []LockKind) LockKind {
	k := LockKind{Name: "any"}
	for _, one := range among {
		k.Best = append(k.Best, one.Best...)
	}
	return k
}

// forgetful are the faults after which servers may have forgotten what they granted: also
// which token was the last.
var forgetful = []string{"restart-lost", "failover", "partition-servers"}

// clocks are the faults of clocks. With another fault they break what neither breaks alone: a
// server that is 1 % fast ends a lease early only for a holder that has come to its end. The
// table has no faults of two kinds.
var clocks = []string{"skew", "jump", "rate", "server-skew", "server-jump", "server-rate"}

// CannotKeep reports whether no lock of this kind keeps a property in a run with these kinds
// of faults and this workload ("": as usual). Faults that are not in the table count for
// nothing.
func (k *LockKind) CannotKeep(p checker.Property, struck []string, workload string, fencing history.Fencing) bool {
	if slices.Contains(k.keeps, p) {
		return false
	}
	if len(struck) > 1 && slices.ContainsFunc(struck, func(f string) bool { return slices.Contains(clocks, f) }) {
		return true
	}
	forgets := slices.ContainsFunc(struck, func(f string) bool { return slices.Contains(forgetful, f) })
	switch {
	case p == checker.Fencing && forgets:
		return true
	case p == checker.Resource && fencing == history.FencingAll && !forgets:
		return false // it refuses what comes late
	}
	for _, column := range append([]string{NoFault, workload}, struck...) {
		for _, best := range k.Best {
			if e, err := Expect(best, column); err == nil && slices.Contains(e.May, p) {
				return true
			}
		}
	}
	return false
}
