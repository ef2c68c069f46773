package model_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

const (
	session = 10 * tick
	anyOf   = zookeeper.AnyVersion
)

// ensemble is a leader and members that the test feeds by hand.
type ensemble struct {
	*testing.T
	leader  model.Leader
	members [2]*model.Member
	log     []model.Txn
	tag     int
}

func newEnsemble(t *testing.T) *ensemble {
	e := &ensemble{T: t}
	for i := range e.members {
		e.members[i] = model.NewMember()
	}
	e.leader.Lead(0, tick, 1, e.members[0])
	return e
}

// commit commits a transaction on both members.
func (e *ensemble) commit(x model.Txn, ok bool) model.Txn {
	e.Helper()
	if !ok {
		e.Fatal("the leader knows no such session, or no such node")
	}
	e.log = append(e.log, x)
	for _, m := range e.members {
		m.Commit(x)
	}
	e.leader.Committed(x.Zxid)
	return x
}

func (e *ensemble) open() int64 {
	return e.commit(e.leader.Open(0, 0, session), true).Session
}

// do proposes and commits c and asserts code.
func (e *ensemble) do(s int64, c zookeeper.Command, code zookeeper.Code) model.Txn {
	e.Helper()
	e.tag++
	x, ok := e.leader.Propose(0, s, e.tag, c)
	if e.commit(x, ok); x.Code != code {
		e.Fatalf("%+v: got %v, want %v", c, x.Code, code)
	}
	return x
}

func create(path string, mode zookeeper.Mode) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.Create, Path: path, Mode: mode}
}

func remove(path string) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.Delete, Path: path, Version: anyOf}
}

func set(path string) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.SetData, Path: path, Data: "v", Version: anyOf}
}

func read(verb zookeeper.Verb, path string) zookeeper.Command {
	return zookeeper.Command{Verb: verb, Path: path, Watch: true}
}

func event(e zookeeper.EventType, path string) zookeeper.Event {
	return zookeeper.Event{Type: e, Path: path}
}

// wantEvents asserts that m has sent exactly these events, all to s.
func (e *ensemble) wantEvents(m *model.Member, s int64, want ...zookeeper.Event) {
	e.Helper()
	var got []zookeeper.Event
	for _, f := range m.Fired() {
		if f.Session != s {
			e.Errorf("session %d got %v", f.Session, f.Event)
		}
		got = append(got, f.Event)
	}
	if !slices.Equal(got, want) {
		e.Errorf("got %v, want %v", got, want)
	}
}

func TestANewEnsembleHoldsWhatZooKeeperPutsThere(t *testing.T) {
	e := newEnsemble(t)
	for path, want := range map[string]zookeeper.Stat{
		"/":          {CVersion: -1, NumChildren: 1},
		"/zookeeper": {CVersion: -2, NumChildren: 2},
	} {
		if got := e.members[0].Read(0, zookeeper.Command{Verb: zookeeper.Exists, Path: path}).Stat; got != want {
			t.Errorf("%s is %+v, want %+v", path, got, want)
		}
	}
	s := e.open()
	for _, path := range []string{"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		e.do(s, remove(path), zookeeper.BadArguments)
		e.do(s, create(path, 0), zookeeper.NodeExists)
	}
}

func TestZxids(t *testing.T) {
	e := newEnsemble(t)
	s := e.open()
	if want := int64(1)<<32 | 1; s != want || e.leader.Zxid() != want {
		t.Errorf("the first transaction opened session %#x, and is %#x; want %#x", s, e.leader.Zxid(), want)
	}
	e.do(s, remove("/a"), zookeeper.NoNode)
	if x := e.do(s, create("/a", 0), zookeeper.OK); x.Zxid != 1<<32|3 {
		t.Errorf("after a refusal: %#x", x.Zxid)
	}
	e.leader.Lead(0, tick, 7, e.members[1])
	if e.leader.Zxid() != 1<<32|3 {
		t.Errorf("a new leader took over %#x", e.leader.Zxid())
	}
	if x := e.do(s, set("/a"), zookeeper.OK); x.Zxid != 7<<32|1 || x.Version != 1 {
		t.Errorf("the new leader's first is %+v", x)
	}
}

