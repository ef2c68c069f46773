package models

import (
	"slices"
	"testing"
)

// A file may have several locks: the verdict names exactly those that are violated.
func TestEveryViolatedLockIsNamed(t *testing.T) {
	v := fed(parsed(t, "owner-mutex"), Options{}, told(t, `
		c1 acquire lock=a
		c1 acquire ok lock=a
		c1 acquire lock=b
		c1 acquire ok lock=b
		c2 acquire lock=c
		c2 acquire ok lock=c
		c1 release lock=b
		c1 release ok lock=b
		c2 acquire lock=b
		c2 acquire ok lock=b
		c2 acquire lock=a
		c2 acquire ok lock=a
		c1 release lock=c
		c1 release ok lock=c`)).Verdict(t.Context())
	if want := []string{"a", "c"}; !slices.Equal(v.Locks, want) {
		t.Errorf("violated: %q, want %q", v.Locks, want)
	}
	if v.Operations != 7 {
		t.Errorf("%d operations are judged, want 7", v.Operations)
	}
}
