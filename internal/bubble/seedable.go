package bubble

import (
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"runtime/metrics"
	"testing"
)

// Seedable lets runs seed the numbers of math/rand, until t ends: client libraries draw
// from them. And it lets dials count connections. A parallel test fails: its neighbours would draw from them, too, and only one
// bubble can run in a process.
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

// dials returns how many TCP connections this process has tried to make with package net
// since Seedable. Only this way of multipath TCP has a number: where the kernel has none, or
// the other end, it is TCP.
func dials() uint64 {
	s := []metrics.Sample{{Name: "/godebug/non-default-behavior/multipathtcp:events"}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

func seed(n int64) {
	//lint:ignore SA1019 libraries draw from the global source
	rand.Seed(n)
}
