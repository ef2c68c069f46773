package external

import (
	"context"
	"fmt"

	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// store is the user's servers, as a run prepares and leaves them.
type store interface {
	// find returns the servers, after one at least has answered.
	find(ctx context.Context) ([]*server, error)
	// prepare prepares the servers for a run.
	prepare(ctx context.Context, prefix string) error
	// declare takes the entries that a worker declares.
	declare(ctx context.Context, entries []worker.Entry) error
	// others returns what other runs have left, or keep while they go on.
	others(ctx context.Context) ([]string, error)
	// remove removes everything with a prefix, and returns what it has removed.
	remove(ctx context.Context, prefix string) ([]string, error)
	// strange returns what the run may have left without its prefix.
	strange(ctx context.Context) ([]string, error)
	close()
}

// access is how lockcheck reaches the user's servers.
type access struct {
	*endpoints.Servers
	secret string
}

// open returns the user's servers. It does not connect.
func open(s *endpoints.Servers) (access, store, error) {
	secret, err := s.Secret()
	a := access{s, secret}
	if err != nil {
		return a, nil, err
	}
	if _, err := a.TLSConfig(""); err != nil {
		return a, nil, err
	}
	switch s.Store() {
	case endpoints.ZooKeeper:
		return a, &zookeeperStore{access: a}, nil
	case endpoints.MySQL:
		return a, &mysqlStore{access: a}, nil
	}
	return a, &redisStore{access: a}, nil
}

// newServer returns the server at addr, if the user may disturb it.
func (a access) newServer(name, addr, kind string) (*server, error) {
	if err := a.Allowed(addr); err != nil {
		return nil, err
	}
	settings, err := a.TLSConfig(addr)
	return &server{name: name, addr: addr, kind: kind, tls: settings}, err
}

// numbered returns the servers at the user's addresses.
func (a access) numbered(name, kind string) (list []*server, err error) {
	for i, addr := range a.Addrs() {
		s, err := a.newServer(fmt.Sprint(name, "-", i+1), addr, kind)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}
