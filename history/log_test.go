package history_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// A Log returns the entries that were added, in order and individually.
func TestALogKeepsEntries(t *testing.T) {
	t.Parallel()
	rapidtest.Check(t, func(t *rapid.T) {
		opt := rapid.Custom(func(t *rapid.T) history.Opt {
			if rapid.Bool().Draw(t, "set") {
				return history.Some(rapid.Int64().Draw(t, "value"))
			}
			return history.Opt{}
		})
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) history.Entry {
			e := rapid.Make[history.Entry]().Draw(t, "entry")
			e.Type = history.Type(rapid.IntRange(1, 5).Draw(t, "type"))
			e.Value, e.Was, e.By, e.Op, e.Hits = opt.Draw(t, "value"), opt.Draw(t, "was"), opt.Draw(t, "by"), opt.Draw(t, "op"), opt.Draw(t, "hits")
			if e.Process.Name != "" {
				e.Process.N = 0
			}
			if len(e.On) == 0 {
				e.On = nil
			}
			if rapid.Bool().Draw(t, "named by its process") {
				e.Client = e.Process.String()
			}
			return e
		}), 1, 200).Draw(t, "entries")
		if rapid.Bool().Draw(t, "numbered") {
			for i := range list {
				list[i].Index = 7 + i
			}
		}
		var l history.Log
		for i := range list {
			l.Add(&list[i])
		}
		n := 0
		for pos, e := range l.All {
			if n++; pos != n-1 || !reflect.DeepEqual(*e, list[pos]) {
				t.Fatalf("entry %d is\n%+v\nwas\n%+v", pos, *e, list[pos])
			}
		}
		pos := rapid.IntRange(0, len(list)-1).Draw(t, "position")
		var e history.Entry
		if l.At(pos, &e); n != len(list) || n != l.Len() || !reflect.DeepEqual(e, list[pos]) || l.Time(pos) != e.Time || l.Index(pos) != e.Index {
			t.Fatalf("of %d entries %d came; entry %d is\n%+v\nwas\n%+v", len(list), n, pos, e, list[pos])
		}
	})
}
