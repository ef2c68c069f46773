package models

import (
	"context"
	"slices"
	"testing"
)

// A file may have several locks: the verdict names exactly those that are violated.
func TestEveryViolatedLockIsNamed(t *testing.T) {
	m, err := Parse("owner-mutex")
	if err != nil {
		t.Fatal(err)
	}
	j := New(m, Options{})
	for i, e := range told(t, `
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
		c1 release ok lock=c`) {
		j.Add(&e, i+1)
	}
	v := j.Verdict(context.Background())
	if want := []string{"a", "c"}; !slices.Equal(v.Locks, want) {
		t.Errorf("violated: %q, want %q", v.Locks, want)
	}
	if v.Operations != 7 {
		t.Errorf("%d operations are judged, want 7", v.Operations)
	}
}
