package model_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// drawnCommand is any request on a few paths.
var drawnCommand = rapid.Custom(func(t *rapid.T) zookeeper.Command {
	return zookeeper.Command{
		Verb:    rapid.SampledFrom([]zookeeper.Verb{zookeeper.Create, zookeeper.Exists, zookeeper.Delete, zookeeper.GetChildren, zookeeper.SetData, zookeeper.Create, zookeeper.GetData}).Draw(t, "verb"),
		Path:    rapid.SampledFrom([]string{"/a", "/a/b", "/", "/b", "/a/b/c", "/s-", "/s-0000000001", "/a/", "", "/zookeeper/quota"}).Draw(t, "path"),
		Data:    rapid.SampledFrom([]string{"", "v"}).Draw(t, "data"),
		Mode:    zookeeper.Mode(rapid.IntRange(0, 3).Draw(t, "mode")),
		Version: rapid.Int32Range(-1, 1).Draw(t, "version"),
		Watch:   rapid.Bool().Draw(t, "watch"),
	}
})

// In any order of requests, and however the members lag: the same log leads to
// the same state in every member. A watch fires at most once, and only for an
// existing watch. A closed session leaves nothing behind.
func TestMembersAgree(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		var (
			leader  model.Leader
			members = [3]*model.Member{model.NewMember(), model.NewMember(), model.NewMember()}
			log     []model.Txn
			heard   [3]int // position in the log
			open    []int64
			waits   = [3]map[int64][]model.Watch{{}, {}, {}}
			epoch   = int32(1)
		)
		leader.Lead(0, tick, epoch, members[0])
		fired := func(n int) {
			for _, f := range members[n].Fired() {
				left := slices.DeleteFunc(slices.Clone(waits[n][f.Session]), func(w model.Watch) bool { return w.Ends(f.Event) })
				if len(left) == len(waits[n][f.Session]) {
					t.Fatalf("member %d sent session %#x %v, but its watches are %v", n, f.Session, f.Event, left)
				}
				waits[n][f.Session] = left
			}
		}
		catchUp := func(n, to int) {
			for _, x := range log[heard[n]:to] {
				members[n].Commit(x)
				fired(n)
			}
			heard[n] = max(heard[n], to)
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(*rapid.T) {
				x := leader.Open(0, 0, session)
				log, open = append(log, x), append(open, x.Session)
			},
			"close": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "session")
				x, _ := leader.Close(0, open[i], 0)
				log, open = append(log, x), slices.Delete(open, i, i+1)
			},
			"request": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				c, s := drawnCommand.Draw(t, "request"), rapid.SampledFrom(open).Draw(t, "session")
				if c.Verb == zookeeper.Create || c.Verb == zookeeper.Delete || c.Verb == zookeeper.SetData {
					x, ok := leader.Propose(0, s, 1, c)
					if log = append(log, x); !ok {
						t.Fatalf("session %#x has ended", s)
					}
					return
				}
				n := rapid.IntRange(0, 2).Draw(t, "member")
				if w, ok := model.WatchOf(c, members[n].Read(s, c)); ok {
					waits[n][s] = append(waits[n][s], w)
				}
			},
			"hear": func(t *rapid.T) {
				n := rapid.IntRange(0, 2).Draw(t, "member")
				catchUp(n, rapid.IntRange(heard[n], len(log)).Draw(t, "until"))
			},
			"connect again": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				s, n := rapid.SampledFrom(open).Draw(t, "session"), rapid.IntRange(0, 2).Draw(t, "member")
				members[n].Detach(s)
				if !members[n].Attach(s, waits[n][s], members[n].Zxid()) {
					t.Fatal("refused a client that has not seen more")
				}
				fired(n)
			},
			"another leader": func(t *rapid.T) {
				n := rapid.IntRange(0, 2).Draw(t, "member")
				catchUp(n, len(log))
				epoch++
				leader.Lead(0, tick, epoch, members[n])
			},
			"new member": func(t *rapid.T) {
				n := rapid.IntRange(0, 2).Draw(t, "member")
				members[n].CopyFrom(members[(n+1)%3])
				heard[n], waits[n] = heard[(n+1)%3], map[int64][]model.Watch{}
			},
			"": func(t *rapid.T) {
				for n, m := range members {
					fresh := model.NewMember()
					for _, x := range log[:heard[n]] {
						fresh.Commit(x)
					}
					m := copyOf(m)
					if got, want := m.AppendState(nil), fresh.AppendState(nil); string(got) != string(want) {
						t.Fatalf("member %d holds\n%s, and its log makes\n%s", n, got, want)
					}
					ownersAreOpen(t, m, fresh, "/")
				}
			},
		})
		for n := range members {
			catchUp(n, len(log))
		}
	})
}

// copyOf returns a copy of m without its watches.
func copyOf(m *model.Member) *model.Member {
	c := model.NewMember()
	c.CopyFrom(m)
	return c
}

// ownersAreOpen checks the nodes below path with client requests.
func ownersAreOpen(t *rapid.T, m, sessions *model.Member, path string) {
	r := m.Read(0, zookeeper.Command{Verb: zookeeper.GetChildren, Path: path})
	if r.Stat.Owner != 0 && !sessions.Has(r.Stat.Owner) {
		t.Fatalf("%s is there, and its session %#x is not", path, r.Stat.Owner)
	}
	if int(r.Stat.NumChildren) != len(r.Children) || !slices.IsSorted(r.Children) {
		t.Fatalf("%s: %+v", path, r)
	}
	for _, name := range r.Children {
		ownersAreOpen(t, m, sessions, strings.TrimSuffix(path, "/")+"/"+name)
	}
}
