package docker

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// The entries of our locks have the locks' names. Those of a user's lock may have words
// before, and are known once a server has reported them.
func TestEntryKeys(t *testing.T) {
	t.Parallel()
	ours, own := newKeys(&catalogue.Lock{}, []string{"a"}), newKeys(&catalogue.Lock{Own: true}, []string{"a"})
	for _, tt := range []struct{ key, ours, own string }{
		{"a", "a", "a"},
		{"orders:{a}", "", "a"},
		{"locks/a", "", "a"},
		{"ba", "", ""},
		{"{a}:token", "", ""},
		{"", "", ""},
	} {
		if a, b := ours.lockOf(tt.key), own.lockOf(tt.key); a != tt.ours || b != tt.own {
			t.Errorf("%q is an entry of %q and %q, want %q and %q", tt.key, a, b, tt.ours, tt.own)
		}
	}
	if a, b := ours.all(), own.all(); !slices.Equal(a, []string{"a"}) || !slices.Equal(b, []string{"a", "orders:{a}", "locks/a"}) {
		t.Errorf("known: %q and %q", a, b)
	}
}
