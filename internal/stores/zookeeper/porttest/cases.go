package porttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// testCase is a sequence of requests below an existing node, with the answers of
// ZooKeeper 3.8.
type testCase struct {
	name  string
	steps []step
}

// step is a request and its answer. A Stat in the answer calls the sessions 1 and
// 2. Only the order of zxids counts: root0 is the one that created the base node
// of the case.
type step struct {
	on   int // index of the session, 0 or 1: each is on a server of its own
	do   zookeeper.Command
	want zookeeper.Reply
}

const root0 = 1 // the zxid of the base node

// The answers.
var (
	done   = zookeeper.Reply{}
	noNode = refusal(zookeeper.NoNode)
)

func refusal(c zookeeper.Code) zookeeper.Reply { return zookeeper.Reply{Code: c} }
func at(path string) zookeeper.Reply           { return zookeeper.Reply{Path: path} }

func held(data string, s zookeeper.Stat) zookeeper.Reply {
	s.DataLength = int32(len(data))
	return zookeeper.Reply{Data: data, Stat: s}
}

func list(s zookeeper.Stat, names ...string) zookeeper.Reply {
	s.NumChildren = int32(len(names))
	return zookeeper.Reply{Children: names, Stat: s}
}

func known(s zookeeper.Stat) zookeeper.Reply { return zookeeper.Reply{Stat: s} }

// born returns the Stat of a node created by the transaction z.
func born(z int64) zookeeper.Stat { return zookeeper.Stat{Czxid: z, Mzxid: z, Pzxid: z} }

// base returns the Stat of the base node after z has changed its list of children
// as the nth change.
func base(z int64, n int32) zookeeper.Stat {
	return zookeeper.Stat{Czxid: root0, Mzxid: root0, Pzxid: z, CVersion: n}
}

