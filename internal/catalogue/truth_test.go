package catalogue

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/workloads"
)

// Every lock has one cell for every fault that applies to it and for none, and no
// other cells. A lock that is like another one has only the cells that differ. The
// required codes were measured.
func TestEveryLockHasACellForEveryFault(t *testing.T) {
	calibration, err := Calibrated()
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, lock := range Locks {
		var without, unmeasured []string
		cells := map[string]int{}
		for _, c := range truth[lock.ID] {
			for _, fault := range strings.Fields(c.faults) {
				cells[fault]++
			}
		}
		for _, fault := range lock.Columns() {
			n := cells[fault]
			delete(cells, fault)
			if n == 0 && lock.Like == "" {
				without = append(without, fault)
				continue
			}
			if n > 1 {
				t.Errorf("%s under %s: %d cells in internal/catalogue/truth.go, want one", lock.ID, fault, n)
			}
			e, err := Expect(lock.ID, fault)
			if err != nil {
				t.Error(err)
			}
			if !e.Holds() && e.Of == lock.ID && calibration.Budget(e.Of, fault, e.Must) == 0 {
				unmeasured = append(unmeasured, fault)
			}
			if e.Of == lock.ID {
				measured += len(e.Must)
			}
		}
		if without != nil {
			t.Errorf("%s has no cell for %s: say in internal/catalogue/truth.go what is found there (S: nothing)", lock.ID, strings.Join(without, " "))
		}
		if unmeasured != nil {
			t.Errorf("nobody has measured in how many runs it is found what %s does under %s: go test ./internal/explore -run TestTheCalibrationIsNotStale -update -locks %[1]s",
				lock.ID, strings.Join(unmeasured, " "))
		}
		for fault := range cells {
			t.Errorf("%s has a cell for %s, which is no fault and no workload, or none that applies to it", lock.ID, fault)
		}
		for _, w := range workloads.Misuses() {
			offers := w.Need == workloads.NeedReleaseName || w.Need == workloads.NeedUnfair
			if _, err := Expect(lock.ID, w.Name); offers && lock.Takes(w) == nil && err != nil {
				t.Errorf("%s can be misused by %s, and nothing is known of that", lock.ID, w.Name)
			}
		}
	}
	for id := range truth {
		if _, ok := FindLock(id); !ok {
			t.Errorf("there are cells of %s, which is no lock", id)
		}
	}
	if len(calibration.Found) != measured {
		t.Errorf("internal/catalogue/calibration.json has %d measurements, and %d codes have to be found: go test ./internal/explore -run TestTheCalibrationIsNotStale -update", len(calibration.Found), measured)
	}
	for _, m := range calibration.Found {
		if m.Never > 0 {
			t.Errorf("%s of %s under %s was not found from %d base seeds: it is no code that must be found", m.Code, m.Lock, m.Fault, m.Never)
		}
	}
}

func TestCodesAreReadStrictly(t *testing.T) {
	const (
		exclusion, lease, ownership = checker.Exclusion, checker.LeaseExclusion, checker.Ownership
		resource, liveness, slow    = checker.Resource, checker.Liveness, checker.Handover
	)
	for _, tt := range []struct {
		codes string
		must  []Code
		may   []checker.Property
	}{
		{"S", nil, nil},
		{"U", []Code{"U"}, []checker.Property{exclusion, lease, resource}},
		{"Uf", []Code{"Uf"}, []checker.Property{exclusion, resource}},
		{"R?", nil, []checker.Property{ownership, resource}},
		{"L", []Code{"L"}, []checker.Property{liveness, slow}},
		{"l", []Code{"l"}, []checker.Property{slow}},
		{"F", []Code{"F"}, []checker.Property{checker.Fairness}},
		{"L F?", []Code{"L"}, []checker.Property{liveness, slow, checker.Fairness}},
		{"answers?", nil, []checker.Property{checker.Answers}},
		{"l answers?", []Code{"l"}, []checker.Property{checker.Answers, slow}},
		{"Uf lease-exclusion?", []Code{"Uf"}, []checker.Property{exclusion, lease, resource}},
		{"U R? L l", []Code{"U", "L", "l"}, []checker.Property{exclusion, lease, ownership, resource, liveness, slow}},
	} {
		e, err := parse(tt.codes)
		if err != nil || !reflect.DeepEqual(e.Must, tt.must) || !reflect.DeepEqual(e.May, tt.may) {
			t.Errorf("%q: must %v, may %v, %v", tt.codes, e.Must, e.May, err)
		}
	}
	for _, codes := range []string{"", " ", "X", "u", "UR", "U U", "U U?", "U Uf", "S L", "S?", "U ?", "f", "-", "?", "answers", "R answers? answers?", "S answers?"} {
		if e, err := parse(codes); err == nil {
			t.Errorf("%q is taken: %+v", codes, e)
		}
	}
	if _, err := Expect("redis-set-lua", "earthquake"); err == nil {
		t.Error("something is expected under a fault that does not exist")
	}
}

func TestNames(t *testing.T) {
	e := Expectation{Codes: "Uf L? answers?"}
	for c, want := range map[Code]bool{"Uf": true, "L": true, "U": false, "l": false, "S": false} {
		if e.Names(c) != want {
			t.Errorf("%s in %q: %v, want %v", c, e.Codes, !want, want)
		}
	}
}

func TestBudgets(t *testing.T) {
	c := Calibration{Found: []Measured{{Lock: "a", Fault: "f", Code: "U", Mean: 1.5}, {Lock: "a", Fault: "f", Code: "R", Mean: 20.1}}}
	for _, tt := range []struct {
		must []Code
		want int
	}{
		{[]Code{"U"}, leastRuns},
		{[]Code{"R"}, 201},
		{[]Code{"U", "R"}, 201},
		{[]Code{"U", "L"}, 0}, // L was not measured
	} {
		if got := c.Budget("a", "f", tt.must); got != tt.want {
			t.Errorf("%v: %d runs, want %d", tt.must, got, tt.want)
		}
	}
}
