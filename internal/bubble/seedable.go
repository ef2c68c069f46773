package bubble

import (
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"testing"
)

// Seedable lets runs seed the numbers of math/rand, until t ends: client libraries draw
// from them. And dials try multipath TCP first, which is the only TCP of package net that has a
// metric: where the kernel has none, or the other end, it is TCP. A parallel test fails: its
// neighbours would draw from the numbers, too, and only one bubble can run in a process.
func Seedable(t *testing.T) {
	t.Helper()
	if parallel(func() { t.Setenv("GODEBUG", os.Getenv("GODEBUG")+",randseednop=0,multipathtcp=1") }) {
		t.Fatal("lockcheck: one run at a time in a process: remove t.Parallel from this test and from those around it")
	}
	seed(1)
	t.Cleanup(func() { seed(randv2.Int64()) }) // after t nobody can foretell them
}

// parallel reports whether setenv, which sets a variable of a test, panics: it does in a
// parallel test.
func parallel(setenv func()) (is bool) {
	defer func() { is = recover() != nil }()
	setenv()
	return false
}

func seed(n int64) {
	//lint:ignore SA1019 libraries draw from the global source
	rand.Seed(n)
}
