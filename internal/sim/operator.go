package sim

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// Tamper acts on an entry of a lock, as an operator does who asks this server. Nothing
// happens if the server is down, paused, cut off or a replica.
func (w *World) Tamper(name string, how faults.Tampering, nth int) error {
	s, err := w.process(name)
	if err != nil || !s.runs() {
		return err
	}
	switch {
	case s.member != nil:
		w.ensemble.tamper(s.member.(*member), how, nth)
	case s.database != nil:
		s.database.tamper(how, nth)
	default:
		s.tamper(how, nth)
	}
	return nil
}

// tamper deletes a key, or changes its value. In a hash that is the value of its first
// field.
func (s *server) tamper(how faults.Tampering, nth int) {
	key, ok := env.NthEntry(s.lockEntries(s.redis.Entries), nth)
	if !ok {
		return
	}
	c := redis.Command{Verb: redis.Del, Key: key}
	if how == faults.Overwriting {
		c = redis.Command{Verb: redis.Set, Key: key, Value: env.OperatorsValue, KeepTTL: true}
		if all := s.redis.Apply(s.wall(), operator, redis.Command{Verb: redis.HGetAll, Key: key}); all.Kind == redis.Bulk {
			c.Verb = redis.HSet
			for c.Field = range redis.Fields(all.Str) {
				break
			}
		}
	}
	s.redis.Apply(s.wall(), operator, c)
	s.reportEffects()
}

// tamper deletes a node, but not the session of its client, or changes its data, at the
// request of an operator whose session is with x.
func (e *ensemble) tamper(x *member, how faults.Tampering, nth int) {
	path, ok := env.NthEntry(e.entries, nth)
	if !ok || !x.serves || e.leader == nil || !e.leader.server.runs() {
		return
	}
	c := zookeeper.Command{Verb: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion}
	if how == faults.Overwriting {
		c.Verb, c.Data = zookeeper.SetData, env.OperatorsValue
	}
	if t, ok := e.decides.ProposeAlone(operator, c); ok {
		e.propose(t, nil, nil)
	}
}

// tamper deletes a row with a grant or changes its owner, or kills the connection whose
// session keeps an entry. A statement waits for the row's lock like any other.
func (d *database) tamper(how faults.Tampering, nth int) {
	list := slices.SortedFunc(d.ofLocks(), func(a, b model.Entry) int { // several may have locked one gap
		return cmp.Or(cmp.Compare(a.Maker, b.Maker), strings.Compare(a.Name, b.Name))
	})
	if len(list) == 0 {
		return
	}
	x := list[nth%len(list)]
	c := mysql.Command{Verb: mysql.Delete, Where: mysql.ID, Match: x.Row, Means: mysql.Frees}
	if how == faults.Overwriting {
		c.Verb, c.Means = mysql.Update, mysql.Grants
		c.Set, c.Row = x.Row.Rename(env.OperatorsValue)
	}
	switch {
	case x.Session == 0:
		session := d.model.Connect(d.clock())
		d.model.Do(d.clock(), session, operator, c)
		d.model.Disconnect(d.clock(), session)
	case how == faults.Removal:
		d.model.Kill(d.clock(), x.Session)
	}
	d.passOutputs()
}

// ofLocks yields the entries that clients of the run made for locks.
func (d *database) ofLocks() iter.Seq[model.Entry] {
	return func(yield func(model.Entry) bool) {
		for x := range d.model.Granted {
			if x.Maker != operator && d.server.net.lockOf(x.Name) != "" && !yield(x) {
				return
			}
		}
	}
}
