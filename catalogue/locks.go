// Package catalogue is what is known: the locks, the documented failure cases
// and their remedies, as tables that other packages walk over.
package catalogue

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
	"github.com/lockcheck/lockcheck/stores/mysql"
	"github.com/lockcheck/lockcheck/stores/redis"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
	"github.com/lockcheck/lockcheck/workloads"
)

// Lock is one lock under test.
type Lock struct {
	ID       string
	Does     string // acquire and release in a line
	Promise  string // in words
	Source   string
	Steps    Requests // of an acquire and a release that nobody disturbs
	Lease    Lease
	Store    Store
	Options  []string // the options that it knows
	Nodes    int      // how many servers it asks that know nothing of one another; 0: one
	Replicas int      // of each of them, that it cannot do without
	New      func(Env) locks.Locker
	// GivesUp says of one that calls the critical section itself that its wait
	// ends with its caller's; else nobody can call it off.
	GivesUp bool
	Order   bool // it promises to grant in the order of its queue
	// Together is how many clients share a process, and with it a pool of
	// connections: the first so many of a run, the next so many, … What strikes
	// one of them strikes all. 0: each has a process of its own.
	Together int

	// Flaw, of a variant that is wrong in one way: what else is known of it is
	// what is known of the lock called Like.
	Like string
	Flaw string
}

// Lease says what ends a grant that nobody releases. What a run's critical
// sections may last follows from it.
type Lease uint8

// The leases.
const (
	LeaseFixed   Lease = iota // time, and nobody renews it
	LeaseRenewed              // time, and the lock itself renews it
	LeaseSession              // the end of the holder's session with the server
	LeaseNone                 // nothing
)

// Store is what a lock stands on.
type Store uint8

// The stores.
const (
	StoreRedis Store = iota
	StoreZooKeeper
	StoreMySQL
)

func (s Store) String() string { return [...]string{"Redis", "ZooKeeper", "MySQL"}[s] }

// Requests is how many requests an operation sends when nobody is in its way.
type Requests struct{ Acquire, Release int }

// Applies says why f does not apply to the lock on such servers; nil: it does.
// Where a lock asks one server, random runs give it the replicas that f needs;
// nodes that are to know nothing of one another get none.
func (l *Lock) Applies(f faults.Fault, s Server) error {
	switch {
	case l.Store == StoreZooKeeper && f.Need == faults.NeedMemory:
		return fmt.Errorf("%s needs a server that evicts what it has no room for, and the ensemble of %s keeps all", f.Name, l.ID)
	case l.Store == StoreZooKeeper:
		return nil
	case l.Store == StoreMySQL && f.Need == faults.NeedMemory:
		return fmt.Errorf("%s needs a server that evicts what it has no room for, and that of %s keeps all", f.Name, l.ID)
	case l.Store == StoreMySQL && f.Need == faults.NeedSessions && l.Lease == LeaseSession:
		return nil
	case l.Store == StoreMySQL && f.Need == faults.NeedSessions:
		return fmt.Errorf("%s needs a lock that goes with a session, and %s is a row, which stays", f.Name, l.ID)
	case f.Need == faults.NeedSessions:
		return fmt.Errorf("%s needs a server that keeps sessions, and that of %s keeps none", f.Name, l.ID)
	}
	if f.Need == faults.NeedReplicas && l.Nodes > 1 && s.Replicas == 0 {
		return fmt.Errorf("%s needs servers with replicas, and the nodes of %s have none", f.Name, l.ID)
	}
	return nil
}

// Strikes says why f cannot strike the lock's servers in a place though it applies
// to the lock; nil: it can.
func (l *Lock) Strikes(f faults.Fault, place string) error {
	if l.Store == StoreZooKeeper && place == "docker" && f.Need == faults.NeedClock {
		return fmt.Errorf("%s needs %s: under libfaketime a JVM is too slow for the sessions of %s, which go by another clock", f.Name, f.Need, l.ID)
	}
	return nil
}

