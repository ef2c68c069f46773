package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Measured is the number of runs until a code is found for the first time, over many
// base seeds.
type Measured struct {
	Lock      string  `json:"lock"`
	Fault     string  `json:"fault"`
	Code      Code    `json:"code"`
	Date      string  `json:"date"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // standard
	Median    int     `json:"median"`
	Worst     int     `json:"worst"`
	// Never counts the base seeds that did not find the code; they are counted as if
	// their last run had found it.
	Never int `json:"never"`
}

// Calibration holds the measurements that TestTheCalibrationIsNotStale of package
// explore wrote.
type Calibration struct {
	Format int           `json:"lockcheck_calibration"`
	Seeds  int           `json:"base_seeds"` // for each lock, fault and code
	Most   int           `json:"most_runs"`  // from each of them
	Lease  time.Duration `json:"lease_ns"`
	Found  []Measured    `json:"found"`
}

// calibrationFormat is the version of the file format.
const calibrationFormat = 1

//go:embed calibration.json
var calibrationFile []byte

// Calibrated returns the calibration that this lockcheck was built with.
func Calibrated() (c Calibration, err error) {
	if err = json.Unmarshal(calibrationFile, &c); err == nil && c.Format != calibrationFormat {
		err = fmt.Errorf("it is of format %d, not %d", c.Format, calibrationFormat)
	}
	if err != nil {
		err = fmt.Errorf("the calibration: %w", err)
	}
	return c, err
}

// Budgets: the search for a required code gets ten times the runs that it takes on
// average, so it misses the code once in e^10 times. It gets at least leastRuns,
// since an average of a run or two is uncertain.
const (
	patience  = 10
	leastRuns = 50
)

// Budget returns how many runs to spend on a cell to find all its required codes, or
// 0 if the cell was not measured.
func (c *Calibration) Budget(lock, fault string, must []Code) int {
	runs := leastRuns
	for _, code := range must {
		i := slices.IndexFunc(c.Found, func(m Measured) bool { return m.Lock == lock && m.Fault == fault && m.Code == code })
		if i < 0 {
			return 0
		}
		runs = max(runs, int(math.Ceil(patience*c.Found[i].Mean)))
	}
	return runs
}

// Measure summarises in how many runs a code was found, from each base seed. never is
// the number of base seeds that did not find it.
func Measure(runs []int, never int) Measured {
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
	return Measured{
		Mean: tenths(mean), Deviation: tenths(math.Sqrt(squares / float64(len(runs)))),
		Median: runs[len(runs)/2], Worst: runs[len(runs)-1], Never: never,
	}
}

// Write writes the file, each measurement on a line of its own.
func (c *Calibration) Write(w io.Writer) error {
	c.Format = calibrationFormat
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

// Put replaces the measurements of the same cells, and keeps the order of the table.
func (c *Calibration) Put(found []Measured) {
	type key struct{ lock, fault string }
	fresh := map[key]bool{}
	for _, m := range found {
		fresh[key{m.Lock, m.Fault}] = true
	}
	c.Found = slices.DeleteFunc(c.Found, func(m Measured) bool { return fresh[key{m.Lock, m.Fault}] })
	c.Found = append(c.Found, found...)
	lock := func(m Measured) int { return slices.IndexFunc(Locks, func(l Lock) bool { return l.ID == m.Lock }) }
	fault := func(m Measured) int { return slices.Index(Columns(), m.Fault) }
	code := func(m Measured) int {
		return slices.IndexFunc(Codes, func(k CodeMeaning) bool { return k.Code == m.Code })
	}
	slices.SortStableFunc(c.Found, func(a, b Measured) int {
		for _, place := range []func(Measured) int{lock, fault, code} {
			if d := place(a) - place(b); d != 0 {
				return d
			}
		}
		return 0
	})
}
