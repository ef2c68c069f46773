package sim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// Delays of an ensemble are shares of T, as with Sentinels. Real servers with a T
// of two ticks replace a killed leader in 0.6 T.
const (
	tickShare   = 2 // tickTime is T/2, so that T is the shortest session
	limitTicks  = 2 // syncLimit: after this many ticks of silence two members give each other up
	ballotShare = 2 // an election takes T/2,
	talkShare   = 5 // and up to T/5 longer
	joinShare   = 5 // a member that finds a leader follows it after up to T/5
)

// ensemble is a ZooKeeper ensemble: members, one of which leads while a majority
// follows it.
//
// It models the facts that locks depend on:
//
//   - A write is committed when a majority has it on disk. Each member shows it some
//     time later.
//   - A follower that hears nothing from its leader closes its clients' connections. So
//     does a leader that hears nothing from a majority.
//   - The member with the longest log leads next.
//   - Sessions go by the leader's clock. A new leader restarts their timeouts.
//
// It leaves out the pings between members and the ballots of an election. Members
// find out at once whether they reach each other. They give each other up
// syncLimit later, both at the same instant, and elect with complete knowledge. A
// member sends news of its sessions to the leader at once, not with the next
// ping.
type ensemble struct {
	net      *network
	members  []*member
	leader   *member // nil: no leader
	decides  model.Leader
	electing bool
	last     *member           // the last leader
	owners   map[int64]*member // by session: the member that its client is connected to, as the leader knows it
	closing  []int64           // sessions that faults closed while there was no leader
	syncs    []*message        // they wait for the leader's earlier decisions
	timer    time.Duration     // when the next expiry is in the queue; 0: none

	// epoch is the epoch of the last leader. If all members that know it lose
	// their disks, it starts again, and a new life starts with it. A session of
	// an earlier life has a number that may be given again here, which ZooKeeper
	// avoids.
	epoch int32
	life  int

	lastReported int64          // the last transaction whose effects were reported
	entries      map[string]int // the entries of locks, by path: the acquire that made each one

	free   []*parcel
	memory pool[member]
}

// reset makes e a new ensemble of members with these names.
func (e *ensemble) reset(n *network, names []string) {
	*e = ensemble{
		net: n, members: e.members[:0], owners: e.owners, entries: e.entries,
		closing: e.closing[:0], syncs: e.syncs[:0], free: e.free, memory: e.memory,
	}
	if e.owners == nil {
		e.owners, e.entries = map[int64]*member{}, map[string]int{}
	}
	clear(e.owners)
	clear(e.entries)
	e.memory.recycle()
	for _, name := range names {
		x := e.memory.next()
		x.reset(e, n.addServer(name, nil))
		e.members = append(e.members, x)
	}
	for _, x := range e.members {
		x.links = slices.Grow(x.links, len(names))[:len(names)]
		clear(x.links)
	}
	e.begin()
}

// begin makes the last member the leader, as happens when all start at the same
// time. If sequence numbers must not begin at 0, it creates the nodes of the
// locks with that many past children.
func (e *ensemble) begin() {
	e.lead(e.members[len(e.members)-1])
	if e.net.cfg.Server.Sequence == 0 {
		return
	}
	for _, name := range e.net.cfg.Names {
		e.preset("/"+name, e.net.cfg.Server.Sequence)
	}
}

func (e *ensemble) preset(path string, counter int32) {
	t, _ := e.decides.Preset(path, counter)
	for _, x := range e.members {
		x.copy.Commit(t)
	}
}

// arm queues the timer for the next session to expire.
func (e *ensemble) arm() {
	if e.leader == nil {
		return
	}
	due, ok := e.decides.NextExpiry()
	if !ok {
		return
	}
	at := max(e.leader.server.clock.when(due), e.net.now)
	if e.timer != 0 && e.timer <= at {
		return
	}
	e.timer = at
	e.net.push(event{at: at, what: (*sessionExpiry)(e)})
}

// expire ends the sessions whose time is over.
func (e *ensemble) expire() {
	if l := e.leader; l != nil && l.server.runs() { // else a later leader does it
		for _, t := range e.decides.Expire(l.mono()) {
			e.propose(t, nil, nil)
		}
		e.arm()
	}
}

// sessionExpiry is the leader's timer.
type sessionExpiry ensemble

func (x *sessionExpiry) happen() {
	e := (*ensemble)(x)
	if e.timer != 0 && e.timer <= e.net.now { // else an earlier timer has replaced this one
		e.timer = 0
		e.expire()
	}
}

// reportEffects reports effects on the entries of locks. An earlier leader has reported
// its own commits.
func (e *ensemble) reportEffects(x *member, zxid int64) {
	effects := x.copy.Effects()
	if x != e.leader || zxid <= e.lastReported {
		return
	}
	e.lastReported = zxid
	for i := range effects {
		f := &effects[i]
		lock := e.lockBelow(f.Path)
		if lock == "" {
			continue
		}
		kind, by := history.Granted, f.By
		switch {
		case f.Kind == model.Created:
			e.entries[f.Path] = f.Maker
			by = f.Maker
		case f.Kind == model.Changed:
			kind = history.Change
		case f.By == 0:
			kind = history.Expire
			delete(e.entries, f.Path)
		default:
			kind = history.Remove
			delete(e.entries, f.Path)
		}
		e.leader.server.report(kind, lock, f.Path, f.Maker, by)
	}
}

// settle reports lost entries of locks: a new leader may not have them if a
// majority has lost its disks.
func (e *ensemble) settle() {
	if len(e.entries) == 0 {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(e.entries)) {
		if e.leader.copy.Read(0, zookeeper.Command{Verb: zookeeper.Exists, Path: path}).Code != zookeeper.OK {
			e.leader.server.report(history.Lose, e.lockBelow(path), path, e.entries[path], 0)
			delete(e.entries, path)
		}
	}
}

// lockBelow returns the lock whose entry the node at path is: a child of the node
// with the lock's name. Else it returns "".
func (e *ensemble) lockBelow(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 1 || i == len(path)-1 {
		return ""
	}
	parent := path[1:i]
	return e.net.lockOf(parent)
}
