package model

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// Leader decides what writes do, and which sessions live. It decides by what
// it has decided before, committed or not.
//
// The time that its methods take is its own monotonic clock, since an instant
// that the caller chooses. ZooKeeper counts it in whole milliseconds.
type Leader struct {
	tree  tree
	last  int64      // the zxid given last
	tick  int64      // in milliseconds
	due   []deadline // one for each session, the next one first
	ended []Txn      // what Expire returned
	over  map[string]overflow
	buf   []byte
}

// overflow is a counter that has gone beyond what the members take: it stands
// as long as a transaction on its node is under way, the last being zxid.
type overflow struct {
	counter int32
	zxid    int64
}

// Lead has l lead, with what m holds: the caller commits to m beforehand what
// m has in its log. The first zxid is the first of epoch, which has to be one
// that no leader had before. Every session begins its time-out anew.
//
// Tick is ZooKeeper's tickTime; 0 is 2 s, the default. The zero Leader may be
// had to Lead, and one that led before.
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

// Zxid is that of the last transaction that l has decided on, or taken over.
func (l *Leader) Zxid() int64 { return l.tree.zxid }

// Propose makes a transaction of c, a Create, Delete or SetData that session
// has asked for; by is the caller's tag of the request. What is refused takes
// a transaction, too, a Refusal: the answer has to come after all on which it
// rests. False says that the session has ended; there is no transaction then.
//
// It does not count as a sign of life, see Touch.
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

// decide completes t, or says why it can not be. The order of the refusals is
// that in which ZooKeeper's PrepRequestProcessor looks.
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

// enact gives t its zxid and takes it in.
func (l *Leader) enact(t Txn) Txn {
	l.last++
	t.Zxid = l.last
	l.overflow(&t)
	l.tree.apply(&t)
	for i := 0; len(l.over) > 0 && i < len(l.tree.gone); i++ {
		path := l.tree.gone[i].Path
		delete(l.over, path)
		above, _ := split(path)
		l.renew(above, t.Zxid)
	}
	return t
}

// overflow notes a counter that overflows by t, and what keeps one that has.
func (l *Leader) overflow(t *Txn) {
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

// Committed tells l that all transactions up to zxid are committed. It matters
// for nothing but a counter that has overflowed, see Preset.
func (l *Leader) Committed(zxid int64) {
	for path, o := range l.over {
		if o.zxid <= zxid {
			delete(l.over, path)
		}
	}
}

// Preset makes counter the one from which the next sequential child of path
// gets its number, as if as many children had been created before; and the node,
// if it is missing. False says that it has no parent.
//
// After 2147483647 comes -2147483648, but, as ZooKeeper 3.8 has it, only for
// as long as transactions on path are under way: no member takes a counter
// that is less than its own, so once they are all Committed the next child is
// number 2147483647 again, and refused if that one is still there.
func (l *Leader) Preset(path string, counter int32) (Txn, bool) {
	if above, _ := split(path); l.tree.nodes[above] == nil {
		return Txn{}, false
	}
	return l.enact(Txn{Kind: Presetting, Path: path, Counter: counter}), true
}

// appendSequence appends n in ten digits, of which a sign takes one, as Java's
// %010d does.
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
