package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

// What everybody knew names the lock if the history has several: what is known of the
// others is not said.
func TestKnowledgeNamesTheLockAmongSeveral(t *testing.T) {
	t.Parallel()
	h, v := pauseOverLease()
	states := func() (words []string) {
		p := newPlot(h, v, choose(h, v, Options{}))
		for i := range p.moments {
			for _, s := range p.states(&p.moments[i]) {
				words = append(words, s.Who+" "+s.What)
			}
		}
		return words
	}
	if words := states(); slices.ContainsFunc(words, func(s string) bool { return strings.Contains(s, `"`) }) {
		t.Errorf("the only lock is named: %q", words)
	}
	end := len(h.Entries) - 1 // the line that says that the run is over
	over := h.Entries[end]
	other := history.Entry{Index: over.Index, Time: over.Time, Client: "c3", Process: history.Process{N: 3}, Type: history.Invoke, F: history.Acquire, Lock: "b"}
	over.Index++
	h.Entries = append(h.Entries[:end], other, over)
	words := states()
	for _, want := range []string{
		`c1 believes that it holds the lock "a", until 10.000 s`, `c2 waits for the lock "a" since 1.000 s`, `c2 does not hold the lock "a"`,
		`c1 stopped: has not released the lock "a"; its lease ended `, `redis-1 c1's entry of "a"`, `resource has 1 of "a", written by c2`,
	} {
		if !slices.ContainsFunc(words, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("nothing begins with %q in\n%s", want, strings.Join(words, "\n"))
		}
	}
}
