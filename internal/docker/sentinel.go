package docker

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// replicatedCommand is what the command of a server begins with that may become
// a replica, or a master: a file where it keeps that, and no waiting for
// replicas that may be cut off.
const replicatedCommand = `/data/conf --maxmemory 0 --repl-diskless-sync-delay 0 --shutdown-timeout 1 `

// startNodes starts servers with replicas, and the Sentinels when the replicas
// are there: a Sentinel asks a master only now and then which it has.
func (p *Place) startNodes() error {
	var replicas []*server
	masters := map[*node]*server{}
	for _, s := range p.stores {
		if s.node.master == s {
			masters[s.node] = s
		} else {
			replicas = append(replicas, s)
		}
	}
	err := together(p.stores, func(s *server) error {
		conf := ": >/data/conf"
		if m := masters[s.node]; m != s {
			conf = "echo replicaof " + m.peer + " " + port + " >/data/conf"
		}
		return p.engine.exec(p.ctx, s.id, conf, false)
	})
	if err != nil {
		return err
	}
	leaders := p.stores[:0:0]
	for _, m := range masters {
		leaders = append(leaders, m)
	}
	if p.tokens != nil {
		leaders = append(leaders, p.tokens)
	}
	for _, some := range [][]*server{leaders, replicas} {
		if err := together(some, func(s *server) error { return s.start(p.ctx) }); err != nil {
			return err
		}
	}
	if err := together(replicas, p.inSync); err != nil {
		return err
	}
	return together(p.sentinels, p.startSentinel)
}

// port is where servers listen in their containers, Sentinels too.
const port = "6379"

// inSync returns when a replica has what its master has.
func (p *Place) inSync(s *server) error {
	return await(p.ctx, s.name+" follows its master", func() (bool, error) {
		raw, err := s.current().command.do("INFO", "replication")
		return strings.Contains(raw, "master_link_status:up"), err
	})
}

// sentinelSettings make Sentinels quick. Periods are those that SENTINEL DEBUG
// sets, in ms. What it cannot set is that a Sentinel asks a replica only once a
// second whether it is the master now; so a fail-over takes 0.4 s beyond
// downAfter until the replica is, and at most 1.2 s more until all Sentinels
// say so (measured with Redis 7.0 on two cores). A ping that is much rarer than
// that would be too rare for downAfter, and one that is more frequent than a
// fifth of a second makes what a Sentinel knows of a replica too old to choose
// it.
var sentinelSettings = []string{
	"INFO-PERIOD", "200", "PING-PERIOD", "200", "ASK-PERIOD", "200", "PUBLISH-PERIOD", "200",
	"MIN-LINK-RECONNECT-PERIOD", "200", "TILT-PERIOD", "1000",
}

const (
	quorum = 2
	// failoverTimeout is within which a replica has to say that it is the master
	// now, and half of the time after which Sentinels try again.
	failoverTimeout = 1500 * time.Millisecond
)

// downAfter is for how long a master is silent before a Sentinel thinks that
// it is down.
func (p *Place) downAfter() time.Duration { return max(p.cfg.Lease/10, 100*time.Millisecond) }

// startSentinel starts a Sentinel, and returns when it knows all replicas and
// all other Sentinels.
func (p *Place) startSentinel(s *server) error {
	var conf strings.Builder
	masters := 0
	for i, names := range p.layout.Nodes {
		m, err := p.store(names[0])
		if err != nil {
			return err
		}
		masters = i + 1
		fmt.Fprintf(&conf, "sentinel monitor %s %s %s %d\n", m.name, m.peer, port, quorum)
		fmt.Fprintf(&conf, "sentinel down-after-milliseconds %s %d\n", m.name, p.downAfter().Milliseconds())
		fmt.Fprintf(&conf, "sentinel failover-timeout %s %d\n", m.name, failoverTimeout.Milliseconds())
		fmt.Fprintf(&conf, "sentinel parallel-syncs %s %d\n", m.name, len(p.stores))
	}
	if err := p.engine.exec(p.ctx, s.id, "cat >/data/conf <<'end'\n"+conf.String()+"end", false); err != nil {
		return err
	}
	s.command = "/data/conf --sentinel --port " + port + " --dir /data --pidfile /data/pid --logfile /data/log --bind 0.0.0.0 --protected-mode no"
	if err := s.start(p.ctx); err != nil {
		return err
	}
	c, err := connect(s.addr)
	if err != nil {
		return err
	}
	defer c.close()
	defer context.AfterFunc(p.ctx, func() { c.close() })()
	c.limit = upLimit
	if _, err := c.do(append([]string{"SENTINEL", "DEBUG"}, sentinelSettings...)...); err != nil {
		return fmt.Errorf("set up %s: %w", s.name, err)
	}
	return await(p.ctx, s.name+" knows all servers", func() (bool, error) {
		for _, names := range p.layout.Nodes[:masters] {
			raw, err := c.do("SENTINEL", "MASTER", names[0])
			if err != nil || !says(raw, "num-slaves", len(names)-1) || !says(raw, "num-other-sentinels", len(p.sentinels)-1) {
				return false, err
			}
		}
		return true, nil
	})
}

// says tells whether an array of names and values says that name is n.
func says(raw, name string, n int) bool {
	value := fmt.Sprint(n)
	return strings.Contains(raw, fmt.Sprintf("\r\n%s\r\n$%d\r\n%s\r\n", name, len(value), value))
}
