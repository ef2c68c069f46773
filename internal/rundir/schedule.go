package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// ScheduleOf returns the schedule for a file: for a history, the schedule beside it.
func ScheduleOf(file string) string {
	if strings.HasSuffix(file, ".jsonl") {
		return filepath.Join(filepath.Dir(file), ScheduleFile)
	}
	return file
}

// ReadPlan reads a schedule.
func ReadPlan(file string) (*harness.Plan, error) {
	schedule := ScheduleOf(file)
	f, err := os.Open(schedule)
	if err != nil && schedule != file {
		return nil, exit.Errorf(exit.Usage, "no schedule to replay beside %s: %w", file, err)
	}
	if err != nil {
		return nil, Unread(schedule, err)
	}
	defer f.Close()
	plan, err := harness.ReadPlan(f)
	if errors.As(err, new(*fs.PathError)) {
		return nil, Unread(schedule, err)
	} else if err != nil {
		return nil, exit.Errorf(exit.Usage, "%s: %w", schedule, err)
	}
	return plan, nil
}

// IsSchedule reports whether a JSON file is a schedule. It also returns true for a
// damaged file that has the word, so that reading it reports the damage instead of
// passing it over. The error is that of reading the file.
func IsSchedule(path string) (bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if !json.Valid(text) {
		return bytes.Contains(text, []byte(`"lockcheck_schedule"`)), nil
	}
	var head struct {
		Format int `json:"lockcheck_schedule"`
	}
	return json.Unmarshal(text, &head) == nil && head.Format != 0, nil
}

// ReadJudged reads the files of a run, and judges it again.
func ReadJudged(file string) (*harness.Judged, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, _, err := history.Decode(f, file)
	if err != nil {
		return nil, err
	}
	plan, err := ReadPlan(file)
	if err != nil {
		return nil, err
	}
	return &harness.Judged{Plan: plan, History: h, Verdicts: checker.JudgeBoth(h)}, nil
}
