package docker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// clusterCommand is the start of the command of a Redis Cluster node. A node goes on
// serving its slots when others are gone, so that locks have to deal with that.
const clusterCommand = `--cluster-enabled yes --cluster-config-file /data/nodes --cluster-require-full-coverage no `

// joinCluster joins the running nodes to one Redis Cluster. Each gets an equal share of
// the slots, in order.
func (e *Environment) joinCluster() error {
	first := e.stores[0]
	err := clients.Together(e.stores, func(s *server) error {
		c := s.current().command
		from, to := redis.SlotsOf(slices.Index(e.stores, s), len(e.stores))
		if _, err := c.do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(from), strconv.Itoa(to)); err != nil {
			return fmt.Errorf("give slots to %s: %w", s.name, err)
		}
		if s == first {
			return nil
		}
		if _, err := c.do("CLUSTER", "MEET", first.Host, port); err != nil {
			return fmt.Errorf("have %s meet %s: %w", s.name, first.name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	known := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(e.stores))
	served := fmt.Sprintf("cluster_slots_assigned:%d\r\n", redis.Slots)
	return clients.Together(e.stores, func(s *server) error {
		return await(e.Ctx, s.name+" knows all nodes of the cluster", func() (bool, error) {
			raw, err := s.current().command.do("CLUSTER", "INFO")
			return strings.Contains(raw, known) && strings.Contains(raw, served) && strings.Contains(raw, "cluster_state:ok"), err
		})
	})
}
