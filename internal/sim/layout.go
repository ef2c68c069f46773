package sim

import (
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// shape is everything that a layout depends on.
type shape struct {
	store           catalogue.Store
	nodes, replicas int
	server          catalogue.Server
	tokens          bool
}

// layout is the layout of the servers of the last run, if there was one.
type layout struct {
	laid  bool
	shape shape
	catalogue.Layout
}

// of returns the layout of a run. It is mostly the previous run's.
func (l *layout) of(cfg *env.Config) *catalogue.Layout {
	if s := (shape{cfg.Lock.Store, cfg.Lock.Nodes, cfg.Lock.Replicas, cfg.Server, cfg.Options.OwnToken}); !l.laid || s != l.shape {
		*l = layout{true, s, catalogue.NewLayout(&cfg.Lock, cfg.Server, cfg.Options)}
	}
	return &l.Layout
}

// addServers adds the servers of the run's layout.
func (w *World) addServers() {
	layout := w.kept.layout.of(&w.cfg)
	set := w.cfg.Server
	options := model.Options{Replicated: len(layout.Sentinels) > 0}
	switch set.Fsync {
	case catalogue.FsyncEverysec:
		options.Fsync = model.Everysec
	case catalogue.FsyncAlways:
		options.Fsync = model.Always
	}
	if set.Eviction == catalogue.EvictNothing {
		options.Policy = model.NoEviction
	}
	if set.Cluster {
		options.Cluster = slots(layout.Masters())
	}
	for i, names := range layout.Nodes {
		n := w.memory.nodes.next()
		n.reset(&w.network, names[0])
		w.nodes = append(w.nodes, n)
		options.Self = i
		for _, name := range names {
			n.add(w.addStore(name, options))
		}
	}
	if len(layout.Ensemble) > 0 {
		w.ensemble = &w.kept.ensemble
		w.ensemble.reset(&w.network, layout.Ensemble)
	}
	if len(layout.MySQL) > 0 {
		w.addDatabases(layout.MySQL)
	}
	for _, name := range layout.Sentinels {
		w.monitors = append(w.monitors, w.addServer(name, nil))
	}
	w.resource = w.addServer(history.Resource, nil)
	if layout.Tokens != "" {
		w.tokens = w.addStore(layout.Tokens, model.Options{Fsync: model.Always})
	}
}

// slots divides the hash slots of a Redis Cluster evenly.
func slots(masters []string) []model.SlotRange {
	ranges := make([]model.SlotRange, len(masters))
	for i, name := range masters {
		from, to := redis.SlotsOf(i, len(masters))
		ranges[i] = model.SlotRange{From: from, To: to, Addr: name + ":6379"}
	}
	return ranges
}
