package sim

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// operator tags requests that no client of the run sends: the history has no "by".
const operator = -1

// RemoveEntry removes an entry of a lock, as an operator does who asks this server.
// Nothing happens if the server is down, paused, cut off or a replica.
func (w *World) RemoveEntry(name string, nth int) error {
	s, err := w.process(name)
	if err != nil || !s.runs() {
		return err
	}
	switch {
	case s.member != nil:
		w.ensemble.removeEntry(s.member.(*member), nth)
	case s.database != nil:
		s.database.removeEntry(nth)
	default:
		if key, ok := env.NthEntry(s.lockEntries(s.redis.Entries), nth); ok {
			s.redis.Apply(s.wall(), operator, redis.Command{Verb: redis.Del, Key: key})
			s.reportEffects()
		}
	}
	return nil
}

// removeEntry deletes a node, but not the session of its client, at the request of an
// operator whose session is with x.
func (e *ensemble) removeEntry(x *member, nth int) {
	path, ok := env.NthEntry(e.entries, nth)
	if !ok || !x.serves || e.leader == nil || !e.leader.server.runs() {
		return
	}
	if t, ok := e.decides.Delete(path, operator); ok {
		e.propose(t, nil, nil)
	}
}

// removeEntry deletes a row with a grant, or kills the connection whose session keeps
// an entry. A DELETE waits for the row's lock like any other.
func (d *database) removeEntry(nth int) {
	list := slices.SortedFunc(d.ofLocks(), func(a, b model.Entry) int { // several may have locked one gap
		return cmp.Or(cmp.Compare(a.Maker, b.Maker), strings.Compare(a.Name, b.Name))
	})
	if len(list) == 0 {
		return
	}
	if x := list[nth%len(list)]; x.Session != 0 {
		d.model.Kill(d.clock(), x.Session)
	} else {
		session := d.model.Connect(d.clock())
		d.model.Do(d.clock(), session, operator, mysql.Command{
			Verb: mysql.Delete, Where: mysql.ID, Match: mysql.Row{ID: x.Row}, Means: mysql.Frees,
		})
		d.model.Disconnect(d.clock(), session)
	}
	d.passOutputs()
}

// ofLocks yields the entries of locks.
func (d *database) ofLocks() iter.Seq[model.Entry] {
	return func(yield func(model.Entry) bool) {
		for x := range d.model.Granted {
			if d.server.net.lockOf(x.Name) != "" && !yield(x) {
				return
			}
		}
	}
}