func cases() []testCase {
	return []testCase{
		{name: "an empty node", steps: []step{
			{do: exists("/a"), want: noNode},
			{do: getData("/a"), want: noNode},
			{do: children("/a"), want: noNode},
			{do: setData("/a", "v", anyVersion), want: noNode},
			{do: setData("/a", "v", 3), want: noNode},
			{do: remove("/a", anyVersion), want: noNode},
			{do: remove("/a/b", anyVersion), want: noNode},
			{do: create("/a/b", "", persistent), want: noNode},
			{do: create("/a/b", "", ephemeral|sequential), want: noNode},
			{do: flush("/a"), want: done},
			{do: children(""), want: list(base(root0, 0))},
		}},
		{name: "create, read, delete", steps: []step{
			{do: create("/a", "v", persistent), want: at("/a")},
			{do: getData("/a"), want: held("v", born(2))},
			{do: exists("/a"), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 2, Pzxid: 2, DataLength: 1})},
			{do: children("/a"), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 2, Pzxid: 2, DataLength: 1})},
			{do: create("/a", "w", persistent), want: refusal(zookeeper.NodeExists)},
			{do: create("/a", "w", ephemeral), want: refusal(zookeeper.NodeExists)},
			{do: getData("/a"), want: held("v", born(2))},
			{do: children(""), want: list(base(2, 1), "a")},
			{do: remove("/a", 0), want: done},
			{do: exists("/a"), want: noNode},
			{do: remove("/a", anyVersion), want: noNode},
			{do: children(""), want: list(base(3, 2))},
		}},
		{name: "empty data is valid", steps: []step{
			{do: create("/a", "", persistent), want: at("/a")},
			{do: getData("/a"), want: held("", born(2))},
			{do: setData("/a", strings.Repeat("x", 5000), anyVersion), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 3, Pzxid: 2, Version: 1, DataLength: 5000})},
			{do: setData("/a", "", anyVersion), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 4, Pzxid: 2, Version: 2})},
			{do: getData("/a"), want: held("", zookeeper.Stat{Czxid: 2, Mzxid: 4, Pzxid: 2, Version: 2})},
		}},
		{name: "versions", steps: []step{
			{do: create("/a", "v0", persistent), want: at("/a")},
			{do: setData("/a", "v", 1), want: refusal(zookeeper.BadVersion)},
			{do: setData("/a", "v1", 0), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 3, Pzxid: 2, Version: 1, DataLength: 2})},
			{do: setData("/a", "v", 0), want: refusal(zookeeper.BadVersion)},
			{do: setData("/a", "v1", anyVersion), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 4, Pzxid: 2, Version: 2, DataLength: 2})},
			{do: setData("/a", "v3", 2), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 5, Pzxid: 2, Version: 3, DataLength: 2})},
			{do: getData("/a"), want: held("v3", zookeeper.Stat{Czxid: 2, Mzxid: 5, Pzxid: 2, Version: 3})},
			{do: remove("/a", 2), want: refusal(zookeeper.BadVersion)},
			{do: remove("/a", 3), want: done},
			{do: create("/a", "", persistent), want: at("/a")},
			{do: exists("/a"), want: known(born(7))},
			{do: exists(""), want: known(zookeeper.Stat{Czxid: root0, Mzxid: root0, Pzxid: 7, CVersion: 3, NumChildren: 1})},
		}},
		{name: "a node with children stays", steps: []step{
			{do: create("/a", "", persistent), want: at("/a")},
			{do: create("/a/b", "", persistent), want: at("/a/b")},
			{do: create("/a/c", "", persistent), want: at("/a/c")},
			{do: create("/a/b/d", "", persistent), want: at("/a/b/d")},
			{do: remove("/a", anyVersion), want: refusal(zookeeper.NotEmpty)},
			{do: remove("/a", 1), want: refusal(zookeeper.BadVersion)},
			{do: children("/a"), want: list(zookeeper.Stat{Czxid: 2, Mzxid: 2, Pzxid: 4, CVersion: 2}, "b", "c")},
			{do: remove("/a/b/d", anyVersion), want: done},
			{do: remove("/a/b", anyVersion), want: done},
			{do: remove("/a/c", anyVersion), want: done},
			{do: children("/a"), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 2, Pzxid: 8, CVersion: 4})},
			{do: remove("/a", anyVersion), want: done},
		}},
		{name: "sequence numbers count created nodes", steps: []step{
			{do: create("/s-", "", sequential), want: at("/s-0000000000")},
			{do: create("/t", "", persistent), want: at("/t")},
			{do: create("/s-", "", sequential), want: at("/s-0000000002")},
			{do: remove("/s-0000000002", anyVersion), want: done},
			{do: create("/u-", "", ephemeral|sequential), want: at("/u-0000000003")},
			{do: create("/t", "", persistent), want: refusal(zookeeper.NodeExists)},
			{do: create("/", "", sequential), want: at("/0000000004")},
			{on: 1, do: create("/s-", "", sequential), want: at("/s-0000000005")},
			{on: 1, do: exists(""), want: known(zookeeper.Stat{Czxid: root0, Mzxid: root0, Pzxid: 8, CVersion: 7, NumChildren: 5})},
			{do: create("/s-0000000006", "", persistent), want: at("/s-0000000006")},
			{do: create("/s-", "", sequential), want: at("/s-0000000007")},
		}},
		{name: "a taken number", steps: []step{
			{do: create("/s-0000000001", "", persistent), want: at("/s-0000000001")},
			{do: create("/s-", "", sequential), want: refusal(zookeeper.NodeExists)},
			{do: create("/s-", "", sequential), want: refusal(zookeeper.NodeExists)},
			{do: create("/t", "", persistent), want: at("/t")},
			{do: create("/s-", "", sequential), want: at("/s-0000000002")},
		}},
		{name: "ephemeral nodes", steps: []step{
			{do: create("/e", "v", ephemeral), want: at("/e")},
			{do: getData("/e"), want: held("v", zookeeper.Stat{Czxid: 2, Mzxid: 2, Pzxid: 2, Owner: 1})},
			{on: 1, do: create("/f", "", ephemeral), want: at("/f")},
			{do: flush(""), want: done},
			{do: exists("/f"), want: known(zookeeper.Stat{Czxid: 3, Mzxid: 3, Pzxid: 3, Owner: 2})},
			{do: create("/e/a", "", persistent), want: refusal(zookeeper.NoChildrenForEphemerals)},
			{on: 1, do: create("/e/a", "", ephemeral|sequential), want: refusal(zookeeper.NoChildrenForEphemerals)},
			{do: children("/e"), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 2, Pzxid: 2, Owner: 1, DataLength: 1})},
			{on: 1, do: setData("/e", "", 0), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 4, Pzxid: 2, Version: 1, Owner: 1})},
			{on: 1, do: remove("/e", anyVersion), want: done},
			{do: flush(""), want: done},
			{do: exists("/e"), want: noNode},
			{on: 1, do: create("/e", "", ephemeral), want: at("/e")},
			{on: 1, do: exists("/e"), want: known(zookeeper.Stat{Czxid: 6, Mzxid: 6, Pzxid: 6, Owner: 2})},
		}},
		{name: "bad paths", steps: badPaths()},
		{name: "one server after the other", steps: []step{
			{do: create("/a", "v", persistent), want: at("/a")},
			{on: 1, do: create("/a", "", persistent), want: refusal(zookeeper.NodeExists)},
			{on: 1, do: getData("/a"), want: held("v", born(2))}, // the refusal came after the transaction that caused it
			{do: setData("/a", "w", 0), want: known(zookeeper.Stat{Czxid: 2, Mzxid: 3, Pzxid: 2, Version: 1, DataLength: 1})},
			{on: 1, do: flush("/a"), want: done},
			{on: 1, do: getData("/a"), want: held("w", zookeeper.Stat{Czxid: 2, Mzxid: 3, Pzxid: 2, Version: 1})},
			{on: 1, do: remove("/a", 1), want: done},
			{do: remove("/a", anyVersion), want: noNode},
			{do: exists("/a"), want: noNode},
		}},
	}
}

