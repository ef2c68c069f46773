package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// RedisName is the name of the first Redis server of a place, which most locks
// stand on alone.
const RedisName = "redis-1"

// MySQLName is the name of the first MySQL server of a place.
const MySQLName = "mysql-1"

// TokensName is the name of the server that the option token=own draws from.
const TokensName = "tokens"

// Server is how the servers are set up. The zero value is one server without
// persistence for each that the lock asks.
type Server struct {
	Fsync    Fsync    `json:"fsync,omitempty"`    // what survives a loss of power: everysec or always; not there: nothing
	Nodes    int      `json:"nodes,omitempty"`    // how many servers; not there: as many as the lock asks
	Replicas int      `json:"replicas,omitempty"` // replicas of each node; Sentinels watch over a node that has some
	Cluster  bool     `json:"cluster,omitempty"`  // the nodes are the masters of one Redis Cluster
	Eviction Eviction `json:"eviction,omitempty"` // noeviction: a server whose memory is full refuses; not there: it removes keys that have an expiry
	Sequence int32    `json:"sequence,omitempty"` // of a ZooKeeper ensemble: the number of a lock's first sequential node
}

// Fsync says what a server keeps of its data when it loses power: by appendfsync
// of Redis, or innodb_flush_log_at_trx_commit of MySQL, whose table is there again
// in any case.
type Fsync string

// The settings that locks depend on.
const (
	FsyncNone     Fsync = ""         // nothing: no append-only file, or a log that is not flushed
	FsyncEverysec Fsync = "everysec" // what is older than a second or two
	FsyncAlways   Fsync = "always"   // everything
)

// Eviction says what a Redis server removes when its memory is full.
type Eviction string

// The settings of maxmemory-policy that locks depend on.
const (
	EvictVolatile Eviction = ""           // volatile-lru: keys that have an expiry
	EvictNothing  Eviction = "noeviction" // nothing: it refuses to store more
)

// Validate says what is wrong with a set-up that somebody may have edited.
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

// Fits says why a lock cannot stand on servers that are set up so.
func (s *Server) Fits(lock *Lock) error {
	switch {
	case lock.Store == StoreZooKeeper && *s != (Server{Sequence: s.Sequence}):
		return fmt.Errorf("%s stands on a ZooKeeper ensemble of %d members, which sync what they write: fsync, nodes, replicas, cluster and eviction are settings of Redis servers", lock.ID, members)
	case lock.Store != StoreZooKeeper && s.Sequence != 0:
		return fmt.Errorf("%s stands on %s: sequence is a setting of a ZooKeeper ensemble", lock.ID, lock.Store)
	}
	return nil
}

// What there can be of servers.
const (
	maxNodes    = 9
	maxReplicas = 5
)

// suffixes are what a master and its replicas have after their common name.
var suffixes = [1 + maxReplicas]string{"", "b", "c", "d", "e", "f"}

// Layout is which servers there are, by name.
type Layout struct {
	Nodes     [][]string // a master and its replicas each, the first master first
	Sentinels []string   // which watch over the nodes that have replicas
	Ensemble  []string   // the members of a ZooKeeper ensemble, instead
	MySQL     []string   // a MySQL primary and its replicas, instead
	Tokens    string     // the server that tokens come from; "": there is none
}

// watchers is how many Sentinels there are where there are some, and members is
// how many an ensemble has.
const (
	watchers = 3
	members  = 3
)

// NewLayout is what a lock stands on.
func NewLayout(lock *Lock, s Server, o Options) Layout {
	nodes := max(1, lock.Nodes)
	if s.Nodes > 0 {
		nodes = s.Nodes
	}
	var l Layout
	if lock.Store == StoreZooKeeper {
		for i := range members {
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

// Masters are the first masters, or the members of an ensemble, any of which may
// lead: what a random run disturbs.
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

// Stores are all servers that keep data and that faults may act on.
func (l *Layout) Stores() (names []string) {
	names = slices.Concat(l.Ensemble, l.MySQL)
	for _, n := range l.Nodes {
		names = append(names, n...)
	}
	return names
}

// Servers are Stores and the Sentinels: all that a link or a partition may be
// between.
func (l *Layout) Servers() []string { return append(l.Stores(), l.Sentinels...) }
