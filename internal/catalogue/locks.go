// Package catalogue has the tables that other packages walk over: the locks, the
// documented failure cases with their remedies, and in truth.go what each lock should show
// under each fault.
package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
	"github.com/lockcheck/lockcheck/workloads"
)

// Lock is one lock under test.
type Lock struct {
	ID       string
	Does     string // acquire and release in a line
	Promise  string // in words
	Source   string
	Steps    Requests // requests of an undisturbed acquire and release
	Lease    Lease
	Store    Store
	Options  []string // supported options
	Nodes    int      // number of independent servers that it asks; 0: one
	Replicas int      // replicas that each of them needs
	New      func(Env) locks.Locker
	// GivesUp is for locks that call the critical section themselves: it is set if
	// the wait ends with its caller's context. Otherwise the wait cannot be
	// cancelled.
	GivesUp bool
	Order   bool // it promises to grant in the order of its queue
	Tells   bool // its release compares, and fails if there was nothing of its own to release
	// Together is the number of clients that share a process, and with it a pool of
	// connections: the first Together clients of a run, the next Together clients,
	// and so on. A fault that strikes one of them strikes all. 0: each client has its
	// own process.
	Together int

	// Named: it is a named lock of MySQL (GET_LOCK), which a connection keeps.
	Named bool

	// Own: a user brings it in Go, and nobody knows what its entries are called.
	Own bool

	// Flaw is set for a variant that is wrong in one way. Cells that it lacks are
	// those of the lock Like.
	Like string
	Flaw string
}

// Lease is what ends a grant that is never released. It limits how long the critical
// sections of a run may last.
type Lease uint8

// The leases.
const (
	LeaseFixed   Lease = iota // time, without renewal
	LeaseRenewed              // time, and the lock itself renews it
	LeaseSession              // the end of the holder's session with the server
	LeaseNone                 // nothing
)

// Store is the kind of server that a lock uses.
type Store uint8

// The stores.
const (
	StoreRedis Store = iota
	StoreZooKeeper
	StoreMySQL
)

func (s Store) String() string { return [...]string{"Redis", "ZooKeeper", "MySQL"}[s] }

// Requests is how many requests an undisturbed operation sends.
type Requests struct{ Acquire, Release int }

// Applies returns an error that says why f does not apply to the lock on such
// servers, or nil if it does. Where a lock asks one server, random runs give it the
// replicas that f needs; nodes that must be independent get none.
func (l *Lock) Applies(f faults.Fault, s Server) error {
	switch {
	case l.Store == StoreZooKeeper && f.Need == faults.NeedMemory:
		return fmt.Errorf("%s needs a server that evicts what it has no room for, and the ensemble of %s keeps all", f.Name, l.ID)
	case l.Store == StoreZooKeeper:
		return nil
	case l.Store == StoreMySQL && f.Need == faults.NeedMemory:
		return fmt.Errorf("%s needs a server that evicts what it has no room for, and that of %s keeps all", f.Name, l.ID)
	case l.Store == StoreMySQL && f.Need == faults.NeedValues && l.Lease == LeaseSession:
		return fmt.Errorf("%s needs entries with a value or an owner, and %s keeps only what its session has locked", f.Name, l.ID)
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

// Strikes returns an error that says why f, though it applies to the lock, cannot
// strike its servers in an environment, or nil if it can.
func (l *Lock) Strikes(f faults.Fault, place string) error {
	switch {
	case place != "docker":
	case l.Store == StoreZooKeeper && f.Need == faults.NeedClock:
		return fmt.Errorf("%s needs %s: under libfaketime a JVM is too slow for the sessions of %s, which go by another clock", f.Name, f.Need, l.ID)
	case f.Operator != "" && l.New != nil && l.Hidden():
		return fmt.Errorf("%s needs a server that shows the entries of locks, and a real MySQL server does not show those of %s", f.Name, l.ID)
	}
	return nil
}

// Hidden reports whether real servers do not show the entries of the lock. MySQL does not
// say who has locked a row, and clients with a common pool share its connections. A user's
// lock may keep anything in MySQL. A worker's is hidden until the worker declares its entries.
func (l *Lock) Hidden() bool {
	return l.Store == StoreMySQL && l.Lease == LeaseSession && (!l.Named || l.Together > 0)
}

// Takes returns an error that says why the clients of a workload cannot use the lock,
// or nil if they can. A user's own lock reports itself what it does not support.
func (l *Lock) Takes(w workloads.Workload) error {
	if w.Need == "" || l.New == nil {
		return nil
	}
	// A lock made from empty ports sends no requests: it only shows its capabilities.
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

// Env is the input for making a lock: one client's host and its ports to the servers.
type Env struct {
	Host    locks.Host
	Redis   []redis.Port // to each node of the layout, or to its master if it has replicas
	Tokens  redis.Port   // to the server that draws tokens, if the layout has one
	Lease   time.Duration
	Options Options

	ZooKeeper zookeeper.Port // to the ensemble of the layout, if it has one instead
	MySQL     mysql.Port     // to the MySQL server of the layout, if it has one instead

	// Address and Thread are the identity that a client assumes: those of its machine
	// and of the thread that asks. No two clients share both, unless a case says so.
	Address, Thread string
}

// The options that several locks support.
var (
	// keyOptions are for a lock that is one key, and whose clients ask again.
	keyOptions = []string{"token", "token=own", "spin", "retries", "wait=fixed", "wait=exponential"}
	// timeOptions are for keys that hold a time: such a lock draws no token.
	timeOptions = []string{"token=own", "spin", "retries", "wait=fixed", "wait=exponential"}
	// valueOptions are for keys that hold a value of their holder.
	valueOptions = []string{"token", "token=own", "spin", "reuse-id", "claim", "retries", "wait=fixed", "wait=exponential"}

	redlockOptions = []string{"token=own", "wait=fixed"}
	zkOptions      = []string{"token"}
)

// Locks are all locks, in the order in which they are shown: first those that a user
// may believe to be correct, then the variants with a flaw.
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
		Tells:   true,
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
		Tells:   true,
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
		Tells:   true,
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
		Tells:   true,
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
		Tells:   true,
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
		Tells:   true,
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
		Tells:   true,
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
		Tells:   true,
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

// redis returns the options of a Redis lock.
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

// NameIn returns the one of these names of locks that a key or path stands for; "": none.
// A user's own lock may add words before it, as in "orders:{a}".
func (l *Lock) NameIn(key string, names []string) string {
	if l.Own {
		words := strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune("/:{}.-_", r) })
		if len(words) == 0 {
			return ""
		}
		key = words[len(words)-1]
	}
	for _, name := range names {
		if name == key {
			return name
		}
	}
	return ""
}

// FindLock returns the lock with that id.
func FindLock(id string) (Lock, bool) {
	i := slices.IndexFunc(Locks, func(l Lock) bool { return l.ID == id })
	if i < 0 {
		return Lock{}, false
	}
	return Locks[i], true
}

// Mates returns the clients of a run that share a process with client, itself
// included.
func (l *Lock) Mates(clients []string, client string) []string {
	n := max(1, l.Together)
	i := slices.Index(clients, client) / n * n
	return clients[i:min(i+n, len(clients))]
}
