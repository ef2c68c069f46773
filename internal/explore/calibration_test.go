package explore

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// summarise returns the numbers of runs that found a code, one for each base seed. never is
// the number of base seeds that did not find it.
func summarise(runs []int, never int) catalogue.Measured {
	slices.Sort(runs)
	var sum, squares float64
	for _, n := range runs {
		sum += float64(n)
	}
	mean := sum / float64(len(runs))
	for _, n := range runs {
		squares += (float64(n) - mean) * (float64(n) - mean)
	}
	tenths := func(x float64) float64 { return math.Round(10*x) / 10 }
	return catalogue.Measured{
		Mean: tenths(mean), Deviation: tenths(math.Sqrt(squares / float64(len(runs)))),
		Median: runs[len(runs)/2], Worst: runs[len(runs)-1], Never: never,
	}
}

// writeCalibration writes the file, each measurement on a line of its own.
func writeCalibration(w io.Writer, c *catalogue.Calibration) error {
	lines := make([]string, len(c.Found))
	for i, m := range c.Found {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		lines[i] = "  " + string(line)
	}
	_, err := fmt.Fprintf(w, `{
 "lockcheck_calibration": %d,
 "base_seeds": %d,
 "most_runs": %d,
 "lease_ns": %d,
 "found": [
%s
 ]
}
`, c.Format, c.Seeds, c.Most, c.Lease, strings.Join(lines, ",\n"))
	return err
}

// putMeasured replaces the measurements of the same cells, and keeps the order of the table.
func putMeasured(c *catalogue.Calibration, found []catalogue.Measured) {
	type key struct{ lock, fault string }
	fresh := map[key]bool{}
	for _, m := range found {
		fresh[key{m.Lock, m.Fault}] = true
	}
	c.Found = slices.DeleteFunc(c.Found, func(m catalogue.Measured) bool { return fresh[key{m.Lock, m.Fault}] })
	c.Found = append(c.Found, found...)
	lock := func(m catalogue.Measured) int {
		return slices.IndexFunc(catalogue.Locks, func(l catalogue.Lock) bool { return l.ID == m.Lock })
	}
	fault := func(m catalogue.Measured) int { return slices.Index(catalogue.Columns(), m.Fault) }
	code := func(m catalogue.Measured) int {
		return slices.IndexFunc(catalogue.Codes, func(k catalogue.CodeMeaning) bool { return k.Code == m.Code })
	}
	slices.SortStableFunc(c.Found, func(a, b catalogue.Measured) int {
		for _, place := range []func(catalogue.Measured) int{lock, fault, code} {
			if d := place(a) - place(b); d != 0 {
				return d
			}
		}
		return 0
	})
}

func TestSummarise(t *testing.T) {
	m := summarise([]int{9, 1, 2, 1, 2}, 1)
	if want := (catalogue.Measured{Mean: 3, Deviation: 3, Median: 2, Worst: 9, Never: 1}); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
}

// A new measurement replaces the old one in its position.
func TestPutMeasured(t *testing.T) {
	c := &catalogue.Calibration{Found: []catalogue.Measured{
		{Lock: "redis-setnx", Fault: "kill", Code: "L", Mean: 2},
		{Lock: "redis-set-lua", Fault: "kill", Code: "l", Mean: 3},
	}}
	putMeasured(c, []catalogue.Measured{{Lock: "redis-setnx", Fault: "kill", Code: "L", Mean: 4}})
	if len(c.Found) != 2 || c.Found[0].Mean != 4 || c.Found[1].Mean != 3 {
		t.Errorf("%+v", c.Found)
	}
}
