package model_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

func TestAttach(t *testing.T) {
	for _, c := range []struct {
		name   string
		watch  model.WatchKind
		before []zookeeper.Command
		missed []zookeeper.Command
		want   zookeeper.EventType // 0: none, the watch is set
	}{
		{"data, the same", model.DataWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{create("/a/b", 0)}, 0},
		{"data, changed", model.DataWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{set("/a")}, zookeeper.NodeDataChanged},
		{"data, created again", model.DataWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{remove("/a"), create("/a", 0)}, zookeeper.NodeDataChanged},
		{"data, gone", model.DataWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{remove("/a")}, zookeeper.NodeDeleted},
		{"exists, the same", model.ExistWatch, nil, nil, 0},
		{"exists, come and gone", model.ExistWatch, nil, []zookeeper.Command{create("/a", 0), remove("/a")}, 0},
		{"exists, come", model.ExistWatch, nil, []zookeeper.Command{create("/a", 0)}, zookeeper.NodeCreated},
		{"children, the same", model.ChildWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{set("/a")}, 0},
		{"children, one more", model.ChildWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{create("/a/b", 0)}, zookeeper.NodeChildrenChanged},
		{"children, come and gone", model.ChildWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{create("/a/b", 0), remove("/a/b")}, zookeeper.NodeChildrenChanged},
		{"children, gone", model.ChildWatch, []zookeeper.Command{create("/a", 0)}, []zookeeper.Command{remove("/a")}, zookeeper.NodeDeleted},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnsemble(t)
			s, other := e.open(), e.open()
			for _, do := range c.before {
				e.do(s, do, zookeeper.OK)
			}
			seen := e.members[0].Zxid()
			for _, do := range c.missed {
				e.do(other, do, zookeeper.OK)
			}
			m, w := e.members[1], model.Watch{Kind: c.watch, Path: "/a"}
			if m.Attach(s, []model.Watch{w}, m.Zxid()+1) {
				t.Error("a client was accepted that has seen more than the server")
			}
			e.wantEvents(m, s)
			if !m.Attach(s, []model.Watch{w}, seen) {
				t.Fatal("the client was refused")
			}
			if c.want != 0 {
				e.wantEvents(m, s, event(c.want, "/a"))
				return
			}
			e.wantEvents(m, s)
			for _, do := range []zookeeper.Command{create("/a", 0), create("/a/c", 0), remove("/a/c"), set("/a")} {
				x, _ := e.leader.Propose(0, other, 1, do)
				m.Commit(x)
			}
			if fired := m.Fired(); len(fired) != 1 || !w.Ends(fired[0].Event) {
				t.Errorf("after it: %v", fired)
			}
		})
	}
}

// A server repeats the deletion of a node for each kind of watch on it.
func TestAttachRepeatsADeletion(t *testing.T) {
	e := newEnsemble(t)
	s, m := e.open(), e.members[0]
	both := []model.Watch{{Kind: model.ChildWatch, Path: "/a"}, {Kind: model.DataWatch, Path: "/a"}}
	if !m.Attach(s, both, 0) {
		t.Fatal("the client was refused")
	}
	e.wantEvents(m, s, event(zookeeper.NodeDeleted, "/a"), event(zookeeper.NodeDeleted, "/a"))
}
