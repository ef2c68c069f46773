package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
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
