package catalogue

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
)

// Every variant has an exposure that separates it from a sound lock. Each published
// lock of ZooKeeper and MySQL has one for every property that it has to violate.
func TestEveryFlawIsExposed(t *testing.T) {
	exposed := map[string][]checker.Property{}
	for i := range Exposures {
		x := &Exposures[i]
		exposed[x.Lock] = append(exposed[x.Lock], x.Shows)
	}
	for _, l := range Locks {
		if l.Like != "" && len(exposed[l.ID]) == 0 {
			t.Errorf("%s, which is wrong, has no exposure", l.ID)
		}
	}
	for _, id := range []string{"zk-predecessor", "zk-predecessor-recheck", "zk-children", "mysql-optimistic", "mysql-fair"} {
		lock, _ := FindLock(id)
		for _, fault := range lock.Columns() {
			e, err := Expect(id, fault)
			if err != nil {
				t.Error(err)
			}
			for _, code := range e.Must {
				for _, p := range code.Properties() {
					// No grant on ZooKeeper has a known end.
					if (p != checker.LeaseExclusion || lock.Store != StoreZooKeeper) && !slices.Contains(exposed[id], p) {
						t.Errorf("%s violates %s under %s, and has no exposure of that", id, p, fault)
					}
				}
			}
		}
	}
}

// An exposure names a lock and faults that exist. Its sound lock is not expected to
// show the violation.
func TestExposuresAreOfWhatThereIs(t *testing.T) {
	for i := range Exposures {
		x := &Exposures[i]
		lock, ok := FindLock(x.Lock)
		if !ok {
			t.Errorf("%s is no lock", x.Lock)
		}
		under := slices.Clone(x.Faults)
		for _, name := range under {
			if f, ok := faults.Find(name); !ok || lock.Applies(f, Server{Replicas: x.Replicas}) != nil {
				t.Errorf("%s: %s is no fault that applies to it", x.Lock, name)
			}
		}
		if w, ok := workloads.Find(x.Workload); !ok || lock.Takes(w) != nil || x.Workload != "" && len(x.Faults) > 0 {
			t.Errorf("%s: %s is no workload for it, or not without %v", x.Lock, x.Workload, x.Faults)
		}
		if len(under) == 0 {
			under = []string{x.Under()}
		}
		for _, fault := range under {
			if e, err := Expect(x.Sound, fault); x.Sound != "" && (err != nil || slices.Contains(e.May, x.Shows)) {
				t.Errorf("%s may violate %s under %s, as %s does: %v", x.Sound, x.Shows, fault, x.Lock, err)
			}
		}
	}
}

func TestUnder(t *testing.T) {
	for _, tt := range []struct {
		x    Exposure
		want string
	}{
		{Exposure{}, "none"},
		{Exposure{Workload: "finally"}, "finally"},
		{Exposure{Faults: []string{"kill"}}, "kill"},
		{Exposure{Faults: []string{"kill"}, Count: 2}, "2 kill"},
		{Exposure{Faults: []string{"jump", "pause"}, Count: 2}, "2 of jump, pause"},
	} {
		if got := tt.x.Under(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.x, got, tt.want)
		}
	}
}