func badPaths() []step {
	var steps []step
	for _, path := range []string{"a", "//", "/a/", "/a//b", "/a/../b", "/a/..", "/b/./a", "/b/.", "/a\x00", "/a\x1fb", "/\x7f"} {
		for _, c := range []zookeeper.Command{
			create(path, "", persistent), remove(path, anyVersion), setData(path, "", anyVersion),
			exists(path), watching(exists(path)), getData(path), children(path), flush(path),
		} {
			steps = append(steps, step{do: c, want: refusal(zookeeper.BadArguments)})
		}
	}
	return append(steps,
		step{do: create("//", "", sequential), want: refusal(zookeeper.BadArguments)},
		step{do: create("/...", "", persistent), want: at("/...")},
		step{do: create("/.a ä漢", "", persistent), want: at("/.a ä漢")},
		step{do: children(""), want: list(base(3, 2), "...", ".a ä漢")},
	)
}

func runCases(t *testing.T, w World) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			x := newTester(t, w)
			on := []zookeeper.Handle{x.open(0, long), x.open(1, long)}
			l := mapping{root: x.root, owners: map[int64]int64{1: on[0].ID(), 2: on[1].ID()}}
			l.sameZxid(pair{x.ok(on[0], exists("")).Stat.Czxid, root0})
			x.ok(on[1], flush(""))
			for i, s := range c.steps {
				if got := x.do(on[s.on], s.do); !l.same(got, s.want) {
					t.Fatalf("%d %s: got %s, want %s", i, describe(s.do), show(got), show(s.want))
				}
			}
		})
	}
}

// show formats r for people.
func show(r zookeeper.Reply) string {
	if r.Code != zookeeper.OK {
		return r.Code.Error()
	}
	return fmt.Sprintf("%.200s", fmt.Sprintf("%+v", r))
}
