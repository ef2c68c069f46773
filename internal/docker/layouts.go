package docker

import (
	"context"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"

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
func (p *Environment) newServers() error {
	image, err := p.engine.image(p.ctx, p.log)
	if err != nil {
		return err
	}
	if len(p.layout.Ensemble) > 0 {
		return p.startEnsemble(image)
	}
	if len(p.layout.MySQL) > 0 {
		of, err := p.engine.mysqlImage(p.ctx, image, len(p.layout.MySQL))
		if err != nil {
			return err
		}
		if err := p.newPrimary(of); err != nil {
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
		err := s.create(p.ctx, image, redisPort, changes...)
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
				view:   view{names: p.cfg.Names, observer: p.observer, log: p.log.printf, subject: name + " is"},
				server: name, entries: map[string]entry{}, makers: m, stray: map[string]bool{},
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

// startEnsemble starts the layout's ensemble, and returns when it answers and the
// learner follows.
func (p *Environment) startEnsemble(image string) error {
	g := newEnsemble(p.engine, len(p.layout.Ensemble))
	e := &ensemble{servers: g, nodes: newNodes(p.cfg.Names, p.observer, p.log.printf), cut: p.isCut}
	p.ensemble = e
	for i, s := range g.Servers {
		s.name = p.layout.Ensemble[i]
		e.members = append(e.members, &member{ZooKeeperServer: s, ensemble: e, nodes: e.nodes, state: state{up: true}})
	}
	if err := g.start(p.ctx, image); err != nil {
		return err
	}
	if err := together(g.Servers, func(s *ZooKeeperServer) error { return s.warm(p.ctx) }); err != nil {
		return err
	}
	leader := ""
	e.learner = newLearner(g.Servers, func(s *ZooKeeperServer, t txn) {
		if last := leader; last != s.name {
			if leader = s.name; last != "" {
				p.observer.Server(promotion(leader, last))
			}
		}
		e.nodes.commit(leader, t)
	})
	e.nodes.beyond = e.learner.beyond
	ctx, stop := context.WithCancel(p.ctx)
	e.stop = stop
	e.learns.Go(func() {
		if err := e.learner.follow(ctx); ctx.Err() == nil {
			e.nodes.drop("%v", err)
		}
	})
	select {
	case <-e.learner.ready:
		return nil
	case <-time.After(upLimit):
		return errors.Join(errors.New("docker: the leader of the ensemble takes no observer"), e.learner.lastErrors())
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// newPrimary makes the layout's servers, and returns when they serve and follow.
func (p *Environment) newPrimary(image string) error {
	names := p.layout.MySQL
	x := &primary{
		name: names[0], rows: newRows(p.cfg.Names, names[0], p.observer, p.log.printf),
		downAfter: p.downAfter(), log: p.log.printf, sessions: map[string][]int64{},
		audit: audit{missing: map[int64]int64{}},
	}
	x.cut, x.isolated = func() { p.cutOff(x) }, p.isCut
	x.ctx, x.stop = context.WithCancel(p.ctx)
	x.resumeLooking()
	if l := p.cfg.Lock.Lease; l != catalogue.LeaseFixed && l != catalogue.LeaseRenewed {
		x.rows.blind()
	}
	p.mysql = x
	for _, name := range names {
		x.servers = append(x.servers, &mysqld{
			box: box{name: name, engine: p.engine, faked: p.fakes(name)}, number: x.newNumber(), fsync: p.cfg.Server.Fsync, primary: x,
		})
	}
	x.first = x.servers[0]
	err := together(x.servers, func(s *mysqld) error { return s.create(p.ctx, image, len(names) > 1) })
	if err == nil {
		err = together(x.servers, func(s *mysqld) error { return s.launch(p.ctx) })
	}
	if err == nil {
		err = x.lead(p.ctx, x.first)
	}
	if err == nil {
		err = together(x.servers[1:], func(s *mysqld) error { return x.join(p.ctx, s) })
	}
	x.tasks.Go(x.follow)
	if len(names) > 1 {
		x.tasks.Go(x.orchestrate)
	}
	return err
}

// cutOff resets all connections of clients to a server.
func (p *Environment) cutOff(f farServer) {
	for _, g := range p.programs {
		for _, l := range g.links {
			if l.far == f {
				l.cut()
			}
		}
	}
}