// Takes says why the clients of a workload cannot use the lock; nil: they can.
// A stranger's lock says itself what it cannot do, when it is asked to.
func (l *Lock) Takes(w workloads.Workload) error {
	if w.Need == "" || l.New == nil {
		return nil
	}
	// What is made of nothing asks nobody: it only shows what it can do.
	locker := l.New(Env{Redis: make([]redis.Port, max(1, l.Nodes))})
	can := true
	switch w.Need {
	case workloads.NeedReleaseName:
		_, can = locker.(locks.NameReleaser)
	case workloads.NeedUnfair:
		_, can = locker.(locks.UnfairLocker)
	case workloads.NeedNesting:
		_, runs := locker.(locks.Runner)
		can = !runs
	}
	if !can {
		return fmt.Errorf("%s needs %s, and %s is none", w.Name, w.Need, l.ID)
	}
	return nil
}

// Env is what a lock is made from: one client's host and its way to the servers.
type Env struct {
	Host    locks.Host
	Redis   []redis.Port // to each node of the layout: where it has replicas, to its master
	Tokens  redis.Port   // to the server that tokens come from, where the layout has one
	Lease   time.Duration
	Options Options

	ZooKeeper zookeeper.Port // to the ensemble of the layout, where it has one instead
	MySQL     mysql.Port     // to the MySQL server of the layout, where it has one instead

	// Address and Thread are what a client thinks it is called: those of its
	// machine and of the thread that asks. No two clients share both, unless a
	// case says so.
	Address, Thread string
}

// The options that several locks know.
var (
	// keyOptions are those of a lock that is one key, and is asked for again.
	keyOptions = []string{"token", "token=own", "spin", "retries", "wait=fixed", "wait=exponential"}
	// timeOptions are those where the key holds a time: it draws no token.
	timeOptions = []string{"token=own", "spin", "retries", "wait=fixed", "wait=exponential"}
	// valueOptions are those where the key holds a value of its holder's.
	valueOptions = []string{"token", "token=own", "spin", "reuse-id", "claim", "retries", "wait=fixed", "wait=exponential"}

	redlockOptions = []string{"token=own", "wait=fixed"}
	zkOptions      = []string{"token"}
)

// Locks are all locks, in the order in which they are shown: first those that
// somebody may take for right, then the variants with a flaw.
var Locks = slices.Concat(published, mysqlLocks, flawed)

