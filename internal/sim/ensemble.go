package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// How long an ensemble takes: shares of T, as with Sentinels. On real servers
// with a T of two ticks a killed leader is replaced in 0.6 T.
const (
	tickShare   = 2 // tickTime is T/2, so that T is the shortest session
	limitTicks  = 2 // syncLimit: after so many ticks of silence two members give each other up
	ballotShare = 2 // an election takes T/2,
	talkShare   = 5 // and up to T/5 longer
	joinShare   = 5 // who finds a leader follows it after up to T/5
)

// ensemble is a ZooKeeper ensemble: members, one of which leads while most of
// them follow it.
//
// What is modelled is what locks depend on: that a write is one when most members
// have it on disk, and that each of them shows it some time later; that members
// which hear nothing of their leader let go of their clients, and so does a
// leader that hears nothing of most members; that the one with the longest log
// leads next; that sessions go by the leader's clock, and begin anew with a new
// one. Left out are the pings of members and the ballots of an election: members
// are taken to find out at once whether they reach somebody, to give each other
// up syncLimit later, both at the same instant, and to elect with what all of
// them see. A member's news of its sessions go to the leader at once, not with
// the next ping.
type ensemble struct {
	world    *World
	members  []*member
	leader   *member // whom most members follow; nil: there is none
	decides  model.Leader
	electing bool
	last     *member           // who led last
	owners   map[int64]*member // by session: whom its client is connected to, as the leader was told
	closing  []int64           // sessions that were closed from elsewhere while nobody led
	syncs    []*message        // that wait for what the leader had decided on before
	timer    time.Duration     // when the next expiry is in the queue; 0: none

	// epoch is that of the last leader. Where all who remembered it have lost their
	// disks it begins again, and another life with it: a session of an earlier
	// one has a number that may be given again here, as in ZooKeeper it is not.
	epoch int32
	life  int

	told    int64          // the last transaction whose effects were told
	entries map[string]int // the entries of locks, by path: the acquire that made each

	free []*parcel
}

// reset makes e a new ensemble without members.
func (e *ensemble) reset(w *World) {
	*e = ensemble{
		world: w, members: e.members[:0], owners: e.owners, entries: e.entries,
		closing: e.closing[:0], syncs: e.syncs[:0], free: e.free,
	}
	if e.owners == nil {
		e.owners, e.entries = map[int64]*member{}, map[string]int{}
	}
	clear(e.owners)
	clear(e.entries)
}

// addEnsemble makes the members of the run's layout.
func (w *World) addEnsemble(names []string) {
	e := &w.memory.ensemble
	e.reset(w)
	for _, name := range names {
		x := w.memory.members.next()
		x.reset(e, w.addServer(name, nil))
		e.members = append(e.members, x)
	}
	for _, x := range e.members {
		x.links = slices.Grow(x.links, len(names))[:len(names)]
		clear(x.links)
	}
	w.ensemble = e
	e.begin()
}

// begin lets the last member lead, as it does when all start at the same time.
// Where numbers are to begin elsewhere than with 0 the nodes of the locks are
// there, from which so many children have come and gone.
func (e *ensemble) begin() {
	e.lead(e.members[len(e.members)-1])
	if e.world.cfg.Server.Sequence == 0 {
		return
	}
	for _, name := range e.world.cfg.Names {
		e.preset("/"+name, e.world.cfg.Server.Sequence)
	}
}

func (e *ensemble) preset(path string, counter int32) {
	t, _ := e.decides.Preset(path, counter)
	for _, x := range e.members {
		x.copy.Commit(t)
	}
}

// arm makes sure that a session of which nobody hears is ended on time.
func (e *ensemble) arm() {
	if e.leader == nil {
		return
	}
	due, ok := e.decides.NextExpiry()
	if !ok {
		return
	}
	at := max(e.leader.server.clock.when(due), e.world.now)
	if e.timer != 0 && e.timer <= at {
		return
	}
	e.timer = at
	e.world.push(event{at: at, what: (*sessionExpiry)(e)})
}

// expire ends the sessions whose time is over.
func (e *ensemble) expire() {
	if l := e.leader; l != nil && l.server.runs() { // else it is seen to later
		for _, t := range e.decides.Expire(l.mono()) {
			e.propose(t, nil, nil)
		}
		e.arm()
	}
}

// sessionExpiry is the timer of the leader's.
type sessionExpiry ensemble

func (x *sessionExpiry) happen(w *World) {
	e := (*ensemble)(x)
	if e.timer != 0 && e.timer <= w.now { // else another one had been armed for an earlier time
		e.timer = 0
		e.expire()
	}
}

// tell reports what took effect on the entries of locks. What an earlier leader
// had committed was told by it.
func (e *ensemble) tell(x *member, zxid int64) {
	effects := x.copy.Effects()
	if x != e.leader || zxid <= e.told {
		return
	}
	e.told = zxid
	for i := range effects {
		f := &effects[i]
		lock := e.world.lockBelow(f.Path)
		if lock == "" {
			continue
		}
		kind, by := history.Granted, f.By
		switch {
		case f.Kind == model.Created:
			e.entries[f.Path] = f.Maker
			by = f.Maker
		case f.By == 0:
			kind = history.Expire
			delete(e.entries, f.Path)
		default:
			kind = history.Remove
			delete(e.entries, f.Path)
		}
		e.leader.server.reports(kind, lock, f.Path, f.Maker, by)
	}
}

// settle tells which entries of locks are lost: a new leader may never have had
// them, if most members have lost their disks.
func (e *ensemble) settle() {
	if len(e.entries) == 0 {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(e.entries)) {
		if e.leader.copy.Read(0, zookeeper.Command{Verb: zookeeper.Exists, Path: path}).Code != zookeeper.OK {
			e.leader.server.reports(history.Lose, e.world.lockBelow(path), path, e.entries[path], 0)
			delete(e.entries, path)
		}
	}
}

// lockBelow is the lock whose entry the node at path is, or "": a child of the
// node that is called as the lock.
func (w *World) lockBelow(path string) string {
	parent, child, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok || child == "" {
		return ""
	}
	return w.lockOf(parent)
}

// Keeps tells whether a server answers only what is on its disk, as members do.
func (w *World) Keeps(server string) bool {
	s := w.server(server)
	return s != nil && s.member != nil
}

// ExpireSession has the sessions of a client, or of its process, closed from
// elsewhere, from now on: that takes an ensemble its time.
func (w *World) ExpireSession(name string) error {
	c, err := w.named(name)
	switch {
	case err != nil:
		return err
	case w.databases != nil:
		w.databases.primary.kill(c.first)
		return nil
	case w.ensemble == nil:
		return fmt.Errorf("sim: %s has no session", name)
	}
	for _, s := range c.sessions {
		if s.id != 0 && s.end == nil && s.life == w.ensemble.life {
			w.ensemble.close(s.id)
		}
	}
	return nil
}
