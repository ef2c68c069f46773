// Package catalogue is what is known: the locks, the documented failure cases
// and their remedies, as tables that other packages walk over.
package catalogue

import (
	"fmt"
	"slices"
	"strings"
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

// Options change a lock or its client library. They are written as
// "token,spin".
type Options struct {
	Token   bool // each grant comes with a fencing token
	Spin    bool // ask again at once
	ReuseID bool // one value for all acquisitions of a client
	Claim   bool // recognise one's own value
	Retries bool // the client library sends again as go-redis does by default

	OwnToken bool // the token comes from a server of its own, which no fault touches
	Cap      bool // a watchdog stops renewing after 1.5 T
	ZeroTTL  bool // the lease is 0, and nobody has noticed

	Czxid bool // transactions stand in for sequence numbers

	FixedWait       bool // ask again after a wait that is always the same
	ExponentialWait bool // ask again after a wait that doubles

	InTx           bool // callers work in a transaction, and release inside it
	SharedIdentity bool // all clients think that they are called the same
	WaitTimeout    bool // a session ends that has been idle for T, and a heartbeat keeps it
	RowAbsent      bool // nobody has made the row that is locked
	Autocommit     bool // nobody has begun a transaction
	ReadCommitted  bool // the isolation level of transactions
}

// Tokens tells whether grants come with fencing tokens.
func (o *Options) Tokens() bool { return o.Token || o.OwnToken }

// Fenced is o with tokens, as a lock can have them: its own where it draws some,
// else those of a server beside it.
func (o Options) Fenced(lock *Lock) Options {
	switch {
	case o.Tokens():
	case !slices.Contains(lock.Options, "token") && slices.Contains(lock.Options, "token=own"):
		o.OwnToken = true
	default:
		o.Token = true
	}
	return o
}

// Option is one of Options, by the name that people write.
type Option struct {
	Name, Does string
	field      func(*Options) *bool
}

// AllOptions are the options, in the order in which they are written.
var AllOptions = []Option{
	{"token", "draw a fencing token with each grant", func(o *Options) *bool { return &o.Token }},
	{"token=own", "the same, from a server of its own which no fault touches", func(o *Options) *bool { return &o.OwnToken }},
	{"spin", "ask again at once instead of after a random wait", func(o *Options) *bool { return &o.Spin }},
	{"reuse-id", "use one value for all acquisitions of a client", func(o *Options) *bool { return &o.ReuseID }},
	{"claim", "an acquire that finds its own value has acquired", func(o *Options) *bool { return &o.Claim }},
	{"retries", "the client library sends a request again, as go-redis does by default", func(o *Options) *bool { return &o.Retries }},
	{"cap", "a watchdog stops renewing after 1.5 T", func(o *Options) *bool { return &o.Cap }},
	{"ttl=0", "ask the server for a lease of 0, as a caller may by mistake", func(o *Options) *bool { return &o.ZeroTTL }},
	{"czxid", "order the queue by the transactions that made its nodes, and draw tokens from them, instead of sequence numbers", func(o *Options) *bool { return &o.Czxid }},
	{"wait=fixed", "ask again after a wait of T/50, which is always the same", func(o *Options) *bool { return &o.FixedWait }},
	{"wait=exponential", "ask again after a random wait that doubles, from T/1000 to T/10", func(o *Options) *bool { return &o.ExponentialWait }},
	{"in-tx", "the caller works in a REPEATABLE READ transaction, and releases inside it", func(o *Options) *bool { return &o.InTx }},
	{"identity=shared", "all clients have the same address and thread, as programs behind one address or in containers may", func(o *Options) *bool { return &o.SharedIdentity }},
	{"wait-timeout", "the server ends a session that has been idle for T, and a heartbeat each T/3 keeps it", func(o *Options) *bool { return &o.WaitTimeout }},
	{"row=absent", "lock a row that nobody has made", func(o *Options) *bool { return &o.RowAbsent }},
	{"autocommit", "lock a row outside a transaction", func(o *Options) *bool { return &o.Autocommit }},
	{"read-committed", "transactions are READ COMMITTED instead of REPEATABLE READ", func(o *Options) *bool { return &o.ReadCommitted }},
}

func (o Options) String() string {
	var names []string
	for _, n := range AllOptions {
		if *n.field(&o) {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ",")
}

// MarshalText writes options as String does.
func (o Options) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText is ParseOptions.
func (o *Options) UnmarshalText(b []byte) (err error) {
	*o, err = ParseOptions(string(b))
	return err
}

// ParseOptions reads what String writes.
func ParseOptions(s string) (Options, error) {
	var o Options
	for name := range strings.SplitSeq(s, ",") {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(AllOptions, func(n Option) bool { return n.Name == name })
		if i < 0 {
			return o, fmt.Errorf("no option %q", name)
		}
		*AllOptions[i].field(&o) = true
	}
	return o, nil
}

// The options that several locks know.
var (
	// keyOptions are those of a lock that is one key, and is asked for again.
	keyOptions = []string{"token", "token=own", "spin", "retries", "wait=fixed", "wait=exponential"}
	// timeOptions are those where the key holds a time: it draws no token.
	timeOptions = []string{"token=own", "spin", "retries", "wait=fixed", "wait=exponential"}
	// valueOptions are those where the key holds a value of its holder's.
	valueOptions = []string{"token", "token=own", "spin", "reuse-id", "claim", "retries", "wait=fixed", "wait=exponential"}

	redlockOptions = []string{"token=own"}
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
		Does:    "a script on each of 3 nodes in turn that replaces the value before, a majority within T by a clock of seconds, again each T/2; compare and delete on all",
		Promise: "to keep the lock until it is released; what keeps it is not told of the release",
		Source:  "imcoderlemon, Three ways to lock with Redis (in Chinese), the third; redlock-cpp, ContinueLock",
		Steps:   Requests{3, 3},
		Lease:   LeaseRenewed,
		Options: redlockOptions,
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

var flawed = []Lock{
	{
		ID:      "redis-setnx-del-stale",
		Does:    "SETNX of the time at which it ends, GET, and DEL and SETNX if that has passed; GET, and DEL if it has not",
		Promise: "as redis-setnx-getset-fixed",
		Source:  "Redis manual, SETNX, Handling deadlocks, the clients C1, C2 and C3",
		Steps:   Requests{1, 2},
		Options: timeOptions,
		Like:    "redis-setnx-getset-fixed",
		Flaw:    "removes a lock that has ended with DEL: who comes second removes that of who came first",
		New:     redisLock(redislocks.NewSetNXDelStale),
	},
	{
		ID:       "redis-set-lua-wait",
		Does:     "SET NX PX, WAIT for one replica; compare and delete in a script",
		Promise:  "as redis-set-lua, and that a failover does not lose it",
		Source:   "Redis manual, WAIT, Consistency and WAIT",
		Steps:    Requests{2, 1},
		Options:  []string{"token", "token=own", "spin", "wait=fixed", "wait=exponential"},
		Replicas: 2,
		Like:     "redis-set-lua",
		Flaw:     "takes WAIT for consensus: a replica without the key may become the master",
		New:      redisLock(redislocks.NewSetLuaWait),
	},
	{
		ID:      "redis-watchdog-blind",
		Does:    "SET NX PX, and a task that renews it each T/3 by PEXPIRE; compare and delete in a script",
		Promise: "as redis-watchdog",
		Source:  "Redis manual, Distributed Locks with Redis, Extending the lock, which asks for a script",
		Steps:   Requests{1, 1},
		Lease:   LeaseRenewed,
		Options: keyOptions,
		Like:    "redis-watchdog",
		Flaw:    "renews whoever's lock it is, and never learns that it has lost its own",
		New:     redisLock(redislocks.NewWatchdogBlind),
	},
	{
		ID:      "redlock-flawed-quorum",
		Does:    "as redlock, with a majority of the nodes that have answered",
		Promise: "as redlock",
		Source:  "SPSCommerce/redlock-py, issue 6",
		Steps:   Requests{5, 5},
		Options: redlockOptions,
		Nodes:   5,
		Like:    "redlock",
		Flaw:    "counts the nodes that it reaches, not those that there are",
		New:     redlockLock(redislocks.NewRedlockFlawedQuorum),
	},
	{
		ID:      "redlock-flawed-timeout",
		Does:    "as redlock, one node after another, and without a time-out",
		Promise: "as redlock",
		Source:  "redlock-cpp, AddServerUrl; Redis manual, Distributed Locks with Redis, The Redlock Algorithm, step 2",
		Steps:   Requests{5, 5},
		Options: redlockOptions,
		Nodes:   5,
		Like:    "redlock",
		Flaw:    "waits for a node for ever",
		New:     redlockLock(redislocks.NewRedlockFlawedTimeout),
	},
	{
		ID:      "redlock-flawed-wallclock",
		Does:    "as redlock, with the wall clock",
		Promise: "as redlock",
		Source:  "S. Sanfilippo, Is Redlock safe?, which asks for a monotonic clock",
		Steps:   Requests{5, 5},
		Options: redlockOptions,
		Nodes:   5,
		Like:    "redlock",
		Flaw:    "takes the time of a round with a clock that jumps",
		New:     redlockLock(redislocks.NewRedlockFlawedWallClock),
	},
	{
		ID:      "redlock-flawed-seconds",
		Does:    "as redlock, with the whole seconds of the wall clock",
		Promise: "as redlock",
		Source:  "redlock-cpp, Lock",
		Steps:   Requests{5, 5},
		Options: redlockOptions,
		Nodes:   5,
		Like:    "redlock",
		Flaw:    "takes the time of a round with a clock of seconds",
		New:     redlockLock(redislocks.NewRedlockFlawedSeconds),
	},
	{
		ID:      "zk-predecessor-leaky-timeout",
		Does:    "as zk-predecessor-recheck; who gives up deletes nothing",
		Promise: "as zk-predecessor-recheck",
		Source:  "zk-ruby/zk, issue 49; spring-projects/spring-integration, issue 2557; aiozk, issue 34",
		Steps:   Requests{2, 1},
		Lease:   LeaseSession,
		Store:   StoreZooKeeper,
		Options: zkOptions,
		Like:    "zk-predecessor-recheck",
		Flaw:    "a waiter that gives up leaves its node in the queue, and everybody behind it waits",
		GivesUp: true,
		Order:   true,
		New:     zkLock(zklocks.NewPredecessorLeakyTimeout),
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
