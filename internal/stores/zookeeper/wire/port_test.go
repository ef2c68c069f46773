package wire_test

import (
	"context"
	"net"
	"strconv"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/porttest"
)

// The model passes the suite of the port through go-zookeeper and its protocol, too.
func TestPort(t *testing.T) {
	t.Parallel()
	porttest.Run(t, func(t *testing.T) porttest.World {
		s := newServer(t)
		addrs := func() []string { return []string{"10.0.0.0:2181", "10.0.0.1:2181", "10.0.0.2:2181"} }
		dial := func(_ context.Context, _, addr string) (net.Conn, error) {
			n, _ := strconv.Atoi(addr[len("10.0.0."):len("10.0.0.0")])
			return s.dialTo(n)
		}
		port := func(addrs []string, dial porttest.Dial) zookeeper.Port {
			return zookeeper.Port{Transport: client.New(client.Options{Addrs: addrs, Dial: dial})}
		}
		return &world{porttest.NewClients(t, addrs, dial, port), s}
	})
}

// world is a porttest.World of the model behind the protocol.
type world struct {
	*porttest.Clients
	server *server
}

func (w *world) KillLeader() {
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down[s.leading] = true
	for _, c := range s.conns { // an election ends all of them
		c.Close()
	}
	s.elect((s.leading + 1) % len(s.members))
}

func (w *world) StartKilled() {
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range s.members {
		if !s.down[i] {
			continue
		}
		s.down[i] = false
		m.Restart()
		for _, x := range s.log {
			m.Commit(x)
		}
	}
}

func (w *world) Preset(path string, counter int32) {
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	x, _ := s.leader.Preset(path, counter)
	s.commit(x)
}
