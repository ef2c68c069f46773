package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// twice returns a history in which two locks are held by two clients each, and a third
// by one. Its lines are longer than a terminal is wide.
func twice() string {
	var b strings.Builder
	index, process := 1_000_000, 0
	for _, lock := range []string{"a", "b", "a", "c", "b"} {
		process++
		for _, kind := range []string{"invoke", "ok"} {
			index++
			fmt.Fprintf(&b, `{"index":%d,"time":%d,"client":"client-%d","process":%d,"type":%q,"f":"acquire","lock":%q}`+"\n", index, index*1000, process, process, kind, lock)
		}
	}
	return b.String()
}

func TestEveryViolatedLockOfAFileIsNamed(t *testing.T) {
	r := fed(t, strings.NewReader(twice()), "check", "-")
	r.wants(t, violated, `2 locks are violated: "a", "b".`)
	doc := fed(t, strings.NewReader(twice()), "check", "-", "--json").checked(t)
	if got, want := doc.Properties[0].Locks, []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("locks: %q, want %q", got, want)
	}
}

// Quoted lines are not cut: lockcheck writes the operation and its lock at the end.
func TestLinesOfAWitnessAreQuotedWhole(t *testing.T) {
	for _, by := range [][]string{nil, {"--promise", "exclusion"}} {
		r := fed(t, strings.NewReader(twice()), append([]string{"check", "-"}, by...)...)
		r.wants(t, violated, `"process":1,"type":"ok","f":"acquire","lock":"a"}`+"\n", `"process":3,"type":"ok","f":"acquire","lock":"a"}`+"\n")
	}
}
