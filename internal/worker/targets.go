package worker

import (
	"errors"
	"fmt"

	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
)

// nodesOf returns the addresses of a layout's nodes.
func nodesOf(targets map[string][]string) (nodes []redisclient.Options, err error) {
	servers, masters, sentinels := targets[TargetRedis], targets[TargetMasters], targets[TargetSentinels]
	switch {
	case len(servers) == 0:
		return nil, fmt.Errorf("it needs a server of kind %s among the targets", TargetRedis)
	case len(masters) > 0 && len(sentinels) == 0:
		return nil, fmt.Errorf("with targets of kind %s it needs some of kind %s", TargetMasters, TargetSentinels)
	}
	for _, name := range masters {
		nodes = append(nodes, redisclient.Options{Master: name, Sentinels: sentinels})
	}
	if len(masters) == 0 {
		for _, addr := range servers {
			nodes = append(nodes, redisclient.Options{Addr: addr})
		}
	}
	return nodes, nil
}

// conns are the connections of a client.
type conns []*redisclient.Client

// open opens a client of a node: library has its options, node its addresses.
func (cs *conns) open(library, node redisclient.Options) *redisclient.Client {
	library.Addr = node.Addr
	library.Master, library.Sentinels = node.Master, node.Sentinels
	c := redisclient.New(library)
	*cs = append(*cs, c)
	return c
}

func (cs *conns) close() error {
	var errs []error
	for _, c := range *cs {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// TargetOf returns the kind of the servers that keep locks in a store of run --store.
func TargetOf(store string) string {
	switch store {
	case TargetZooKeeper, TargetMySQL:
		return store
	}
	return TargetRedis
}
