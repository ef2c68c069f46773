package lockcheck

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Servers are the servers that the clients of a test use.
type Servers struct {
	store           catalogue.Store
	nodes, replicas int
	own             *Endpoints // of External; else nil
	err             error
}

// Endpoints are servers that a user runs, in the words of run --on external: see
// docs/external.md. Exactly one of Redis, Sentinel, ZooKeeper and MySQL is set.
type Endpoints = endpoints.Servers

// External returns servers that you run yourself. The test runs on them, unless On or
// -lockcheck.on says otherwise: in bubble it has servers of the same kind. Links do the TLS
// and, for Redis, prove who asks: the lock connects as if there were neither. Names of locks
// begin with a prefix, and what contains it is removed at the end of a run.
func External(e Endpoints) Servers {
	s := Servers{own: &e, err: e.Check()}
	switch e.Store() {
	case endpoints.ZooKeeper:
		s.store = catalogue.StoreZooKeeper
	case endpoints.MySQL:
		s.store = catalogue.StoreMySQL
	case endpoints.Sentinel:
		s.nodes, s.replicas = 1, 2
	default:
		s.nodes = len(e.Addrs())
	}
	return s
}

// Redis returns n independent Redis servers: 1 for most locks, 5 for Redlock.
func Redis(n int) Servers {
	return Servers{store: catalogue.StoreRedis, nodes: n, err: within("Redis", n, 1, 9)}
}

// RedisSentinel returns a Redis server with replicas, and three Sentinels that promote one
// of them when it dies.
func RedisSentinel(replicas int) Servers {
	return Servers{store: catalogue.StoreRedis, nodes: 1, replicas: replicas, err: within("RedisSentinel", replicas, 1, 5)}
}

// within returns an error if n is not from least to most.
func within(what string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%s(%d): it goes from %d to %s", what, n, least, names.Thousands(most))
	}
	return nil
}

// ZooKeeper returns an ensemble of three members.
func ZooKeeper() Servers { return Servers{store: catalogue.StoreZooKeeper} }

// MySQL returns a MySQL server: a MariaDB, unless LOCKCHECK_MYSQL_IMAGE names another.
// It runs on Docker only.
func MySQL() Servers { return Servers{store: catalogue.StoreMySQL} }

// An Option changes what Test does.
type Option func(*settings)

// settings are the settings of a test.
type settings struct {
	promises  []string
	faults    []string
	workloads []string
	runs      int
	limit     time.Duration
	patient   bool // nobody has chosen limit: runs that prove nothing yet go on after it
	seed      uint64
	clients   int
	renews    bool
	on        string
	brief     bool // the first run that proves something is the last
	own       *Endpoints
}

// Promise names the properties that the lock promises: exclusion, lease-exclusion,
// ownership, fencing, resource, answers, liveness, handover, fairness. docs/properties.md
// describes them. Without a promise the test fails, and prints which properties held.
func Promise(properties ...string) Option { return func(s *settings) { s.promises = properties } }

// Faults names the faults, each of which gets runs of its own. The name "none" stands for
// runs without a fault. The default is that name and all faults that apply to the servers.
func Faults(names ...string) Option { return func(s *settings) { s.faults = names } }

// Runs sets how many runs each fault gets; the default is 100, and 1 on docker.
func Runs(n int) Option { return func(s *settings) { s.runs = n } }

// For limits the time of the whole test. Each fault gets the same share. If a share is
// over, the fault has fewer runs. Without For and Runs the time is 20 s, and no limit on
// docker. On a slow machine a fault then gets more, until its runs have tested the promise.
// With Runs alone the limit is that of go test -timeout.
func For(d time.Duration) Option { return func(s *settings) { s.limit = d } }

// Seed sets the seed of the first run; the default is 1. Run i has Seed + i.
func Seed(n uint64) Option { return func(s *settings) { s.seed = n } }

// Clients sets how many clients want the lock; the default is 4.
func Clients(n int) Option { return func(s *settings) { s.clients = n } }

// Renews says that the lock makes its leases longer by itself, while its client works. Then
// critical sections last up to two leases: without it they end before a renewal is due.
func Renews() Option { return func(s *settings) { s.renews = true } }

// Workload names what clients do; the default is usual. The command lockcheck list workloads
// describes them.
func Workload(names ...string) Option { return func(s *settings) { s.workloads = names } }

// On sets where the test runs: in bubble, which is the default, time is virtual; on docker
// servers and time are real, which needs an import of package docker. The same import is
// needed for external, the servers of External.
func On(environment string) Option { return func(s *settings) { s.on = environment } }

// These flags of go test override the options.
var (
	seedFlag   = flag.Uint64(seedName, 1, "lockcheck: the `seed` of the first run")
	runsFlag   = flag.Int(runsName, 0, "lockcheck: how many `runs` each fault gets (default 100; 1 on docker)")
	onFlag     = flag.String("lockcheck.on", "", "lockcheck: where to run: bubble, docker, external")
	replayFlag = flag.String("lockcheck.replay", "", "lockcheck: replay the `directory` or schedule of one run, and nothing else")
)

const (
	seedName = "lockcheck.seed"
	runsName = "lockcheck.runs"
)

// given reports whether a flag is on the command line: 0 is a value, too.
func given(name string) (is bool) {
	flag.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}

// check returns an error if a setting is impossible.
func (s *settings) check() error {
	switch {
	case s.limit <= 0:
		return fmt.Errorf("For(%v): it has to be positive", s.limit)
	case s.on == onExternal && s.own == nil:
		return fmt.Errorf("the environment %s needs the servers of lockcheck.External", onExternal)
	case s.on != env.Bubble && s.on != onDocker && s.on != onExternal:
		return names.Unknown("environment", s.on, []string{env.Bubble, onDocker, onExternal})
	}
	return cmp.Or(within("Clients", s.clients, 1, 100), within("Runs", s.runs, 1, 1_000_000_000))
}

// newSettings applies the options and the flags. own are the servers of External; nil: none.
func newSettings(own *Endpoints, options []Option) *settings {
	s := &settings{runs: unset, limit: unset, seed: 1, clients: 4, on: env.Bubble, own: own}
	if own != nil {
		s.on = onExternal
	}
	for _, o := range options {
		if o != nil {
			o(s)
		}
	}
	if given(seedName) {
		s.seed = *seedFlag
	}
	if given(runsName) {
		s.runs = *runsFlag
	}
	if *onFlag != "" {
		s.on = *onFlag
	}
	s.usual()
	return s
}

const (
	unset     = math.MinInt // a number that no option can mean
	unlimited = time.Duration(math.MaxInt64)
)

// usual sets what depends on the environment. Real servers take seconds for each run: the
// first that proves something is the last, and no time is enough for all faults.
func (s *settings) usual() {
	runs, limit := 100, 20*time.Second
	switch {
	case s.on != env.Bubble:
		runs, limit = batch.Tries, unlimited
		s.brief = s.runs == unset
	case s.runs != unset: // somebody wants all of them
		limit = unlimited
	}
	if s.runs == unset {
		s.runs = runs
	}
	if s.limit == unset {
		s.limit, s.patient = limit, limit != unlimited
	}
}
