package catalogue

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
)

// Every lock has one cell for every fault and for none, and for nothing else;
// what has to be found in it was measured.
func TestEveryLockHasACellForEveryFault(t *testing.T) {
	calibration, err := Calibrated()
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, lock := range Locks {
		cells := map[string]int{}
		for _, c := range truth[lock.ID] {
			for _, fault := range strings.Fields(c.faults) {
				cells[fault]++
			}
		}
		for _, fault := range Faults() {
			if cells[fault] != 1 {
				t.Errorf("%s under %s: %d cells", lock.ID, fault, cells[fault])
			}
			delete(cells, fault)
			e, err := Expect(lock.ID, fault)
			if err != nil {
				t.Error(err)
			}
			if !e.Holds() && calibration.Budget(lock.ID, fault, e.Must) == 0 {
				t.Errorf("%s under %s: nobody has measured in how many runs %v is found: lockcheck matrix %[1]s --fault %s --calibrate", lock.ID, fault, e.Must, fault)
			}
			measured += len(e.Must)
		}
		for fault := range cells {
			t.Errorf("%s has a cell for %s, which is no fault", lock.ID, fault)
		}
	}
	if len(truth) != len(Locks) {
		t.Errorf("%d locks have cells, and there are %d", len(truth), len(Locks))
	}
	if len(calibration.Found) != measured {
		t.Errorf("%d codes were measured, and %d have to be found", len(calibration.Found), measured)
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
		slow  bool
		must  []Code
		may   []checker.Property
	}{
		{"S", false, nil, nil},
		{"S", true, nil, []checker.Property{slow}},
		{"U", false, []Code{"U"}, []checker.Property{exclusion, lease, resource}},
		{"Uf", false, []Code{"Uf"}, []checker.Property{exclusion, resource}},
		{"R?", false, nil, []checker.Property{ownership, resource}},
		{"L", false, []Code{"L"}, []checker.Property{liveness, slow}},
		{"l", false, []Code{"l"}, []checker.Property{slow}},
		{"U R? L l", false, []Code{"U", "L", "l"}, []checker.Property{exclusion, lease, ownership, resource, liveness, slow}},
	} {
		e, err := parse(tt.codes, tt.slow)
		if err != nil || !reflect.DeepEqual(e.Must, tt.must) || !reflect.DeepEqual(e.May, tt.may) {
			t.Errorf("%q: must %v, may %v, %v", tt.codes, e.Must, e.May, err)
		}
	}
	for _, codes := range []string{"", " ", "X", "u", "UR", "U U", "U U?", "U Uf", "S L", "S?", "U ?", "F", "-", "?"} {
		if e, err := parse(codes, false); err == nil {
			t.Errorf("%q is taken: %+v", codes, e)
		}
	}
	if _, err := Expect("redis-set-lua", "earthquake"); err == nil {
		t.Error("something is expected under a fault that does not exist")
	}
}

// Where a client, a server or a request is stopped a hand-over may be slow.
func TestWhatStopsSomebodyMayBeSlow(t *testing.T) {
	var not []string
	for _, fault := range Faults() {
		if !stops(fault) {
			not = append(not, fault)
		}
	}
	if want := []string{"none", "server-jump"}; !slices.Equal(not, want) {
		t.Errorf("%v stop nobody, want %v", not, want)
	}
}

func TestMeasure(t *testing.T) {
	m := Measure([]int{9, 1, 2, 1, 2}, 1)
	if want := (Measured{Mean: 3, Deviation: 3, Median: 2, Worst: 9, Never: 1}); m != want {
		t.Errorf("%+v, want %+v", m, want)
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
	// What is measured anew stands where it stood.
	c = Calibration{Found: []Measured{
		{Lock: "redis-setnx", Fault: "kill", Code: "L", Mean: 2},
		{Lock: "redis-set-lua", Fault: "kill", Code: "l", Mean: 3},
	}}
	c.Put([]Measured{{Lock: "redis-setnx", Fault: "kill", Code: "L", Mean: 4}})
	if len(c.Found) != 2 || c.Found[0].Mean != 4 || c.Found[1].Mean != 3 {
		t.Errorf("%+v", c.Found)
	}
}
