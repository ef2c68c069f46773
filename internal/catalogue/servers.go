package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/faults"
)

// RedisName is the name of the first Redis server of an environment. Most locks use
// only this server.
const RedisName = "redis-1"

// MySQLName is the name of the first MySQL server of an environment.
const MySQLName = "mysql-1"

// TokensName is the name of the server that draws tokens with the option token=own.
const TokensName = "tokens"

// Server is the set-up of the servers. The zero value is one server without
// persistence for each node that the lock asks.
type Server struct {
	Fsync    Fsync    `json:"fsync,omitempty"`    // what survives a loss of power: everysec or always; not there: nothing
	Nodes    int      `json:"nodes,omitempty"`    // how many servers, or members of an ensemble; not there: as many as the lock asks
	Replicas int      `json:"replicas,omitempty"` // replicas of each node; Sentinels watch over a node that has some
	Cluster  bool     `json:"cluster,omitempty"`  // the nodes are the masters of one Redis Cluster
	Eviction Eviction `json:"eviction,omitempty"` // noeviction: a server whose memory is full refuses; not there: it removes keys that have an expiry
	Sequence int32    `json:"sequence,omitempty"` // of a ZooKeeper ensemble: the number of a lock's first sequential node
}

// Fsync is how much of its data a server keeps when it loses power: appendfsync of
// Redis, or innodb_flush_log_at_trx_commit of MySQL, whose table survives in any
// case.
type Fsync string

// The settings that locks depend on.
const (
	FsyncNone     Fsync = ""         // nothing: no append-only file, or an unflushed log
	FsyncEverysec Fsync = "everysec" // all but the last second or two
	FsyncAlways   Fsync = "always"   // everything
)

// Eviction is what a Redis server removes when its memory is full.
type Eviction string

// The settings of maxmemory-policy that locks depend on.
const (
	EvictVolatile Eviction = ""           // volatile-lru: keys that have an expiry
	EvictNothing  Eviction = "noeviction" // nothing: the server refuses to store more
)

// Validate returns an error if the set-up, which may have been edited, is wrong.
func (s *Server) Validate() error {
	switch {
	case !slices.Contains([]Fsync{FsyncNone, FsyncEverysec, FsyncAlways}, s.Fsync):
		return fmt.Errorf("fsync %q: it can be %s or %s", s.Fsync, FsyncEverysec, FsyncAlways)
	case !slices.Contains([]Eviction{EvictVolatile, EvictNothing}, s.Eviction):
		return fmt.Errorf("eviction %q: it can be %s", s.Eviction, EvictNothing)
	case s.Nodes < 0 || s.Nodes > maxNodes:
		return fmt.Errorf("nodes: there can be up to %d", maxNodes)
	case s.Sequence < 0:
		return errors.New("sequence: numbers begin with 0 or more")
	case s.Replicas < 0 || s.Replicas > maxReplicas:
		return fmt.Errorf("replicas: a node can have up to %d", maxReplicas)
	}
	return nil
}

// Words describes the set-up: "3 servers with 1 replica each". It returns ""
// for the default.
func (s Server) Words() string { return s.words(nil) }

// Under is Words for a lock under some faults. If servers may lose power it says, too, that
// they save nothing.
func (s Server) Under(lock *Lock, injected []faults.Injection) string {
	if lock.Store == StoreRedis && s.Fsync == FsyncNone &&
		slices.ContainsFunc(injected, func(in faults.Injection) bool { return in.Fault == "restart-lost" }) {
		return s.words([]string{"save nothing"})
	}
	return s.Words()
}

