package explore

import (
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/workloads"
)

// The properties that the catalogue declares as never judged for a lock are exactly
// those that never apply in its runs. These runs draw no tokens.
func TestPropertiesNeverJudgedOfALock(t *testing.T) {
	t.Parallel()
	usual, _ := workloads.Find(workloads.AsUsual)
	for _, lock := range catalogue.Locks {
		s := misuseSettings(lock.ID, usual)
		s.Runs = 10
		r := random(t, s)
		for _, p := range checker.Properties {
			never := catalogue.Judged(lock.ID, p, "sim", false)
			if open := r.Outcome(p) == checker.NA; open != (never != nil) {
				t.Errorf("%s of %s is %s in %d runs, and the catalogue says: %v", p, lock.ID, r.Outcome(p), r.Runs, never)
			}
		}
	}
}
