package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	mysqlclient "github.com/lockcheck/lockcheck/internal/stores/mysql/client"
	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
	zkclient "github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/locks"
)

// LockOptions returns the options of init for a lock of the catalogue: "lock" is its
// id, and each option that is on is true.
func LockOptions(id string, o catalogue.Options) map[string]any {
	m := map[string]any{"lock": id}
	for name := range strings.SplitSeq(o.String(), ",") {
		if name != "" {
			m[name] = true
		}
	}
	return m
}

// Catalogue is the Factory of the catalogue's locks, on real servers.
func Catalogue(s Setup) (locks.Locker, func() error, error) {
	id, _ := s.Init.Options["lock"].(string)
	lock, ok := catalogue.FindLock(id)
	if !ok {
		return nil, nil, fmt.Errorf("no lock %q", id)
	}
	var on []string
	for name, v := range s.Init.Options {
		if v == true {
			on = append(on, name)
		}
	}
	options, err := catalogue.ParseOptions(strings.Join(on, ","))
	if err != nil {
		return nil, nil, err
	}
	lease := time.Duration(s.Init.TTLMS) * time.Millisecond
	if lease <= 0 {
		return nil, nil, fmt.Errorf("ttl_ms is %d, and must be positive", s.Init.TTLMS)
	}
	env := catalogue.Env{Host: s.Host, Lease: lease, Options: options}
	env.Name(s.Client)
	var connect func(Setup, *catalogue.Env) (func() error, error)
	switch lock.Store {
	case catalogue.StoreRedis:
		connect = toRedis
	case catalogue.StoreZooKeeper:
		connect = toZooKeeper
	case catalogue.StoreMySQL:
		connect = toMySQL
	}
	done, err := connect(s, &env)
	if err != nil {
		return nil, nil, fmt.Errorf("lock %s: %w", id, err)
	}
	return lock.New(env), done, nil
}

// callTime is the timeout of requests for which the lock gives none.
func callTime(env *catalogue.Env) time.Duration { return env.Lease / 4 }

// toRedis connects a lock to Redis servers. done closes the connections.
func toRedis(s Setup, env *catalogue.Env) (done func() error, err error) {
	library := redisclient.Options{Timeout: callTime(env)}
	if env.Options.Retries {
		library.Retries = 3
	}
	nodes, err := nodesOf(s.Init.Targets)
	if err != nil {
		return nil, err
	}
	tokens := s.Init.Targets[TargetTokens]
	if env.Options.OwnToken && len(tokens) == 0 {
		return nil, fmt.Errorf("its tokens need a server of kind %s among the targets", TargetTokens)
	}
	var opened conns
	for _, n := range nodes {
		env.Redis = append(env.Redis, s.Redis(opened.open(library, n)))
	}
	if len(tokens) > 0 {
		env.Tokens = s.Tokens(opened.open(library, redisclient.Options{Addr: tokens[0]}))
	}
	return opened.close, nil
}

// toZooKeeper connects a lock to an ensemble. done ends the sessions on this side only:
// their nodes stay until the sessions expire, as when a program ends.
func toZooKeeper(s Setup, env *catalogue.Env) (done func() error, err error) {
	members := s.Init.Targets[TargetZooKeeper]
	if len(members) == 0 {
		return nil, fmt.Errorf("it needs servers of kind %s among the targets", TargetZooKeeper)
	}
	life, end := context.WithCancel(s.Host.Life())
	env.ZooKeeper = s.ZooKeeper(zkclient.New(zkclient.Options{
		Addrs: members, Shuffle: rand.Shuffle, Timeout: callTime(env), Life: life,
	}))
	return func() error { end(); return nil }, nil
}

// toMySQL connects a lock to a MySQL server. done does nothing: later clients use the
// same connections, which end with the worker.
func toMySQL(s Setup, env *catalogue.Env) (done func() error, err error) {
	servers := s.Init.Targets[TargetMySQL]
	if len(servers) == 0 {
		return nil, fmt.Errorf("it needs a server of kind %s among the targets", TargetMySQL)
	}
	env.MySQL, err = s.MySQL(func() (mysql.Transport, error) {
		c, err := mysqlclient.New(mysqlclient.Options{Addr: servers[0], Timeout: callTime(env)})
		if err == nil {
			context.AfterFunc(s.Host.Life(), func() { c.Close() })
		}
		return c, err
	})
	return func() error { return nil }, err
}