var published = []Lock{
	{
		ID:      "redis-setnx",
		Does:    "SETNX; DEL",
		Promise: "exclusion while the server keeps its data; a holder that dies keeps it for ever",
		Source:  "Redis manual, SETNX, Handling deadlocks",
		Steps:   Requests{1, 1},
		Lease:   LeaseNone,
		Options: keyOptions,
		New:     redisLock(redislocks.NewSetNX),
	},
	{
		ID:      "redis-setnx-expire",
		Does:    "SETNX, then PEXPIRE; DEL",
		Promise: "exclusion for the length of a lease, if nobody dies between two commands",
		Source:  "Redis manual, SET, Patterns",
		Steps:   Requests{2, 1},
		Options: keyOptions,
		New:     redisLock(redislocks.NewSetNXExpire),
	},
	{
		ID:      "redis-setnx-getset",
		Does:    "SETNX of the time at which it ends, GET, and GETSET if that has passed; GET, and DEL if it has passed",
		Promise: "exclusion for 1.1 leases, if all clocks are right and nobody releases late; a release in time frees nothing",
		Source:  "imcoderlemon, Three ways to lock with Redis (in Chinese), the first",
		Steps:   Requests{1, 1},
		Options: timeOptions,
		New:     redisLock(redislocks.NewSetNXGetSet),
	},
	{
		ID:      "redis-setnx-getset-fixed",
		Does:    "SETNX of the time at which it ends, GET, and GETSET if that has passed; GET, and DEL if it has not",
		Promise: "exclusion for 1.1 leases, if all clocks are right and nobody releases late",
		Source:  "Redis manual, SETNX, Handling deadlocks",
		Steps:   Requests{1, 2},
		Options: timeOptions,
		New:     redisLock(redislocks.NewSetNXGetSetFixed),
	},
	{
		ID:      "redis-set-del",
		Does:    "SET NX PX; DEL",
		Promise: "exclusion for the length of a lease, if nobody releases late",
		Source:  "Redis manual, Distributed Locks with Redis, Correct Implementation with a Single Instance",
		Steps:   Requests{1, 1},
		Options: valueOptions,
		New:     redisLock(redislocks.NewSetDel),
	},
	{
		ID:      "redis-set-get-del",
		Does:    "SET NX PX; GET, compare, DEL",
		Promise: "exclusion for the length of a lease, if no release is slow",
		Source:  "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), the race of threads A and B",
		Steps:   Requests{1, 2},
		Options: valueOptions,
		New:     redisLock(redislocks.NewSetGetDel),
	},
	{
		ID:      "redis-set-lua",
		Does:    "SET NX PX; compare and delete in a script",
		Promise: "exclusion for the length of a lease; beyond it with fencing only",
		Source:  "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese); imcoderlemon, Three ways to lock with Redis (in Chinese); Redis manual, Distributed Locks with Redis",
		Steps:   Requests{1, 1},
		Options: slices.Concat(valueOptions, []string{"ttl=0"}),
		New:     redisLock(redislocks.NewSetLua),
	},
	{
		ID:      "redis-watchdog",
		Does:    "SET NX PX, and a task that renews it each T/3 by a script; compare and delete in a script",
		Promise: "exclusion for as long as the holder renews; beyond it with fencing only; a holder that hangs keeps it, unless capped",
		Source:  "Redisson, RLock, lock watchdog; Redis manual, Distributed Locks with Redis, Extending the lock",
		Steps:   Requests{1, 1},
		Lease:   LeaseRenewed,
		Options: []string{"token", "token=own", "spin", "retries", "cap", "wait=fixed", "wait=exponential"},
		New:     redisLock(redislocks.NewWatchdog),
	},
	{
		ID:      "redlock-seed",
		Does:    "SET NX PX on each of 5 nodes in turn, a majority within T by the wall clock; compare and delete on all",
		Promise: "exclusion for what is left of a lease, if no clock jumps or drifts and no node forgets",
		Source:  "imcoderlemon, Three ways to lock with Redis (in Chinese), the third",
		Steps:   Requests{5, 5},
		Options: redlockOptions,
		Nodes:   5,
		New:     redlockLock(redislocks.NewRedlockSeed),
	},
	{
		ID:      "redlock",
		Does:    "SET NX PX on 5 nodes at once, a majority within T less the drift of clocks; compare and delete on all",
		Promise: "exclusion for what is left of a lease, if no node's clock jumps and none forgets; beyond it with fencing only",
		Source:  "Redis manual, Distributed Locks with Redis, The Redlock Algorithm; S. Sanfilippo, Is Redlock safe?",
		Steps:   Requests{5, 5},
		Options: redlockOptions,
		Nodes:   5,
		New:     redlockLock(redislocks.NewRedlock),
	},
	{
		ID:      "redlock-continue",
		Does:    "a script on each of 3 nodes in turn that replaces the value before, a majority within T by a clock of seconds, again each T/2 by a task of ours; compare and delete on all",
		Promise: "to keep the lock until it is released; what keeps it is not told of the release",
		Source:  "imcoderlemon, Three ways to lock with Redis (in Chinese), the third; redlock-cpp, ContinueLock",
		Steps:   Requests{3, 3},
		Lease:   LeaseRenewed,
		Options: slices.Concat(redlockOptions, []string{"once"}),
		Nodes:   3,
		New:     redlockLock(redislocks.NewRedlockContinue),
	},
	{
		ID:      "zk-predecessor",
		Does:    "an EPHEMERAL_SEQUENTIAL child, smallest of all, else watch the one before it, and enter when that is gone; delete",
		Promise: "exclusion for as long as sessions live and no waiter's ends; beyond it with fencing only; the order of the queue",
		Source:  "Distributed locks with ZooKeeper (in Chinese), DistributedClient",
		Steps:   Requests{2, 1},
		Lease:   LeaseSession,
		Store:   StoreZooKeeper,
		Options: zkOptions,
		Order:   true,
		New:     zkLock(zklocks.NewPredecessor),
	},
	{
		ID:      "zk-predecessor-recheck",
		Does:    "as zk-predecessor; when the one before is gone list again, and if another is before it watch that one, or enter if that is gone, too; delete",
		Promise: "exclusion for as long as sessions live and no two waiters' end one after the other; beyond it with fencing only; the order of the queue",
		Source:  "Distributed locks with ZooKeeper (in Chinese), the repair of DistributedClient",
		Steps:   Requests{2, 1},
		Lease:   LeaseSession,
		Store:   StoreZooKeeper,
		Options: zkOptions,
		Order:   true,
		New:     zkLock(zklocks.NewPredecessorRecheck),
	},
	{
		ID:      "zk-children",
		Does:    "an EPHEMERAL_SEQUENTIAL child, alone, else watch the children, list again at each change, and enter whenever it is the smallest; delete",
		Promise: "exclusion as long as nobody comes while somebody is in; beyond a session with fencing only; the order of the queue",
		Source:  "Distributed locks with ZooKeeper (in Chinese), DistributedClient2",
		Steps:   Requests{2, 1},
		Lease:   LeaseSession,
		Store:   StoreZooKeeper,
		Options: zkOptions,
		Order:   true,
		New:     zkLock(zklocks.NewChildren),
	},
	{
		ID:      "zk-recipe",
		Does:    "an EPHEMERAL_SEQUENTIAL child with a GUID, smallest of all, else watch the one before it and list again; delete until answered",
		Promise: "exclusion for as long as the session lives; beyond it with fencing only; the order of the queue",
		Source:  "Apache ZooKeeper, Recipes, Locks, Recoverable Errors and the GUID; Apache Curator, InterProcessMutex",
		Steps:   Requests{2, 1},
		Lease:   LeaseSession,
		Store:   StoreZooKeeper,
		Options: []string{"token", "czxid"},
		Order:   true,
		New:     zkLock(zklocks.NewRecipe),
	},
}

