package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// record describes the first run of a schedule: the property it was minimised for, and
// the files beside the schedule.
type record struct {
	path    string
	text    []byte // the history of that run, or nil
	header  history.Header
	edited  bool     // the schedule has been changed since
	was     []string // the properties that it violated, as far as they are known
	choices int
	lock    string
	options string
}

// readRecord reads the files beside a schedule. A schedule file with another name than
// the usual one has been moved away from its files, so nothing beside it is read.
func readRecord(file string, plan *harness.Plan) record {
	schedule := rundir.ScheduleOf(file)
	dir := filepath.Dir(schedule)
	r := record{
		path:    filepath.Join(dir, rundir.HistoryFile),
		choices: len(plan.Choices) + len(plan.Order), lock: plan.Lock, options: plan.Options.String(),
	}
	if plan.Shrunk != nil {
		r.was = []string{string(plan.Shrunk.For)}
	}
	if filepath.Base(schedule) != rundir.ScheduleFile {
		return r
	}
	if text, err := os.ReadFile(r.path); err == nil {
		r.text = text
		if in, err := history.NewReader(bytes.NewReader(r.text), r.path); err == nil {
			r.header = in.Header()
		}
	}
	var verdict rundir.Verdict
	text, err := os.ReadFile(filepath.Join(dir, rundir.VerdictFile))
	if err != nil || json.Unmarshal(text, &verdict) != nil {
		return r
	}
	if verdict.Schedule != "" {
		now, _ := os.ReadFile(schedule)
		r.edited = rundir.Digest(now) != verdict.Schedule
	}
	for _, p := range verdict.Properties {
		if p.Outcome == checker.Violated.String() && plan.Shrunk == nil {
			r.was = append(r.was, p.Property)
		}
	}
	return r
}

// compare describes how a replay relates to the record. If nothing explains why the
// history differs, it calls again to repeat the run. If both replays agree, the code
// has changed since the record; if they differ, that is a bug in lockcheck.
func (r record) compare(j *harness.Judged, fit harness.Replay, path string, again func() (*harness.Judged, error)) (words string, err error) {
	if j.Plan.On != "sim" {
		return fmt.Sprintf("The same schedule, on %s: real time does not repeat to the byte.", j.Plan.On), nil
	}
	now, err := encoded(j)
	if err != nil {
		return "", err
	}
	const another = "The history is another one: "
	switch {
	case fit != (harness.Replay{}):
		return "Not the run that was recorded: " + r.misfit(fit), nil
	case r.text == nil:
		return fmt.Sprintf("Each of the %s was used, and no decision was missing.", names.Count(r.choices, "recorded decision")), nil
	case bytes.Equal(r.text, now):
		return "The history is the same to the byte.", nil
	case len(entries(r.text)) > 0 && len(entries(r.text)) < len(entries(now)) && bytes.HasPrefix(entries(now), entries(r.text)):
		return "The recorded history is incomplete, because its run was cut off. Its part is the same to the byte.", nil
	case r.edited:
		return another + "the schedule was changed since it was recorded.", nil
	case j.Plan.Lock != r.lock || j.Plan.Options.String() != r.options:
		return another + "this is another lock, which asked for the same decisions.", nil
	case r.header.Version != harness.Version:
		return fmt.Sprintf("%slockcheck %q recorded it, and this is %q.", another, r.header.Version, harness.Version), nil
	case bytes.Equal(entries(r.text), entries(now)) && !slices.Equal(r.header.Promises, j.Plan.Promises):
		return "The history is the same to the byte, but for what is promised.", nil
	}
	second, err := again()
	if err != nil {
		return "", err
	}
	if repeated, err := encoded(second); err != nil || !bytes.Equal(now, repeated) {
		return "", exit.Errorf(exit.Bug, "the run does not repeat: twice the same choices led to two histories, the first of which is %s", path)
	}
	return another + "it comes out the same each time now, and not as it did then, so the code has changed since, of the lock or around it.", nil
}

// misfit describes the recorded decisions that did not fit.
func (r record) misfit(fit harness.Replay) string {
	var parts []string
	if fit.Unused > 0 {
		verb := "were"
		if fit.Unused == 1 {
			verb = "was"
		}
		parts = append(parts, fmt.Sprintf("%s of %s %s not asked for", names.Thousands(fit.Unused), names.Count(r.choices, "recorded decision"), verb))
	}
	switch {
	case fit.Defaulted == 1:
		parts = append(parts, "1 was missing and got its least disturbing value")
	case fit.Defaulted > 1:
		parts = append(parts, names.Thousands(fit.Defaulted)+" were missing and got their least disturbing value")
	}
	return strings.Join(parts, ", ") + "."
}

func encoded(j *harness.Judged) ([]byte, error) {
	var b bytes.Buffer
	err := history.Encode(&b, j.History)
	return b.Bytes(), err
}

// entries returns a history without its header.
func entries(text []byte) []byte {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}

// isReplay matches the directory of a replay.
var isReplay = regexp.MustCompile(`-replay(-\d+)?$`)

// Schedules returns the schedules to replay: for a directory all schedules below it,
// ordered by name, except those of replays.
func Schedules(args []string) (files []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			files = append(files, arg)
			continue
		}
		before := len(files)
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != arg && isReplay.MatchString(d.Name()):
				return filepath.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".json":
				return nil
			}
			is, err := rundir.IsSchedule(path)
			if is {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "%w", err)
		}
		if len(files) == before {
			return nil, exit.Errorf(exit.Usage, "there is no schedule below %s", arg)
		}
	}
	return files, nil
}
