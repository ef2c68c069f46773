package client_test

import (
	"context"
	"net"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/porttest"
)

// The client and real servers must answer like the model.
func TestConformance(t *testing.T) {
	porttest.Run(t, func(t *testing.T) porttest.World {
		e := dockertest.ZooKeeper(t)
		open := func(addrs []string, dial porttest.Dial) zookeeper.Port {
			return port(client.Options{Addrs: addrs, Dial: dial})
		}
		return &world{Clients: porttest.NewClients(t, e.Addrs, new(net.Dialer).DialContext, open), t: t, ensemble: e}
	})
}

// world is a porttest.World of real servers.
type world struct {
	*porttest.Clients
	t        *testing.T
	ensemble *docker.Ensemble
	killed   *docker.ZooKeeperServer
}

func (w *world) KillLeader() {
	ctx := context.Background()
	leader, err := w.ensemble.Leader(ctx)
	if err == nil {
		w.killed = leader
		err = leader.Kill(ctx)
	}
	for _, s := range w.ensemble.Servers {
		if err == nil && s != leader {
			err = s.Serves(ctx)
		}
	}
	if err == nil {
		_, err = w.ensemble.Leader(ctx)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) StartKilled() {
	if err := w.killed.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// Preset makes a new ensemble. Earlier sessions have ended.
func (w *world) Preset(path string, counter int32) {
	if err := w.ensemble.Restore(context.Background(), snapshotZxid, snapshot(counter, path)); err != nil {
		w.t.Fatal(err)
	}
}
