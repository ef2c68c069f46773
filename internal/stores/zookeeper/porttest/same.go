package porttest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// mapping maps names between two ensembles, or an ensemble and a table of wanted
// answers. Sessions are mapped by number. Zxids may be any numbers in the same
// order.
type mapping struct {
	root   string          // path in the first that corresponds to "" in the second
	owners map[int64]int64 // session numbers of the first, by those of the second
	zxids  []pair          // sorted
}

type pair struct{ got, want int64 }

// same reports whether got equals want.
func (l *mapping) same(got, want zookeeper.Reply) bool {
	path, below := strings.CutPrefix(got.Path, l.root)
	return got.Code == want.Code && path == want.Path && (below || got.Path == "") &&
		got.Data == want.Data && slices.Equal(slices.Sorted(slices.Values(got.Children)), want.Children) &&
		l.sameStat(got.Stat, want.Stat)
}

func (l *mapping) sameStat(got, want zookeeper.Stat) bool {
	if want == (zookeeper.Stat{}) {
		return got == want
	}
	if want.Owner != 0 {
		want.Owner = l.owners[want.Owner]
	}
	for _, p := range [...]pair{{got.Czxid, want.Czxid}, {got.Mzxid, want.Mzxid}, {got.Pzxid, want.Pzxid}} {
		if !l.sameZxid(p) {
			return false
		}
	}
	got.Czxid, got.Mzxid, got.Pzxid = want.Czxid, want.Mzxid, want.Pzxid
	return got == want
}

// sameZxid notes that the two zxids of p belong to the same transaction. It
// returns false if that is impossible.
func (l *mapping) sameZxid(p pair) bool {
	i, found := slices.BinarySearchFunc(l.zxids, p, func(a, b pair) int { return cmp.Compare(a.want, b.want) })
	switch {
	case found:
		return l.zxids[i] == p
	case i > 0 && l.zxids[i-1].got >= p.got, i < len(l.zxids) && l.zxids[i].got <= p.got:
		return false
	}
	l.zxids = slices.Insert(l.zxids, i, p)
	return true
}
