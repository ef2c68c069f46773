package checker

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// spread gives the faults of h their own ids and adds a second line to some lines of
// the nemesis, later than the first. It returns the positions of both.
func spread(t *rapid.T, h *history.History) (pairs [][2]int) {
	var list []history.Entry
	open := map[string][]int{} // by name: positions of faults without an end
	due := map[int]int{}       // by the index of a line: the position of its first line
	last := map[int]int{}      // by id: the position before which its second line has to come
	for i := range h.Entries {
		e := h.Entries[i]
		name, ends := strings.CutSuffix(e.F, history.EndSuffix)
		first := -1
		switch {
		case e.Process.Name != history.Nemesis || e.F == history.Exit || e.F == history.Ended:
		case !ends:
			e.ID, first = i+1, len(list)
			open[name] = append(open[name], e.ID)
		case len(open[name]) > 0:
			e.ID, first = open[name][len(open[name])-1], len(list)
			open[name] = open[name][:len(open[name])-1]
			last[e.ID] = i
		}
		list = append(list, e)
		if first >= 0 {
			due[first] = i
		}
	}
	type second struct {
		at, first int
		e         history.Entry
	}
	var more []second
	one := map[int]bool{} // by id: whether a fault has no second lines
	for i := range list {
		if _, ok := due[i]; !ok {
			continue
		}
		if _, drawn := one[list[i].ID]; !drawn { // for its start and for its end
			one[list[i].ID] = rapid.IntRange(0, 3).Draw(t, "one line") == 0
		}
		if one[list[i].ID] {
			continue
		}
		e, to := list[i], len(list)-1
		if end, ended := last[e.ID]; ended && end > i {
			to = end - 1
		}
		if kindOf(e.F).ends() { // a client with a known end is not killed later
			if next := slices.IndexFunc(list[i+1:], func(o history.Entry) bool {
				return o.F == history.Exit && slices.Equal(o.On, e.On) || o.Error == history.ErrCrashed && slices.Contains(e.On, o.Client)
			}); next >= 0 {
				to = min(to, i+next)
			}
		}
		at := rapid.IntRange(i, min(to, i+8)).Draw(t, "where the second line stands")
		e.F += history.DoneSuffix
		more = append(more, second{at, i, e})
	}
	h.Entries = nil
	moved := map[int]int{}
	for i, e := range list {
		moved[i] = len(h.Entries)
		h.Entries = append(h.Entries, e)
		index := e.Index
		for _, m := range more {
			if m.at == i {
				if index++; i+1 < len(list) && index >= list[i+1].Index {
					break // there is no number left
				}
				m.e.Index, m.e.Time = index, e.Time
				pairs = append(pairs, [2]int{moved[m.first], len(h.Entries)})
				h.Entries = append(h.Entries, m.e)
			}
		}
	}
	return pairs
}

// withOne returns h with only one line of each pair.
func withOne(h *history.History, pairs [][2]int, which func(f string) int) *history.History {
	one := &history.History{Header: h.Header, Entries: slices.Clone(h.Entries)}
	for _, p := range pairs {
		keep := which(h.Entries[p[0]].F)
		one.Entries[p[keep]].F = h.Entries[p[0]].F
		one.Entries[p[1-keep]].F = "nothing" + history.EndSuffix
	}
	return one
}

// With two lines, the effect came somewhere between them. A violation then is a
// violation wherever the effect came.
func TestTwoLinesOfAFaultAccuseNoMoreThanOne(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) *history.History{"any": anyHistory, "queue": anyQueue} {
		t.Run(name, func(t *testing.T) {
			rapidtest.Check(t, func(t *rapid.T) {
				h := draw(t)
				pairs := spread(t, h)
				both := Judge(h)
				for _, which := range []func(string) int{
					func(string) int { return 0 },
					func(string) int { return 1 },
					func(string) int { return rapid.IntRange(0, 1).Draw(t, "which") },
				} {
					for i, v := range Judge(withOne(h, pairs, which)) {
						if both[i].Outcome == Violated && v.Outcome != Violated {
							var text strings.Builder
							history.Encode(&text, h)
							t.Fatalf("%s: %v (%+v) with two lines, %v with one (%v)\n%s", v.Property, both[i], both[i].Witness, v, pairs, text.String())
						}
					}
				}
			})
		})
	}
}

// outer returns which line of a fault is further from its middle.
func outer(f string) int {
	if strings.HasSuffix(f, history.EndSuffix) {
		return 1
	}
	return 0
}

// A hazard that was reached between the certain start of a fault and the first line
// of its end was also reached between the outer lines.
func TestTwoLinesOfAFaultReachNoMoreHazardsThanOne(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) *history.History{"any": anyHistory, "queue": anyQueue} {
		t.Run(name, func(t *testing.T) {
			rapidtest.Check(t, func(t *rapid.T) {
				h := draw(t)
				one := withOne(h, spread(t, h), outer)
				_, both := ReachHazards(h)
				_, wide := ReachHazards(one)
				for k := range undisturbed {
					for i, p := range Properties {
						if both[k]&^wide[k]&(1<<i) != 0 {
							var text strings.Builder
							history.Encode(&text, h)
							t.Fatalf("%s under %s: the hazard was reached with two lines, and not with one\n%s", p, kinds[k].Name, text.String())
						}
					}
				}
			})
		})
	}
}
