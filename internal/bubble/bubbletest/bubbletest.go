// Package bubbletest has what tests of client libraries in a bubble share.
package bubbletest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// Lock is a client's lock, without all that a library may lack.
type Lock struct {
	// Acquire takes the lock, or returns ErrTaken: then it is called again.
	Acquire func(ctx context.Context, name string) (release func(context.Context) error, err error)
	Close   func()
}

// ErrTaken says for certain that somebody else has the lock.
var ErrTaken = errors.New("taken")

// Library is a client library with a lock.
type Library struct {
	Lock *catalogue.Lock
	New  func(userlock.Site) (Lock, error)
	// Differ is how many of 2,000 runs may not repeat.
	Differ int
}

// Simulator returns what makes worlds for the library.
func (l Library) Simulator(t *testing.T) env.Simulator {
	return bubble.Simulator(t, func(s userlock.Site) (userlock.Lock, error) {
		made, err := l.New(s)
		return &lock{made, s}, err
	})
}

// Settings are those of 4 clients with 5 acquires each, under faults of these kinds.
func (l Library) Settings(kinds []faults.Fault) *explore.Settings {
	return &explore.Settings{
		Lock: l.Lock.ID, Use: l.Lock, On: env.Bubble, Lease: 10 * time.Second, Kinds: kinds,
		Clients: explore.Exactly(4), Acquires: explore.Exactly(5), Count: explore.AnyCount, Seed: 1, Jobs: 1,
	}
}

// Kinds returns all faults that apply to the lock.
func (l Library) Kinds() (kinds []faults.Fault) {
	for _, f := range faults.All() {
		if bubble.Applies(l.Lock, f) == nil {
			kinds = append(kinds, f)
		}
	}
	return kinds
}

// seedsEnv is how many seeds Repeat takes, if that is set: 2,000 take minutes.
const seedsEnv = "LOCKCHECK_SEEDS"

// Repeat tests that one seed gives one history, to the byte: in another order of the
// runs, and on one core as on two. LOCKCHECK_SEEDS=2000 takes as many seeds.
func Repeat(t *testing.T, l Library) {
	t.Helper()
	seeds := 40
	if n, err := strconv.Atoi(os.Getenv(seedsEnv)); err == nil {
		seeds = n
	} else if alltests.Wanted() {
		seeds = 300
	}
	bubble.Seedable(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	first := make([][]byte, seeds)
	differ := map[int]bool{}
	for pass, cores := range []int{1, 1, 2, 2} {
		runtime.GOMAXPROCS(cores)
		for _, i := range rand.New(rand.NewSource(int64(pass))).Perm(seeds) {
			h := l.history(t, i)
			if first[i] == nil {
				first[i] = h
			} else if !bytes.Equal(first[i], h) && !differ[i] {
				differ[i] = true
				t.Logf("pass %d, seed %d: %s", pass+1, i+1, difference(first[i], h))
			}
		}
	}
	t.Logf("%d of %d seeds differ; the digest of all histories is %x", len(differ), seeds, sha256.Sum256(slices.Concat(first...)))
	if most := (l.Differ*seeds + 1999) / 2000; len(differ) > most {
		t.Errorf("%d of %d runs do not repeat, want at most %d", len(differ), seeds, most)
	}
}

// history returns the history of run i, encoded.
func (l Library) history(t *testing.T, i int) []byte {
	t.Helper()
	h, err := harness.Repeat(l.Simulator(t), l.Settings(l.Kinds()).Plan(i))
	if err != nil {
		t.Fatalf("seed %d: %v", i+1, err)
	}
	var b bytes.Buffer
	history.Encode(&b, h) // a buffer does not fail
	return b.Bytes()
}

// difference returns the first lines in which two histories differ.
func difference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d\n  %s\n  %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(x), len(y))
}

// Benchmark measures a batch under faults of all kinds, judged.
func Benchmark(b *testing.B, l Library) {
	b.ReportAllocs()
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: b.Name(), F: func(t *testing.T) {
			bubble.Seedable(t)
			defer bubble.Tune()() // as lockcheck.Test does
			s := l.Settings(l.Kinds())
			s.Runs = b.N
			b.ResetTimer()
			r, err := explore.Random(t.Context(), l.Simulator(t), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.StopTimer()
			b.ReportMetric(float64(r.Runs)/r.Took.Seconds(), "runs/s")
		},
	}})
	if !ok {
		b.Fail()
	}
}
