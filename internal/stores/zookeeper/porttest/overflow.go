package porttest

import (
	"math"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// endOfNumbers tests that the counter of a node stops at 2147483647. Without
// overlapping creates no child gets a negative number, although the Programmer's
// Guide announces it: a server does not accept a counter that is less than its
// own.
func endOfNumbers(t *testing.T, w Counting) {
	x := &tester{t, w, root()}
	w.Preset(x.root, math.MaxInt32-1)
	h, other := x.open(0, long), x.open(1, long)
	first := x.ok(h, exists("")).Stat
	for _, s := range []struct {
		do       zookeeper.Command
		want     zookeeper.Reply
		cversion int32 // of the node: twice the counter minus the number of its children
		counted  bool  // this step was the last change of its list of children
	}{
		{create("/a-", "", sequential), at("/a-2147483646"), -3, true},
		{create("/b-", "", sequential), at("/b-2147483647"), -4, false},
		{create("/c-", "", ephemeral|sequential), at("/c-2147483647"), -5, false},
		{create("/b-", "", sequential), refusal(zookeeper.NodeExists), -5, false},
		{create("/d", "", persistent), at("/d"), -6, false},
		{remove("/b-2147483647", anyVersion), done, -5, true},
		{create("/b-", "", sequential), at("/b-2147483647"), -6, false},
		{remove("/a-2147483646", anyVersion), done, -5, true},
		{create("/a-", "", sequential), at("/a-2147483647"), -6, false},
	} {
		before := x.ok(h, exists("")).Stat
		got := x.do(h, s.do)
		if got.Code != s.want.Code || s.want.Path != "" && got.Path != x.root+s.want.Path {
			t.Errorf("%s: got %s, want %s", describe(s.do), show(got), show(s.want))
		}
		x.ok(other, flush(""))
		for _, on := range []zookeeper.Handle{h, other} {
			stat := x.ok(on, exists("")).Stat
			if stat.CVersion != s.cversion || (stat.Pzxid > before.Pzxid) != s.counted || stat.Czxid != first.Czxid {
				t.Errorf("%s: then the node is %+v, and was %+v", describe(s.do), stat, before)
			}
		}
	}
}
