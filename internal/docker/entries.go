package docker

import "github.com/lockcheck/lockcheck/internal/worker"

// kind returns the kind of servers that keep locks, as workers call it.
func (e *Environment) kind() string {
	switch {
	case e.ensemble != nil:
		return worker.TargetZooKeeper
	case e.mysql != nil:
		return worker.TargetMySQL
	}
	return worker.TargetRedis
}

// declare makes the servers report the entries that a worker declares.
func (e *Environment) declare(entries []worker.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	names := worker.Names(entries, e.Cfg.Names)
	for _, s := range e.stores {
		s.ledger.keys.declared.set(names)
	}
	if e.ensemble != nil {
		e.ensemble.nodes.declared.set(names)
	}
	e.declared = true
	if e.mysql != nil {
		return e.mysql.declare(e.Ctx, entries, names)
	}
	return nil
}
