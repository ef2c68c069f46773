package worker

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
	redisclient "github.com/lockcheck/lockcheck/stores/redis/client"
)

// Setup is what a client's lock is made from.
type Setup struct {
	Client string
	Init   Request
	Host   locks.Host
	// Redis puts the points of operations around the way to a server. What
	// it gets must end its calls when they are cancelled.
	Redis func(redis.Transport) redis.Port
}

// Factory makes a client's lock. close lets go of its connections.
type Factory func(Setup) (l locks.Locker, close func() error, err error)

// LockOptions writes what init says of a lock of the catalogue: the option
// "lock" is its id, and every option that is on stands there as true.
func LockOptions(id string, o catalogue.Options) map[string]any {
	m := map[string]any{"lock": id}
	for name := range strings.SplitSeq(o.String(), ",") {
		if name != "" {
			m[name] = true
		}
	}
	return m
}

// Catalogue is the Factory of the locks in the catalogue, on real servers.
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
	servers := s.Init.Targets["redis"]
	if len(servers) == 0 {
		return nil, nil, fmt.Errorf("lock %s needs a server of kind redis among the targets", id)
	}
	lease := time.Duration(s.Init.TTLMS) * time.Millisecond
	if lease <= 0 {
		return nil, nil, fmt.Errorf("ttl_ms is %d, and must be positive", s.Init.TTLMS)
	}
	library := redisclient.Options{Addr: servers[0], Timeout: lease / 4}
	if options.Retries {
		library.Retries = 3
	}
	conn := redisclient.New(library)
	return lock.New(catalogue.Env{
		Host:    s.Host,
		Redis:   s.Redis(conn),
		Lease:   lease,
		Options: options,
	}), conn.Close, nil
}