// words is Words with what else the servers do: "servers that save nothing".
func (s Server) words(that []string) string {
	switch {
	case s == Server{} && that == nil:
		return ""
	case s.Sequence != 0:
		return fmt.Sprintf("an ensemble whose next sequence number is %d", s.Sequence)
	}
	text := "servers"
	switch {
	case s.Nodes == 1:
		text = "1 server"
	case s.Nodes > 1:
		text = strconv.Itoa(s.Nodes) + " servers"
	}
	if s.Cluster {
		text += " of one Redis Cluster"
	}
	switch s.Replicas {
	case 0:
	case 1:
		text += " with 1 replica each"
	default:
		text += fmt.Sprintf(" with %d replicas each", s.Replicas)
	}
	switch s.Fsync {
	case FsyncEverysec:
		that = append(that, "save their data once a second (fsync everysec)")
	case FsyncAlways:
		that = append(that, "save each write before they answer (fsync always)")
	}
	if s.Eviction == EvictNothing {
		that = append(that, "refuse to write when memory is full (noeviction)")
	}
	if that != nil {
		text += " that " + strings.Join(that, " and ")
	}
	return text
}

// Fits returns an error that says why a lock cannot use servers of this set-up.
func (s *Server) Fits(lock *Lock) error {
	switch {
	case lock.Store == StoreZooKeeper && *s != (Server{Sequence: s.Sequence}):
		return fmt.Errorf("%s stands on a ZooKeeper ensemble of %d members, which sync what they write: fsync, nodes, replicas, cluster and eviction are settings of Redis servers", lock.ID, members)
	case lock.Store != StoreZooKeeper && s.Sequence != 0:
		return fmt.Errorf("%s stands on %s: sequence is a setting of a ZooKeeper ensemble", lock.ID, lock.Store)
	}
	return nil
}

// Limits of the numbers of servers.
const (
	maxNodes    = 9
	maxReplicas = 5
)

// suffixes follow the common name of a master and its replicas.
var suffixes = [1 + maxReplicas]string{"", "b", "c", "d", "e", "f"}

// Layout is the servers that exist, by name.
type Layout struct {
	Nodes     [][]string // a master and its replicas each, the first master first
	Sentinels []string   // they watch the nodes that have replicas
	Ensemble  []string   // the members of a ZooKeeper ensemble, instead
	MySQL     []string   // a MySQL primary and its replicas, instead
	Tokens    string     // the server that draws tokens; "": no server does
}

// watchers is the number of Sentinels, if there are any; members is the size of an
// ensemble.
const (
	watchers = 3
	members  = 3
)

// NewLayout returns the servers that a lock uses.
func NewLayout(lock *Lock, s Server, o Options) Layout {
	nodes := max(1, lock.Nodes)
	if s.Nodes > 0 {
		nodes = s.Nodes
	}
	var l Layout
	if lock.Store == StoreZooKeeper {
		size := members
		if s.Nodes > 0 {
			size = s.Nodes
		}
		for i := range size {
			l.Ensemble = append(l.Ensemble, "zk-"+strconv.Itoa(i+1))
		}
		return l
	}
	replicas := max(s.Replicas, lock.Replicas)
	if o.OwnToken {
		l.Tokens = TokensName
	}
	if lock.Store == StoreMySQL {
		for i := range 1 + replicas {
			l.MySQL = append(l.MySQL, MySQLName+suffixes[i])
		}
		return l
	}
	for i := range nodes {
		master := "redis-" + strconv.Itoa(i+1)
		node := []string{master}
		for r := range replicas {
			node = append(node, master+suffixes[1+r])
		}
		l.Nodes = append(l.Nodes, node)
	}
	if replicas > 0 {
		for i := range watchers {
			l.Sentinels = append(l.Sentinels, "sentinel-"+strconv.Itoa(i+1))
		}
	}
	return l
}

// Masters returns the first masters, or the members of an ensemble, any of which may
// lead. Random runs disturb these.
func (l *Layout) Masters() (names []string) {
	if len(l.Ensemble) > 0 {
		return slices.Clone(l.Ensemble)
	}
	if len(l.MySQL) > 0 {
		return []string{l.MySQL[0]}
	}
	for _, n := range l.Nodes {
		names = append(names, n[0])
	}
	return names
}

// Stores returns all servers that keep data and that faults may act on.
func (l *Layout) Stores() (names []string) {
	names = slices.Concat(l.Ensemble, l.MySQL)
	for _, n := range l.Nodes {
		names = append(names, n...)
	}
	return names
}

// Servers returns Stores and the Sentinels: all servers that a link or a partition
// may involve.
func (l *Layout) Servers() []string { return append(l.Stores(), l.Sentinels...) }
