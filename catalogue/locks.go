// Package catalogue is what is known: the locks, the documented failure cases
// and their remedies, as tables that other packages walk over.
package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// Lock is one lock under test.
type Lock struct {
	ID      string
	Does    string // acquire and release in a line
	Promise string // in words
	Source  string
	Steps   Requests // of an acquire and a release that nobody disturbs
	Lease   Lease
	Options []string // the options that it knows
	New     func(Env) locks.Locker
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

// Requests is how many requests an operation sends when nobody is in its way.
type Requests struct{ Acquire, Release int }

// Env is what a lock is made from: one client's host and its way to the servers.
type Env struct {
	Host    locks.Host
	Redis   redis.Port
	Lease   time.Duration
	Options Options
}

// Options change a lock or its client library. They are written as
// "token,spin".
type Options struct {
	Token   bool // each grant comes with a fencing token
	Spin    bool // ask again at once
	ReuseID bool // one value for all acquisitions of a client
	Claim   bool // recognise one's own value
	Retries bool // the client library sends again as go-redis does by default
}

// Option is one of Options, by the name that people write.
type Option struct {
	Name, Does string
	field      func(*Options) *bool
}

// AllOptions are the options, in the order in which they are written.
var AllOptions = []Option{
	{"token", "draw a fencing token with each grant", func(o *Options) *bool { return &o.Token }},
	{"spin", "ask again at once instead of after a random wait", func(o *Options) *bool { return &o.Spin }},
	{"reuse-id", "use one value for all acquisitions of a client", func(o *Options) *bool { return &o.ReuseID }},
	{"claim", "an acquire that finds its own value has acquired", func(o *Options) *bool { return &o.Claim }},
	{"retries", "the client library sends a request again, as go-redis does by default", func(o *Options) *bool { return &o.Retries }},
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

// Locks are all locks, in the order in which they are shown.
var Locks = []Lock{
	{
		ID:      "redis-setnx",
		Does:    "SETNX; DEL",
		Promise: "exclusion while the server keeps its data; a holder that dies keeps it for ever",
		Source:  "Redis manual, SETNX, Handling deadlocks",
		Steps:   Requests{1, 1},
		Lease:   LeaseNone,
		Options: []string{"token", "spin", "retries"},
		New:     redisLock(redislocks.NewSetNX),
	},
	{
		ID:      "redis-setnx-expire",
		Does:    "SETNX, then PEXPIRE; DEL",
		Promise: "exclusion for the length of a lease, if nobody dies between two commands",
		Source:  "Redis manual, SET, Patterns",
		Steps:   Requests{2, 1},
		Options: []string{"token", "spin", "retries"},
		New:     redisLock(redislocks.NewSetNXExpire),
	},
	{
		ID:      "redis-set-del",
		Does:    "SET NX PX; DEL",
		Promise: "exclusion for the length of a lease, if nobody releases late",
		Source:  "Redis manual, Distributed Locks with Redis, Correct Implementation with a Single Instance",
		Steps:   Requests{1, 1},
		Options: []string{"token", "spin", "reuse-id", "claim", "retries"},
		New:     redisLock(redislocks.NewSetDel),
	},
	{
		ID:      "redis-set-get-del",
		Does:    "SET NX PX; GET, compare, DEL",
		Promise: "exclusion for the length of a lease, if no release is slow",
		Source:  "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), the race of threads A and B",
		Steps:   Requests{1, 2},
		Options: []string{"token", "spin", "reuse-id", "claim", "retries"},
		New:     redisLock(redislocks.NewSetGetDel),
	},
	{
		ID:      "redis-set-lua",
		Does:    "SET NX PX; compare and delete in a script",
		Promise: "exclusion for the length of a lease; beyond it with fencing only",
		Source:  "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese); imcoderlemon, Three ways to lock with Redis (in Chinese); Redis manual, Distributed Locks with Redis",
		Steps:   Requests{1, 1},
		Options: []string{"token", "spin", "reuse-id", "claim", "retries"},
		New:     redisLock(redislocks.NewSetLua),
	},
}

func redisLock(make func(locks.Host, redis.Port, redislocks.Options) locks.Locker) func(Env) locks.Locker {
	return func(e Env) locks.Locker {
		return make(e.Host, e.Redis, redislocks.Options{
			TTL:     e.Lease,
			Token:   e.Options.Token,
			Spin:    e.Options.Spin,
			ReuseID: e.Options.ReuseID,
			Claim:   e.Options.Claim,
		})
	}
}

// FindLock returns the lock with that id.
func FindLock(id string) (Lock, bool) {
	i := slices.IndexFunc(Locks, func(l Lock) bool { return l.ID == id })
	if i < 0 {
		return Lock{}, false
	}
	return Locks[i], true
}

// RedisName is the name of the one Redis server of a place.
const RedisName = "redis-1"

// Server is how a server is set up.
type Server struct {
	Fsync Fsync `json:"fsync,omitempty"`
}

// Fsync says what a Redis server keeps of its data when it loses power.
type Fsync string

// The settings of appendfsync that locks depend on.
const (
	FsyncNone   Fsync = "" // no append-only file: nothing is kept
	FsyncAlways Fsync = "always"
)
