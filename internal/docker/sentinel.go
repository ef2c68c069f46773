package docker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
)

// replicatedCommand is the start of the command of a server that may become a replica
// or a master: it keeps its role in a file, and does not wait for replicas that may be
// cut off.
const replicatedCommand = `/data/conf --maxmemory 0 --repl-diskless-sync-delay 0 --shutdown-timeout 1 `

// startNodes starts servers with replicas, and the Sentinels after the replicas: a
// Sentinel asks a master for its replicas only now and then.
func (e *Environment) startNodes() error {
	var masters, replicas []*server
	for _, s := range e.stores {
		if s.node.master == s {
			masters = append(masters, s)
		} else {
			replicas = append(replicas, s)
		}
	}
	err := clients.Together(e.stores, func(s *server) error {
		conf := ": >/data/conf"
		if m := s.node.master; m != s {
			conf = "echo replicaof " + m.Host + " " + port + " >/data/conf"
		}
		return s.sh(e.Ctx, conf)
	})
	if err != nil {
		return err
	}
	if e.tokens != nil {
		masters = append(masters, e.tokens)
	}
	for _, some := range [][]*server{masters, replicas} {
		if err := clients.Together(some, func(s *server) error { return s.start(e.Ctx) }); err != nil {
			return err
		}
	}
	if err := clients.Together(replicas, e.inSync); err != nil {
		return err
	}
	return clients.Together(e.sentinels, e.startSentinel)
}

// inSync returns when a replica has its master's data.
func (e *Environment) inSync(s *server) error {
	return await(e.Ctx, s.name+" follows its master", func() (bool, error) {
		raw, err := s.current().command.do("INFO", "replication")
		return strings.Contains(raw, "master_link_status:up"), err
	})
}

// sentinelSettings make Sentinels quick. The periods are those that SENTINEL DEBUG
// sets, in ms. It cannot set that a Sentinel asks a replica for its role only once a
// second. So a failover takes 0.4 s after downAfter until the replica is the master,
// and at most 1.2 s more until all Sentinels know it (measured with Redis 7.0 on two
// cores). Much rarer pings would be too rare for downAfter. With pings more often than
// every 0.2 s a Sentinel's data about a replica would be too old to choose it.
var sentinelSettings = []string{
	"INFO-PERIOD", "200", "PING-PERIOD", "200", "ASK-PERIOD", "200", "PUBLISH-PERIOD", "200",
	"MIN-LINK-RECONNECT-PERIOD", "200", "TILT-PERIOD", "1000",
}

const (
	quorum = 2
	// failoverTimeout is how long a replica may take to become the master, and half of
	// the time after which Sentinels try again.
	failoverTimeout = 1500 * time.Millisecond
)

// downAfter is how long a master is silent before a Sentinel regards it as down.
func (e *Environment) downAfter() time.Duration { return max(e.Cfg.Lease/10, 100*time.Millisecond) }

// startSentinel starts a Sentinel, and returns when it knows all replicas and all other
// Sentinels.
func (e *Environment) startSentinel(s *server) error {
	var conf strings.Builder
	for _, names := range e.layout.Nodes {
		m := e.machines[names[0]].(*server)
		fmt.Fprintf(&conf, "sentinel monitor %s %s %s %d\n", m.name, m.Host, port, quorum)
		fmt.Fprintf(&conf, "sentinel down-after-milliseconds %s %d\n", m.name, e.downAfter().Milliseconds())
		fmt.Fprintf(&conf, "sentinel failover-timeout %s %d\n", m.name, failoverTimeout.Milliseconds())
		fmt.Fprintf(&conf, "sentinel parallel-syncs %s %d\n", m.name, len(e.stores))
	}
	if err := s.sh(e.Ctx, "cat >/data/conf <<'end'\n"+conf.String()+"end"); err != nil {
		return err
	}
	s.command = "/data/conf --sentinel --port " + port + " " + redisFlags
	if err := s.start(e.Ctx); err != nil {
		return err
	}
	c, err := connect(s.Addr)
	if err != nil {
		return err
	}
	defer c.close()
	defer context.AfterFunc(e.Ctx, func() { c.close() })()
	c.limit = upLimit
	if _, err := c.do(append([]string{"SENTINEL", "DEBUG"}, sentinelSettings...)...); err != nil {
		return fmt.Errorf("set up %s: %w", s.name, err)
	}
	return await(e.Ctx, s.name+" knows all servers", func() (bool, error) {
		for _, names := range e.layout.Nodes {
			raw, err := c.do("SENTINEL", "MASTER", names[0])
			if err != nil || !says(raw, "num-slaves", len(names)-1) || !says(raw, "num-other-sentinels", len(e.sentinels)-1) {
				return false, err
			}
		}
		return true, nil
	})
}

// says reports whether an array of names and values has n as the value of name.
func says(raw, name string, n int) bool {
	value := fmt.Sprint(n)
	return strings.Contains(raw, fmt.Sprintf("\r\n%s\r\n$%d\r\n%s\r\n", name, len(value), value))
}