func redisLock(make func(locks.Host, redis.Port, redislocks.Options) locks.Locker) func(Env) locks.Locker {
	return func(e Env) locks.Locker { return make(e.Host, e.Redis[0], e.redis()) }
}

func redlockLock(make func(locks.Host, []redis.Port, redislocks.Options) locks.Locker) func(Env) locks.Locker {
	return func(e Env) locks.Locker { return make(e.Host, e.Redis, e.redis()) }
}

func zkLock(make func(locks.Host, zookeeper.Port, zklocks.Options) locks.Locker) func(Env) locks.Locker {
	return func(e Env) locks.Locker {
		return make(e.Host, e.ZooKeeper, zklocks.Options{TTL: e.Lease, Token: e.Options.Token, Czxid: e.Options.Czxid})
	}
}

// redis is the options of a Redis lock.
func (e *Env) redis() redislocks.Options {
	o := redislocks.Options{
		TTL:             e.Lease,
		Token:           e.Options.Token,
		Spin:            e.Options.Spin,
		ReuseID:         e.Options.ReuseID,
		Claim:           e.Options.Claim,
		Cap:             e.Options.Cap,
		ZeroTTL:         e.Options.ZeroTTL,
		Once:            e.Options.Once,
		FixedWait:       e.Options.FixedWait,
		ExponentialWait: e.Options.ExponentialWait,
	}
	if e.Options.OwnToken {
		o.Tokens = e.Tokens
	}
	return o
}

// FindLock returns the lock with that id.
func FindLock(id string) (Lock, bool) {
	i := slices.IndexFunc(Locks, func(l Lock) bool { return l.ID == id })
	if i < 0 {
		return Lock{}, false
	}
	return Locks[i], true
}

// Mates are the clients of a run that share a process with client, itself
// included.
func (l *Lock) Mates(clients []string, client string) []string {
	n := max(1, l.Together)
	i := slices.Index(clients, client) / n * n
	return clients[i:min(i+n, len(clients))]
}
