package explore

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// A batch counts the violations of each property by their mechanism. Those that are left
// out count for no property and begin no story; the others are as before.
func TestABatchCountsMechanisms(t *testing.T) {
	t.Parallel()
	const p, early = checker.Exclusion, checker.Mechanism("exclusion:entry-expired-early")
	s := anything("redis-set-lua", 1)
	s.Runs = 200
	all, err := Random(t.Context(), sim.Simulator, s, nil)
	must(t, err)
	s.Not = []checker.Mechanism{early, "exclusion:entry-expired:pause"}
	some, err := Random(t.Context(), sim.Simulator, s, nil)
	must(t, err)

	count, left, list := 0, 0, all.Rarest()
	for _, m := range list {
		if m.Mechanism.Property() != p {
			continue
		}
		if count += m.Count; leavesOut(s.Not, m.Mechanism) {
			left += m.Count
		}
		j := simulate(t, s.Plan(m.First))
		if got := checker.MechanismOf(j.History, j.Verdict(p)); got != m.Mechanism {
			t.Errorf("run %d is the first with %s, and has %q", m.First, m.Mechanism, got)
		}
	}
	if violated := all.Outcomes[p].Count[checker.Violated]; count != violated || left == 0 || left == count {
		t.Errorf("%d runs by mechanism, %d of them to leave out; %d violated %s", count, left, violated, p)
	}
	if got := some.Outcomes[p].Count[checker.Violated]; got != count-left {
		t.Errorf("%d violations count, want %d", got, count-left)
	}
	for i, m := range some.Rarest() {
		if want := list[i]; m.Mechanism != want.Mechanism || m.Count != want.Count || m.LeftOut != leavesOut(s.Not, m.Mechanism) {
			t.Errorf("with some left out: %+v, want %+v", m, want)
		}
	}
	if want := s.Not[1:]; !slices.Equal(some.Unseen(), want) {
		t.Errorf("no run had %q, want %q", some.Unseen(), want)
	}
	if !slices.IsSortedFunc(list, func(a, b Sighting) int { return a.Count - b.Count }) {
		t.Errorf("the rarest does not come first: %+v", list)
	}

	s.Not = nil
	sum := NewResult()
	for n := range 2 {
		s.Shard = Shard{N: n + 1, Of: 2}
		part, err := Random(t.Context(), sim.Simulator, s, nil)
		must(t, err)
		sum.Add(part)
	}
	if !reflect.DeepEqual(sum.Rarest(), list) {
		t.Errorf("two shards have %+v, want %+v", sum.Rarest(), list)
	}
}
