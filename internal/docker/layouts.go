package docker

import (
	"context"
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// LeaseOf returns the default T. A replica must replace a master within a part of T:
// see sentinelSettings, and primary. One of several masters has T/40 to answer, even on
// a new connection; 25 ms was too short in one of three rounds on two busy cores.
//
// own: the clients use a library of their own. Those of ZooKeeper have waits of whole
// seconds: go-zookeeper waits for 1 s after it has tried all members. And a session ends up
// to two ticks after its timeout. A few of these must fit into the 3 T of liveness.
func LeaseOf(l catalogue.Layout, own bool) time.Duration {
	switch {
	case len(l.Sentinels) > 0 || len(l.MySQL) > 1 || own && len(l.Ensemble) > 0:
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
func (e *Environment) newServers() error {
	image, err := e.engine.image(e.Ctx, e.Log.Writer())
	if err != nil {
		return err
	}
	if len(e.layout.Ensemble) > 0 {
		return e.startEnsemble(image)
	}
	if len(e.layout.MySQL) > 0 {
		of, err := e.engine.mysqlImage(e.Ctx, image, len(e.layout.MySQL))
		if err != nil {
			return err
		}
		if err := e.newPrimary(of); err != nil {
			return err
		}
	}
	replicated := len(e.layout.Sentinels) > 0
	for _, names := range e.layout.Nodes {
		e.addNode(names)
	}
	for _, name := range e.layout.Sentinels {
		e.sentinels = append(e.sentinels, &server{box: box{name: name, engine: e.engine, meets: true}})
	}
	if e.layout.Tokens != "" {
		fsync := catalogue.FsyncAlways
		e.tokens = &server{box: box{name: e.layout.Tokens, engine: e.engine, meets: replicated}, fsync: fsync, command: storeCommand(fsync)}
	}
	for _, s := range e.servers() {
		e.far = append(e.far, s)
		if replicated && s != e.tokens {
			e.peers = append(e.peers, &s.box)
		}
	}
	if e.mysql != nil {
		e.far = append(e.far, e.mysql)
	}
	err = clients.Together(e.servers(), func(s *server) error {
		_, err := s.create(e.Ctx, image, redisPort)
		if err == nil && e.Cfg.Server.Cluster {
			err = s.findHost(e.Ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	if replicated {
		return e.startNodes()
	}
	if err := clients.Together(e.servers(), func(s *server) error { return s.start(e.Ctx) }); err != nil {
		return err
	}
	if e.Cfg.Server.Cluster {
		return e.joinCluster()
	}
	return nil
}

// addNode adds the servers of one node.
func (e *Environment) addNode(names []string) {
	var n *node
	if len(names) > 1 {
		n = &node{observer: e.Observer}
	}
	m, keys := &makers{ops: map[[2]string]int64{}}, newKeys(&e.Cfg.Lock, e.Cfg.Names)
	for i, name := range names {
		s := &server{
			box: box{name: name, engine: e.engine, faked: e.fakes(name), meets: n != nil}, node: n,
			fsync: e.Cfg.Server.Fsync, command: storeCommand(e.Cfg.Server.Fsync),
			ledger: &ledger{
				view:   view{observer: e.Observer, log: e.Log.Printf, subject: name + " is"},
				server: name, keys: keys, entries: map[string]entry{}, makers: m, stray: map[string]bool{},
			},
		}
		if e.Cfg.Server.Cluster {
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
		e.stores = append(e.stores, s)
		e.machines[name] = s
	}
}

// startEnsemble starts the layout's ensemble, and returns when it answers and the
// learner follows.
func (e *Environment) startEnsemble(image string) error {
	g := newEnsemble(e.engine, len(e.layout.Ensemble))
	x := &ensemble{servers: g, nodes: newNodes(&e.Cfg.Lock, e.Cfg.Names, e.Observer, e.Log.Printf), cut: e.isCut}
	e.ensemble = x
	for i, s := range g.Servers {
		s.name = e.layout.Ensemble[i]
		s.up = true
		m := &member{ZooKeeperServer: s, ensemble: x}
		x.members, e.far, e.peers = append(x.members, m), append(e.far, m), append(e.peers, &m.box)
		e.machines[s.name] = m
	}
	if err := g.start(e.Ctx, image); err != nil {
		return err
	}
	if err := clients.Together(g.Servers, func(s *ZooKeeperServer) error { return s.warm(e.Ctx) }); err != nil {
		return err
	}
	leader := ""
	x.learner = newLearner(g.Servers, func(s *ZooKeeperServer, t txn) {
		if last := leader; last != s.name {
			if leader = s.name; last != "" {
				e.Observer.Server(promotion(leader, last))
			}
		}
		x.nodes.commit(leader, t)
	})
	x.nodes.learn = x.learner.beyond
	ctx, stop := context.WithCancel(e.Ctx)
	x.stop = stop
	x.learns.Go(func() {
		if err := x.learner.follow(ctx); ctx.Err() == nil {
			x.nodes.drop("%v", err)
		}
	})
	select {
	case <-x.learner.ready:
		return nil
	case <-time.After(upLimit):
		return errors.Join(errors.New("docker: the leader of the ensemble takes no observer"), x.learner.lastErrors())
	case <-e.Ctx.Done():
		return e.Ctx.Err()
	}
}

// newPrimary makes the layout's servers, and returns when they serve and follow.
func (e *Environment) newPrimary(image string) error {
	names := e.layout.MySQL
	x := &primary{
		name: names[0], rows: newRows(e.Cfg.Names, names[0], e.Observer, e.Log.Printf),
		downAfter: e.downAfter(), log: e.Log.Printf, sessions: map[string][]int64{},
		audit: audit{missing: map[int64]int64{}},
	}
	x.cut, x.isolated = func() { e.Cut(x) }, e.isCut
	x.ctx, x.stop = context.WithCancel(e.Ctx)
	x.resumeLooking()
	switch lock := &e.Cfg.Lock; {
	case lock.Hidden():
		x.rows.dropped = true
	case lock.Named:
		x.rows.declareNamed(worker.Names([]worker.Entry{{Name: worker.NamePlace}}, e.Cfg.Names))
	}
	e.mysql = x
	for _, name := range names {
		s := &mysqld{
			MySQLServer: MySQLServer{box: box{name: name, engine: e.engine, faked: e.fakes(name), meets: len(names) > 1, inMemory: true}},
			number:      x.newNumber(), fsync: e.Cfg.Server.Fsync, primary: x,
		}
		x.servers = append(x.servers, s)
		e.machines[name] = s
		if s.meets {
			e.peers = append(e.peers, &s.box)
		}
	}
	x.first = x.servers[0]
	err := clients.Together(x.servers, func(s *mysqld) error { return s.create(e.Ctx, image) })
	if err == nil {
		err = clients.Together(x.servers, func(s *mysqld) error { return s.launch(e.Ctx) })
	}
	if err == nil {
		err = x.lead(e.Ctx, x.first)
	}
	if err == nil {
		err = clients.Together(x.servers[1:], func(s *mysqld) error { return x.join(e.Ctx, s) })
	}
	x.tasks.Go(x.follow)
	if len(names) > 1 {
		x.tasks.Go(x.orchestrate)
	}
	return err
}
