package summary

import (
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// A count of 1 is written as "once".
func TestHowOftenIsSaidInWords(t *testing.T) {
	for _, tt := range []struct {
		counter, also checker.Counter
		n, more       int
		want          string
	}{
		{checker.AmbiguousAcquires, checker.AmbiguousReleases, 1, 1, "an acquire ended in doubt once, a release once"},
		{checker.AmbiguousAcquires, checker.AmbiguousReleases, 3, 2, "an acquire ended in doubt 3 times, a release twice"},
		{checker.AmbiguousAcquires, checker.AmbiguousReleases, 0, 1234, "an acquire ended in doubt never, a release 1,234 times"},
		{checker.LateAccess, checker.StaleRefused, 2, 1, "the resource was accessed after the hold or its lease twice; a stale token was refused once"},
		{checker.PauseHitHolder, checker.PauseHitWaiter, 1, 0, "a pause hit a holder once"},
		{checker.KillHitHolder, checker.KillHitAcquirer, 1, 1, "a holder was killed once, a client that was acquiring once"},
		{checker.Promotions, checker.FailoverWithHolder, 1, 1, "a replica became the master once, while somebody held"},
		{checker.Promotions, checker.FailoverWithHolder, 2, 1, "a replica became the master twice, one of them while somebody held"},
		{checker.Promotions, checker.FailoverWithHolder, 9, 3, "a replica became the master 9 times, 3 of them while somebody held"},
		{checker.LeaseExpiredWhileHeld, checker.LeaseExpiredWhileHeldAndWaited, 1, 1, "a lease expired while held once, with another client waiting"},
	} {
		r := explore.NewResult()
		r.Reached[tt.counter], r.Reached[tt.also] = tt.n, tt.more
		if lines := reachedLines("", nil, r); !slices.Contains(lines, tt.want) {
			t.Errorf("%q is not said: %q", tt.want, lines)
		}
	}
	for _, tt := range []struct {
		granted, asked int
		want           string
	}{
		{1, 1, "the lock was granted once"},
		{1, 40, "the lock was granted once of 40"},
		{30, 40, "the lock was granted 30 times of 40"},
		{0, 40, "the lock was asked for 40 times, and never granted"},
		{0, 0, "the lock was granted never"},
	} {
		r := explore.NewResult()
		r.Reached[checker.Grants], r.Asked = tt.granted, tt.asked
		if lines := reachedLines("", nil, r); lines[0] != tt.want {
			t.Errorf("%q, want %q", lines[0], tt.want)
		}
	}
}

func TestProgressNamesNoNumberThatNobodyAskedFor(t *testing.T) {
	for _, tt := range []struct {
		s    explore.Settings
		want string
	}{
		{explore.Settings{Runs: 20_000}, "5,000 of 20,000 runs, 2500 a second "},
		{explore.Settings{Runs: batch.Unlimited, For: 30 * time.Second}, "5,000 runs, 2500 a second, 2 of 30 s "},
		{explore.Settings{Runs: 20_000, For: 30 * time.Second}, "5,000 of 20,000 runs, 2500 a second, 2 of 30 s "},
	} {
		if got := howFar(&tt.s, 5000, 2*time.Second); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestHowFarAMatrixIs(t *testing.T) {
	far := explore.Far{Cells: 60, CellsDone: 7, Runs: 12_000, Left: 9_000}
	for timed, want := range map[bool]string{
		true:  "7 of 60 cells, 12,000 runs, 3000 a second, about 3 s left",
		false: "7 of 60 cells, 12,000 runs, 3000.0 a second",
	} {
		if got := matrixFar(far, 4*time.Second, timed); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Short names in the heads of columns are unique.
func TestShortNamesOfFaults(t *testing.T) {
	seen := map[string]string{}
	for _, name := range catalogue.Columns() {
		short := shortFault(name)
		if seen[short] != "" || len(short) > 4 {
			t.Errorf("%s is short for %s and %s", short, seen[short], name)
		}
		seen[short] = name
	}
}