func TestSequenceNumbers(t *testing.T) {
	for _, c := range []struct {
		counter int32
		want    string
	}{
		{0, "/p/s-0000000000"},
		{41, "/p/s-0000000041"},
		{math.MaxInt32, "/p/s-2147483647"},
		{math.MinInt32, "/p/s--2147483648"},
		{-1, "/p/s--000000001"},
	} {
		e := newEnsemble(t)
		s := e.open()
		e.do(s, create("/p", 0), zookeeper.OK)
		e.commit(e.leader.Preset("/p", c.counter))
		if got := e.do(s, create("/p/s-", zookeeper.Sequential), zookeeper.OK).Path; got != c.want {
			t.Errorf("counter %d: got %s, want %s", c.counter, got, c.want)
		}
	}
	if _, ok := newEnsemble(t).leader.Preset("/p/q", 1); ok {
		t.Error("the counter of a node without a parent was set")
	}
	e := newEnsemble(t)
	e.commit(e.leader.Preset("/p", 7))
	s := e.open()
	if got := e.do(s, create("/p/s-", zookeeper.Sequential), zookeeper.OK).Path; got != "/p/s-0000000007" {
		t.Errorf("below a node that was missing: got %s", got)
	}
	if stat := e.members[0].Read(s, read(zookeeper.Exists, "/")).Stat; stat.NumChildren != 2 || stat.CVersion != 0 {
		t.Errorf("the parent of what was missing: %+v", stat)
	}
}

// ZooKeeper's DataTree accepts only a counter that is greater than its own. Its
// PrepRequestProcessor counts on from transactions under way. Observed with
// 3.8.0.
func TestACounterOverflowsOnlyInWhatIsUnderWay(t *testing.T) {
	// The members get the transaction before the leader knows that they have it.
	underWay := func(t *testing.T, e *ensemble, s int64, c zookeeper.Command) model.Txn {
		t.Helper()
		x, ok := e.leader.Propose(0, s, 1, c)
		if !ok {
			t.Fatal("no session")
		}
		for _, m := range e.members {
			m.Commit(x)
		}
		return x
	}
	propose := func(t *testing.T, e *ensemble, s int64) model.Txn {
		t.Helper()
		return underWay(t, e, s, create("/p/s-", zookeeper.Sequential))
	}
	begin := func(t *testing.T) (*ensemble, int64) {
		e := newEnsemble(t)
		s := e.open()
		e.do(s, create("/p", 0), zookeeper.OK)
		e.commit(e.leader.Preset("/p", math.MaxInt32))
		return e, s
	}
	t.Run("under way", func(t *testing.T) {
		e, s := begin(t)
		for _, want := range []string{"/p/s-2147483647", "/p/s--2147483648", "/p/s--2147483647"} {
			if x := propose(t, e, s); x.Path != want {
				t.Errorf("got %+v, want %s", x, want)
			}
		}
		last := e.leader.Zxid()
		e.leader.Committed(last - 1)
		if x := propose(t, e, s); x.Path != "/p/s--2147483646" {
			t.Errorf("one is still under way, and next comes %+v", x)
		}
	})
	t.Run("committed", func(t *testing.T) {
		e, s := begin(t)
		first := propose(t, e, s)
		e.leader.Committed(first.Zxid)
		x := propose(t, e, s)
		if x.Code != zookeeper.NodeExists {
			t.Errorf("got %+v, want NodeExists", x)
		}
		e.do(s, remove(first.Path), zookeeper.OK)
		if x := propose(t, e, s); x.Path != first.Path {
			t.Errorf("got %+v, want %s again", x, first.Path)
		}
	})
	t.Run("kept by another transaction", func(t *testing.T) {
		for _, do := range []zookeeper.Command{set("/p"), remove("/p/s-2147483647")} {
			e, s := begin(t)
			first := propose(t, e, s)
			x := underWay(t, e, s, do)
			e.leader.Committed(first.Zxid)
			if y := propose(t, e, s); y.Path != "/p/s--2147483648" {
				t.Errorf("%+v is under way, and next comes %+v", x, y)
			}
		}
	})
	t.Run("gone with the node", func(t *testing.T) {
		e, s := begin(t)
		first := propose(t, e, s)
		for _, c := range []zookeeper.Command{remove(first.Path), remove("/p"), create("/p", 0)} {
			underWay(t, e, s, c)
		}
		if x := propose(t, e, s); x.Path != "/p/s-0000000000" {
			t.Errorf("the new node begins with %+v", x)
		}
	})
	t.Run("gone with the leader", func(t *testing.T) {
		e, s := begin(t)
		first := propose(t, e, s)
		underWay(t, e, s, remove(first.Path))
		e.leader.Lead(0, tick, 2, e.members[0])
		if x := propose(t, e, s); x.Path != first.Path {
			t.Errorf("the new leader begins with %+v, want %s", x, first.Path)
		}
	})
}

