package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// LeaseOf returns the default T. A replica must replace a master within a part of T:
// see sentinelSettings, and primary. One of several masters has T/40 to answer, even on
// a new connection; 25 ms was too short in one of three rounds on two busy cores.
func LeaseOf(l catalogue.Layout) time.Duration {
	switch {
	case len(l.Sentinels) > 0 || len(l.MySQL) > 1:
		return 4 * time.Second
	case len(l.Nodes) > 1:
		return 2 * time.Second
	}
	return time.Second
}

// supported returns an error if a set-up is impossible with real servers.
func supported(s catalogue.Server) error {
	switch {
	case s.Cluster && s.Replicas > 0:
		return errors.New("docker: a Redis Cluster with replicas is unsupported: no replica would replace its master")
	case s.Cluster && s.Fsync == catalogue.FsyncEverysec:
		return errors.New("docker: a Redis Cluster with fsync everysec is unsupported: a node that has just started does not report its data")
	case s.Sequence != 0:
		return errors.New("docker: the numbers of an ensemble's nodes begin with 0: sequence is for sim")
	}
	return nil
}

// newServers makes the layout's servers, each in its own container, and returns when
// they answer and know each other.
func (p *Environment) newServers(self owner) error {
	image, err := p.engine.image(p.ctx, p.log)
	if err != nil {
		return err
	}
	if len(p.layout.Ensemble) > 0 {
		return p.startEnsemble(self, image)
	}
	if len(p.layout.MySQL) > 0 {
		of, err := p.engine.mysqlImage(p.ctx, image, len(p.layout.MySQL))
		if err != nil {
			return err
		}
		if err := p.newPrimary(self, of); err != nil {
			return err
		}
	}
	replicated := len(p.layout.Sentinels) > 0
	for _, names := range p.layout.Nodes {
		p.addNode(names)
	}
	for _, name := range p.layout.Sentinels {
		p.sentinels = append(p.sentinels, &server{box: box{name: name, engine: p.engine}})
	}
	if p.layout.Tokens != "" {
		fsync := catalogue.FsyncAlways
		p.tokens = &server{box: box{name: p.layout.Tokens, engine: p.engine}, fsync: fsync, command: storeCommand(fsync)}
	}
	var changes []func(*container.HostConfig)
	if replicated {
		changes = append(changes, partitionable)
	}
	err = together(p.servers(), func(s *server) error {
		err := s.create(p.ctx, self, image, redisPort, changes...)
		if err == nil && (replicated || p.cfg.Server.Cluster) {
			err = s.findHost(p.ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	if replicated {
		return p.startNodes()
	}
	if err := together(p.servers(), func(s *server) error { return s.start(p.ctx) }); err != nil {
		return err
	}
	if p.cfg.Server.Cluster {
		return p.joinCluster()
	}
	return nil
}

// addNode adds the servers of one node.
func (p *Environment) addNode(names []string) {
	var n *node
	if len(names) > 1 {
		n = &node{observer: p.observer}
	}
	m := &makers{ops: map[[2]string]int64{}}
	for i, name := range names {
		s := &server{
			box: box{name: name, engine: p.engine, faked: p.fakes(name)}, node: n,
			fsync: p.cfg.Server.Fsync, command: storeCommand(p.cfg.Server.Fsync),
			ledger: &ledger{
				server: name, names: p.cfg.Names, observer: p.observer,
				log: p.log.printf, entries: map[string]entry{},
				makers: m, stray: map[string]bool{},
			},
		}
		if p.cfg.Server.Cluster {
			s.command = clusterCommand + s.command
		}
		if n != nil {
			s.command = replicatedCommand + s.command
			if i == 0 {
				n.master = s
			} else {
				s.ledger.role = roleReplica
			}
		}
		p.stores = append(p.stores, s)
	}
}

// servers returns all servers but those of an ensemble and MySQL.
func (p *Environment) servers() []*server {
	all := slices.Concat(p.stores, p.sentinels)
	if p.tokens != nil {
		all = append(all, p.tokens)
	}
	return all
}

// farServers returns all servers as the ends of links.
func (p *Environment) farServers() (all []farServer) {
	for _, s := range p.servers() {
		all = append(all, s)
	}
	if p.ensemble != nil {
		for _, m := range p.ensemble.members {
			all = append(all, m)
		}
	}
	if p.mysql != nil {
		all = append(all, p.mysql)
	}
	return all
}

// store returns the named Redis server that keeps locks.
func (p *Environment) store(name string) (*server, error) {
	i := slices.IndexFunc(p.stores, func(s *server) bool { return s.name == name })
	if i < 0 {
		return nil, fmt.Errorf("docker: no Redis server %q", name)
	}
	return p.stores[i], nil
}

// machine is a server that keeps locks, as most faults see it.
type machine interface {
	pause(ctx context.Context) error
	resume(ctx context.Context) error
	stop(ctx context.Context, lose bool) error
	start(ctx context.Context) error
	jump(ctx context.Context, by time.Duration) error
}

// machine returns the named server that keeps locks.
func (p *Environment) machine(name string) (machine, error) {
	if p.ensemble != nil {
		for _, m := range p.ensemble.members {
			if m.name == name {
				return m, nil
			}
		}
	}
	if p.mysql != nil {
		for _, s := range p.mysql.servers {
			if s.name == name {
				return s, nil
			}
		}
	}
	for _, s := range p.stores {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("docker: no server %q", name)
}

// fakes reports whether the schedule moves a server's clock.
func (p *Environment) fakes(server string) bool {
	return slices.ContainsFunc(p.schedule, func(in faults.Injection) bool {
		f, ok := faults.Find(in.Fault)
		return ok && f.Need == faults.NeedClock && slices.Contains(in.On, server)
	})
}
