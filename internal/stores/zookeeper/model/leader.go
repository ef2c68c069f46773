package model

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// Leader decides the results of writes and the ends of sessions. It takes into
// account all its earlier decisions, committed or not.
//
// The time in its methods is its own monotonic clock, since an instant that the
// caller chooses. ZooKeeper counts whole milliseconds.
type Leader struct {
	tree  tree
	last  int64      // last zxid given
	tick  int64      // in milliseconds
	due   []deadline // one for each session, the first deadline first
	ended []Txn      // the slice that Expire returned
	over  map[string]overflow
	buf   []byte
}

// overflow is a counter beyond the limit of the members. It is valid while a
// transaction on its node is under way. zxid is the last of these.
type overflow struct {
	counter int32
	zxid    int64
}

// Lead makes l the leader, with the data of m: the caller must first commit m's
// whole log to m. The zxids begin with the first of epoch, which no earlier
// leader may have had. The timeout of every session begins again.
//
// tick is ZooKeeper's tickTime; 0 means the default of 2 s. The zero Leader may
// Lead, and a Leader may Lead again.
func (l *Leader) Lead(now, tick time.Duration, epoch int32, m *Member) {
	if tick == 0 {
		tick = 2 * time.Second
	}
	l.tree.copyFrom(&m.tree)
	l.last = int64(epoch) << 32
	l.tick = max(tick.Milliseconds(), 1)
	l.due = l.due[:0]
	clear(l.over)
	for _, id := range l.tree.ids() {
		l.track(now, id)
	}
}

// Zxid returns the zxid of the last transaction that l has decided or taken over.
func (l *Leader) Zxid() int64 { return l.tree.zxid }

// Propose returns a transaction for c, a Create, Delete or SetData from session.
// by is the caller's tag of the request. A refused request becomes a transaction,
// too, a Refusal: its answer must come after the transactions that caused it.
// False means that the session has ended; there is no transaction then.
//
// It is not a sign of life, see Touch.
func (l *Leader) Propose(now time.Duration, session int64, by int, c zookeeper.Command) (Txn, bool) {
	if !l.alive(now, session) {
		return Txn{}, false
	}
	t := Txn{By: by, Session: session, Path: c.Path}
	if t.Code = l.decide(&t, &c); t.Code != zookeeper.OK {
		t = Txn{Kind: Refusal, By: by, Session: session, Path: c.Path, Code: t.Code}
	}
	return l.enact(t), true
}

// decide completes t, or returns the reason for a refusal. It checks in the order
// of ZooKeeper's PrepRequestProcessor.
func (l *Leader) decide(t *Txn, c *zookeeper.Command) zookeeper.Code {
	switch {
	case !Valid(*c):
		return zookeeper.BadArguments
	case c.Verb == zookeeper.Create:
		return l.create(t, c)
	case c.Verb == zookeeper.Delete:
		return l.remove(t, c)
	case c.Verb == zookeeper.SetData:
		return l.set(t, c)
	}
	return zookeeper.BadArguments
}

func (l *Leader) create(t *Txn, c *zookeeper.Command) zookeeper.Code {
	above, _ := split(c.Path)
	parent := l.tree.nodes[above]
	if parent == nil {
		return zookeeper.NoNode
	}
	counter := parent.counter
	if o, ok := l.over[above]; ok {
		counter = o.counter
	}
	if c.Mode&zookeeper.Sequential != 0 {
		l.buf = appendSequence(append(l.buf[:0], c.Path...), counter)
		t.Path = string(l.buf)
	}
	switch {
	case l.tree.nodes[t.Path] != nil:
		return zookeeper.NodeExists
	case parent.owner != 0:
		return zookeeper.NoChildrenForEphemerals
	}
	t.Kind, t.Data, t.Mode, t.Counter = Creation, c.Data, c.Mode, counter+1
	return zookeeper.OK
}

