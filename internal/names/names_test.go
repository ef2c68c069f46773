package names

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/faults"
)

func TestTheNearestNames(t *testing.T) {
	known := []string{"pause", "kill", "kill-connection", "delay", "server-pause"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"puase", []string{"pause"}},
		{"PAUSE", []string{"pause"}},
		{"kil", []string{"kill", "kill-connection"}},
		{"connection", []string{"kill-connection"}},
		{"entirely-else", nil},
	} {
		if got := Nearest(c.name, known); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A long list is not printed in full: the error has the nearest names, and the command
// that lists all.
func TestAnUnknownNameIsSaidInALine(t *testing.T) {
	for _, c := range []struct {
		what, name string
		known      []string
		want       string
	}{
		{"lock", "redis-setlua", Locks(), `no lock "redis-setlua"; did you mean redis-set-lua or redis-setnx or redis-set-del?`},
		{"lock", "etcd", Locks(), `no lock "etcd"; the nearest are redlock, zk-recipe, redis-setnx (all: lockcheck list locks)`},
		{"option", "quickly", Options(), `no option "quickly"; the nearest are token, spin, cap (all: lockcheck list locks)`},
		{"strategy", "luck", []string{"random", "pct"}, `no strategy "luck"; there are random, pct`},
	} {
		if got := Unknown(c.what, c.name, c.known).Error(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := Some(Locks()); got != "redis-setnx, redis-setnx-expire, redis-setnx-getset and 29 more" {
		t.Error(got)
	}
}

// Each mistake in a list names the item that is wrong.
func TestListsOfFaults(t *testing.T) {
	usual := len(faults.Usual())
	for _, c := range []struct {
		list  string
		want  int // faults
		items []int
		words string
	}{
		{"pause,kill", 2, nil, ""},
		{"none", 0, nil, ""},
		{"all,-pause", usual - 1, nil, ""},
		{"-pause,-kill", usual - 2, nil, ""},
		{"all,entry-lost", usual + 1, nil, ""},
		{"entry-lost,entry-changed", 2, nil, ""},
		{"all,-entry-lost", usual, []int{1}, "takes out what is not"},
		{"puase,kill,klil", 1, []int{0, 2}, "did you mean pause?"},
		{"pause,none", 2, nil, ""},
		{"none,all", usual + 1, nil, ""},
		{"pause,-none", 1, []int{1}, `no fault "none"`},
		{"pause,-pause", 0, []int{-1}, "leaves no kind"},
		{"pause,-kill", 1, []int{1}, "takes out what is not"},
	} {
		kinds, wrong := ChooseFaults(strings.Split(c.list, ","))
		var items []int
		for _, w := range wrong {
			items = append(items, w.Item)
		}
		if len(kinds) != c.want || !slices.Equal(items, c.items) {
			t.Errorf("%s: %d faults, %v", c.list, len(kinds), wrong)
		}
		if c.words != "" && !strings.Contains(wrong[0].Err.Error(), c.words) {
			t.Errorf("%s: %v", c.list, wrong[0].Err)
		}
	}
}

func TestNumbersAreWrittenAlike(t *testing.T) {
	for got, want := range map[string]string{
		Count(1, "run"): "1 run", Count(0, "run"): "0 runs", Count(12345, "entry"): "12,345 entries",
		Thousands(999): "999", Thousands(1_000_000): "1,000,000",
		Numbered("shard", []int{3}): "shard 3", Numbered("shard", []int{1, 3}): "shards 1, 3",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
