package checker

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

// TestNamesDoNotMatter checks that the names of clients, locks, servers, processes,
// grants and indices do not change verdicts.
func TestNamesDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, p := range Properties {
		for _, s := range specs[p] {
			t.Run(string(p)+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				h := story(t, s.story)
				want, got := Judge(h), Judge(renamed(h))
				for i := range want {
					if want[i].Outcome != got[i].Outcome || !reflect.DeepEqual(positions(want[i]), positions(got[i])) {
						t.Errorf("%s was %s %v and is %s %v", want[i].Property,
							want[i].Outcome, positions(want[i]), got[i].Outcome, positions(got[i]))
					}
				}
				if want, got := Reach(h), Reach(renamed(h)); want != got {
					t.Errorf("it reached %v, and now %v", want.Map(), got.Map())
				}
			})
		}
	}
}

func positions(v Verdict) []int {
	if v.Witness == nil {
		return nil
	}
	return v.Witness.Entries
}

// renamed returns h with other names. Numbers become large, so that they are looked
// up in another way, and indices get gaps.
func renamed(h *history.History) *history.History {
	r := &history.History{Header: h.Header, Entries: slices.Clone(h.Entries)}
	name := func(s string) string {
		if s == "" || s == history.Resource || s == history.Nemesis {
			return s
		}
		return "the one called " + s
	}
	index := func(o history.Opt) history.Opt { return history.Opt{V: 7*o.V + 1000, Set: o.Set} }
	for i := range r.Entries {
		e := &r.Entries[i]
		e.Index = int(index(history.Some(int64(e.Index))).V)
		e.By, e.Op = index(e.By), index(e.Op)
		e.Client, e.Process.Name = name(e.Client), name(e.Process.Name)
		if e.Process.Client() {
			e.Process.N = 1_000_000 - 3*e.Process.N
			e.Lock = "lock " + e.Lock
		} else if e.Lock != "" || e.Process.Name == history.Resource {
			e.Lock = "lock " + e.Lock
		}
		if e.F == history.Promote {
			e.Text = name(e.Text)
		}
		if e.Grant != 0 {
			e.Grant = 1_000_000 + 11*e.Grant
		}
		e.On = slices.Clone(e.On)
		for j := range e.On {
			e.On[j] = name(e.On[j])
		}
	}
	return r
}