func (l *Leader) remove(t *Txn, c *zookeeper.Command) zookeeper.Code {
	n := l.tree.nodes[c.Path]
	switch {
	case slices.Contains(special[:], c.Path):
		return zookeeper.BadArguments
	case n == nil:
		return zookeeper.NoNode
	case c.Version != zookeeper.AnyVersion && c.Version != n.version:
		return zookeeper.BadVersion
	case len(n.children) > 0:
		return zookeeper.NotEmpty
	}
	t.Kind = Deletion
	return zookeeper.OK
}

func (l *Leader) set(t *Txn, c *zookeeper.Command) zookeeper.Code {
	n := l.tree.nodes[c.Path]
	switch {
	case n == nil:
		return zookeeper.NoNode
	case c.Version != zookeeper.AnyVersion && c.Version != n.version:
		return zookeeper.BadVersion
	}
	t.Kind, t.Data, t.Version = Change, c.Data, n.version+1
	return zookeeper.OK
}

// enact gives t its zxid and applies it.
func (l *Leader) enact(t Txn) Txn {
	l.last++
	t.Zxid = l.last
	l.noteOverflow(&t)
	l.tree.apply(&t)
	for i := 0; len(l.over) > 0 && i < len(l.tree.gone); i++ {
		path := l.tree.gone[i].Path
		delete(l.over, path)
		above, _ := split(path)
		l.renew(above, t.Zxid)
	}
	return t
}

// noteOverflow notes a counter that overflows with t, and transactions that keep an
// earlier one valid.
func (l *Leader) noteOverflow(t *Txn) {
	switch t.Kind {
	case Creation:
		above, _ := split(t.Path)
		if t.Counter > l.tree.nodes[above].counter {
			return
		}
		if l.over == nil {
			l.over = make(map[string]overflow)
		}
		l.over[above] = overflow{t.Counter, t.Zxid}
	case Change:
		l.renew(t.Path, t.Zxid)
	case Presetting:
		delete(l.over, t.Path)
	}
}

func (l *Leader) renew(path string, zxid int64) {
	if o, ok := l.over[path]; ok {
		l.over[path] = overflow{o.counter, zxid}
	}
}

// ProposeAlone is Propose for a client outside of the run, without a session. False means
// that the request is refused.
func (l *Leader) ProposeAlone(by int, c zookeeper.Command) (Txn, bool) {
	t := Txn{By: by, Path: c.Path}
	if l.decide(&t, &c) != zookeeper.OK {
		return Txn{}, false
	}
	return l.enact(t), true
}

// Committed tells l that all transactions up to zxid are committed. This affects
// only counters that have overflowed, see Preset.
func (l *Leader) Committed(zxid int64) {
	for path, o := range l.over {
		if o.zxid <= zxid {
			delete(l.over, path)
		}
	}
}

// Preset returns a transaction that sets the number of path's next sequential
// child, as if that many children had been created before. It creates the node if
// it is missing. It returns false if the node's parent is missing.
//
// The number after 2147483647 is -2147483648, but in ZooKeeper 3.8 only while
// transactions on path are under way: no member accepts a counter that is less
// than its own. Once all are Committed the next child is number 2147483647 again,
// and refused if that one still exists.
func (l *Leader) Preset(path string, counter int32) (Txn, bool) {
	if above, _ := split(path); l.tree.nodes[above] == nil {
		return Txn{}, false
	}
	return l.enact(Txn{Kind: Presetting, Path: path, Counter: counter}), true
}

// appendSequence appends n in ten digits, a sign included, like Java's %010d.
func appendSequence(buf []byte, n int32) []byte {
	width, left := 10, int64(n)
	if left < 0 {
		buf, width, left = append(buf, '-'), 9, -left
	}
	var digits [10]byte
	d := strconv.AppendInt(digits[:0], left, 10)
	for range width - len(d) {
		buf = append(buf, '0')
	}
	return append(buf, d...)
}