func TestEffects(t *testing.T) {
	e := newEnsemble(t)
	a, b := e.open(), e.open()
	e.do(a, create("/p", 0), zookeeper.OK)                                           // 1
	e.do(a, create("/p/x", zookeeper.Ephemeral), zookeeper.OK)                       // 2
	e.do(b, create("/p/y-", zookeeper.Ephemeral|zookeeper.Sequential), zookeeper.OK) // 3
	e.do(b, create("/p/x", 0), zookeeper.NodeExists)                                 // 4
	e.do(b, remove("/p/x"), zookeeper.OK)                                            // 5
	e.do(a, create("/p/x", zookeeper.Ephemeral), zookeeper.OK)                       // 6
	e.do(a, set("/p/x"), zookeeper.OK)                                               // 7
	e.commit(e.leader.Close(0, a, 8))
	for _, x := range e.leader.Expire(time.Hour) {
		e.commit(x, true)
	}
	zxid := func(n int64) int64 { return 1<<32 | 2 + n } // after two that opened sessions
	want := []model.Effect{
		{Kind: model.Created, Path: "/p", Czxid: zxid(1), Maker: 1, By: 1},
		{Kind: model.Created, Path: "/p/x", Czxid: zxid(2), Owner: a, Maker: 2, By: 2},
		{Kind: model.Created, Path: "/p/y-0000000001", Czxid: zxid(3), Owner: b, Maker: 3, By: 3},
		{Kind: model.Deleted, Path: "/p/x", Czxid: zxid(2), Owner: a, Maker: 2, By: 5},
		{Kind: model.Created, Path: "/p/x", Czxid: zxid(6), Owner: a, Maker: 6, By: 6},
		{Kind: model.Changed, Path: "/p/x", Czxid: zxid(6), Owner: a, Maker: 6, By: 7},
		{Kind: model.Deleted, Path: "/p/x", Czxid: zxid(6), Owner: a, Maker: 6, By: 8},
		{Kind: model.Deleted, Path: "/p/y-0000000001", Czxid: zxid(3), Owner: b, Maker: 3},
	}
	for i, m := range e.members {
		if got := m.Effects(); !slices.Equal(got, want) {
			t.Errorf("member %d: got\n%+v, want\n%+v", i, got, want)
		}
		if got := m.Effects(); len(got) != 0 {
			t.Errorf("member %d tells %+v again", i, got)
		}
	}
}

func TestAMemberThatLagsAnswersByWhatItHas(t *testing.T) {
	e := newEnsemble(t)
	s := e.open()
	late := e.members[1]
	x, _ := e.leader.Propose(0, s, 1, create("/a", 0))
	y, _ := e.leader.Propose(0, s, 2, set("/a"))
	e.members[0].Commit(x)
	e.members[0].Commit(y)
	if r := late.Read(s, read(zookeeper.Exists, "/a")); r.Code != zookeeper.NoNode {
		t.Errorf("got %+v before it could know", r)
	}
	if r := late.Commit(x); r.Path != "/a" {
		t.Errorf("got %+v", r)
	}
	e.wantEvents(late, s, event(zookeeper.NodeCreated, "/a"))
	if r := late.Read(s, read(zookeeper.GetData, "/a")); r.Data != "" || r.Stat.Version != 0 {
		t.Errorf("got %+v between the two", r)
	}
	if r := late.Commit(y); r.Stat.Version != 1 || late.Zxid() != y.Zxid {
		t.Errorf("got %+v, at %#x", r, late.Zxid())
	}
	e.wantEvents(late, s, event(zookeeper.NodeDataChanged, "/a"))
	if r := late.Commit(x); r.Path != "" || late.Zxid() != y.Zxid {
		t.Errorf("a known transaction: got %+v, at %#x", r, late.Zxid())
	}
}
