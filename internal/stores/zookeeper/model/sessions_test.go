package model_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

func TestTheTimeoutIsNegotiated(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{
		0: 2 * tick, tick: 2 * tick, 2 * tick: 2 * tick, 2*tick + ms/2: 2 * tick,
		3*tick + ms: 3*tick + ms, 20 * tick: 20 * tick, time.Hour: 20 * tick,
	} {
		if got := newEnsemble(t).leader.Open(0, 0, asked).Timeout; got != want {
			t.Errorf("asked for %v: got %v, want %v", asked, got, want)
		}
	}
	var l model.Leader
	l.Lead(0, 0, 1, model.NewMember())
	if got := l.Open(0, 0, 0).Timeout; got != 4*time.Second {
		t.Errorf("by the default tick: got %v, want 4s", got)
	}
}

// As in ZooKeeper's ExpiryQueue: a session expires at the tick after the timeout,
// even if the timeout is at a tick.
func TestExpiryComesWithTheNextTick(t *testing.T) {
	for _, c := range []struct{ opened, touched, want time.Duration }{
		{0, 0, 3 * tick},
		{ms, ms, 3 * tick},
		{tick - ms/1000, 0, 3 * tick},
		{tick, tick, 4 * tick},
		{0, tick - ms, 3 * tick},
		{0, tick, 4 * tick},
		{0, 3*tick - 1, 5 * tick},
	} {
		e := newEnsemble(t)
		s := e.commit(e.leader.Open(c.opened, 0, 2*tick), true).Session
		if c.touched > c.opened && !e.leader.Touch(c.touched, s) {
			t.Errorf("%+v: ended already", c)
		}
		if due, ok := e.leader.NextExpiry(); !ok || due != c.want {
			t.Errorf("%+v: expires at %v, %v", c, due, ok)
		}
		if x := e.leader.Expire(c.want - 1); len(x) != 0 {
			t.Errorf("%+v: %+v before it is due", c, x)
		}
		if !e.leader.Touch(c.touched, s) {
			t.Errorf("%+v: a sign of life that is not later was refused", c)
		}
		if x := e.leader.Expire(c.want); len(x) != 1 || x[0].Session != s || x[0].Kind != model.Closing {
			t.Errorf("%+v: %+v when it is due", c, x)
		}
		if _, ok := e.leader.NextExpiry(); ok {
			t.Errorf("%+v: another expiry is due", c)
		}
	}
}

func TestASessionThatHasEndedIsRefused(t *testing.T) {
	for name, end := range map[string]func(*ensemble, int64) time.Duration{
		"expired": func(e *ensemble, _ int64) time.Duration {
			for _, x := range e.leader.Expire(time.Hour) {
				e.commit(x, true)
			}
			return time.Hour
		},
		"due": func(e *ensemble, _ int64) time.Duration {
			due, _ := e.leader.NextExpiry()
			return due
		},
		"closed": func(e *ensemble, s int64) time.Duration {
			e.commit(e.leader.Close(0, s, 1))
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnsemble(t)
			s := e.open()
			now, zxid := end(e, s), e.leader.Zxid()
			if x, ok := e.leader.Propose(now, s, 1, create("/a", 0)); ok {
				t.Errorf("proposed %+v", x)
			}
			if e.leader.Touch(now, s) {
				t.Error("touched")
			}
			if x, ok := e.leader.Close(now, s, 1); ok {
				t.Errorf("closed: %+v", x)
			}
			if e.leader.Zxid() != zxid {
				t.Error("a refused request took a transaction")
			}
			if has := e.members[0].Has(s); has != (name == "due") {
				t.Errorf("a member has the session: %v", has)
			}
		})
	}
}

func TestANewLeaderRestartsEverySessionsTimeout(t *testing.T) {
	e := newEnsemble(t)
	s := e.open()
	e.do(s, create("/e", zookeeper.Ephemeral), zookeeper.OK)
	const elected = 9 * tick
	e.leader.Lead(elected, tick, 2, e.members[1])
	if due, _ := e.leader.NextExpiry(); due != elected+session+tick {
		t.Errorf("due at %v, want %v", due, elected+session+tick)
	}
	for _, x := range e.leader.Expire(time.Hour) {
		e.commit(x, true)
	}
	if r := e.members[0].Read(0, read(zookeeper.Exists, "/e")); r.Code != zookeeper.NoNode {
		t.Errorf("the node of the expired session: %+v", r)
	}
}

func TestMembersThatComeBack(t *testing.T) {
	for name, back := range map[string]func(e *ensemble, m *model.Member){
		"with its disk": func(e *ensemble, m *model.Member) {
			m.Restart()
			for _, x := range e.log {
				m.Commit(x)
			}
		},
		"with nothing, by the log": func(e *ensemble, m *model.Member) {
			m.Reset()
			for _, x := range e.log {
				m.Commit(x)
			}
		},
		"lagging, by a snapshot": func(e *ensemble, m *model.Member) {
			m.CopyFrom(e.members[0])
		},
		"with nothing, by a snapshot": func(e *ensemble, m *model.Member) {
			m.Reset()
			m.CopyFrom(e.members[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnsemble(t)
			s, m := e.open(), e.members[1]
			e.do(s, create("/e", zookeeper.Ephemeral), zookeeper.OK)
			m.Read(s, read(zookeeper.GetData, "/e"))
			e.members[1] = e.members[0] // m is down
			e.do(s, set("/e"), zookeeper.OK)
			e.members[1] = m
			back(e, m)
			e.wantEvents(m, s)
			if r := m.Read(s, zookeeper.Command{Verb: zookeeper.GetData, Path: "/e"}); r.Data != "v" {
				t.Errorf("got %+v", r)
			}
			if string(m.AppendState(nil)) != string(e.members[0].AppendState(nil)) {
				t.Errorf("got\n%s, want\n%s", m.AppendState(nil), e.members[0].AppendState(nil))
			}
			e.commit(e.leader.Close(0, s, 1))
			e.wantEvents(m, s)
			if r := m.Read(0, read(zookeeper.Exists, "/e")); r.Code != zookeeper.NoNode {
				t.Errorf("the node of the closed session: %+v", r)
			}
		})
	}
}
