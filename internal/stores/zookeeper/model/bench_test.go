package model_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// cycle is the life of a lock: a node is queued, listed, watched and deleted, and
// another request is refused.
func cycle(leader *model.Leader, members []*model.Member, s int64) {
	do := func(c zookeeper.Command) string {
		x, _ := leader.Propose(0, s, 1, c)
		leader.Committed(x.Zxid)
		for _, m := range members {
			m.Commit(x)
			m.Fired()
			m.Effects()
		}
		return x.Path
	}
	path := do(create("/lock/n-", zookeeper.Ephemeral|zookeeper.Sequential))
	members[0].Read(s, read(zookeeper.GetChildren, "/lock"))
	members[0].Read(s, read(zookeeper.Exists, path))
	do(create("/lock", 0))
	do(remove(path))
}

func begin() (*model.Leader, []*model.Member, int64) {
	members := []*model.Member{model.NewMember(), model.NewMember(), model.NewMember()}
	leader := new(model.Leader)
	leader.Lead(0, tick, 1, members[0])
	opened := leader.Open(0, 0, session)
	made, _ := leader.Propose(0, opened.Session, 1, create("/lock", 0))
	for _, m := range members {
		m.Commit(opened)
		m.Commit(made)
	}
	return leader, members, opened.Session
}

// BenchmarkProposeAndCommit measures three writes, decided and applied by three
// members, and two reads.
func BenchmarkProposeAndCommit(b *testing.B) {
	leader, members, s := begin()
	b.ReportAllocs()
	for b.Loop() {
		cycle(leader, members, s)
	}
}

func BenchmarkTouch(b *testing.B) {
	leader, _, s := begin()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		leader.Touch(ms, s)
	}
}

func BenchmarkReset(b *testing.B) {
	leader, members, s := begin()
	b.ReportAllocs()
	for b.Loop() {
		cycle(leader, members, s)
		for _, m := range members {
			m.Reset()
		}
		leader.Lead(0, tick, 1, members[0])
		opened := leader.Open(0, 0, session)
		made, _ := leader.Propose(0, opened.Session, 1, create("/lock", 0))
		for _, m := range members {
			m.Commit(opened)
			m.Commit(made)
		}
	}
}

// A run makes many requests, so they must not allocate memory, except for new
// names and requested lists.
func TestWritesAllocateOnlyNewNames(t *testing.T) {
	leader, members, s := begin()
	step := func() { cycle(leader, members, s) }
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n > 2 {
		t.Errorf("%v allocations for a lock's life, want 2: a path and a list", n)
	}
}
