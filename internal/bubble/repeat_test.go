package bubble_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

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

// library is a client library with a lock, as a test uses it.
type library struct {
	lock *catalogue.Lock
	make userlock.Maker
	// differ is how many of 2,000 runs may not repeat.
	differ int
}

// libraries are the libraries in go.mod.
var libraries = map[string]library{
	"go-redis": {lock: bubble.Lock("go-redis", catalogue.StoreRedis, 1, 0), make: newNaive},
}

func newNaive(s userlock.Site) (userlock.Lock, error) {
	return naive{goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext}), s}, nil
}

// settings are those of 4 clients with 5 acquires each.
func (l library) settings(kinds []faults.Fault) *explore.Settings {
	return &explore.Settings{
		Lock: l.lock.ID, Use: l.lock, On: env.Bubble, Lease: 10 * time.Second, Kinds: kinds,
		Clients: explore.Exactly(4), Acquires: explore.Exactly(5), Count: explore.AnyCount, Seed: 1, Jobs: 1,
	}
}

// kinds returns all faults that apply to the lock.
func (l library) kinds() (kinds []faults.Fault) {
	for _, f := range faults.All() {
		if bubble.Applies(l.lock, f) == nil {
			kinds = append(kinds, f)
		}
	}
	return kinds
}

// seedable makes the numbers of math/rand follow from the seed of the run.
func seedable(t *testing.T) {
	t.Helper()
	t.Setenv("GODEBUG", os.Getenv("GODEBUG")+",randseednop=0")
	rand.Seed(1)
}

// One seed gives one history, to the byte: in another order of the runs, and on one core
// as on two.
func TestOneSeedGivesOneHistory(t *testing.T) {
	seeds := 50
	if alltests.Wanted() {
		seeds = 2000
	}
	seedable(t)
	for name, l := range libraries {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			first := make([][]byte, seeds)
			differ := map[int]bool{}
			for pass, cores := range []int{1, 1, 2, 2} {
				runtime.GOMAXPROCS(cores)
				order := rand.New(rand.NewSource(int64(pass))).Perm(seeds)
				for _, i := range order {
					h := l.history(t, i)
					if first[i] == nil {
						first[i] = h
					} else if !bytes.Equal(first[i], h) && !differ[i] {
						differ[i] = true
						t.Logf("pass %d, seed %d: %s", pass+1, i+1, difference(first[i], h))
					}
				}
			}
			t.Logf("%d seeds; the digest of all histories is %x", seeds, sha256.Sum256(slices.Concat(first...)))
			if most := l.differ * seeds / 2000; len(differ) > most {
				t.Errorf("%d of %d runs do not repeat, want at most %d", len(differ), seeds, most)
			}
		})
	}
}

// history returns the history of run i, encoded.
func (l library) history(t *testing.T, i int) []byte {
	t.Helper()
	s := l.settings(l.kinds())
	h, err := harness.Repeat(bubble.Simulator(t, l.make), s.Plan(i))
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
