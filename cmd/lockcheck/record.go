package main

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
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// record is what is known of a schedule's first run: what it was shrunk for,
// and what stands beside its file.
type record struct {
	path    string
	text    []byte // the history that was written then; nil: there is none
	header  history.Header
	edited  bool     // the schedule was, since
	was     []string // the properties that it violated, as far as one knows
	choices int
	lock    string
	options string
}

// readRecord reads what is beside a schedule's file. Under another name than
// the usual one a file has been taken out of where it was written.
func readRecord(file string, plan *harness.Plan) record {
	schedule := scheduleOf(file)
	dir := filepath.Dir(schedule)
	r := record{
		path:    filepath.Join(dir, historyFile),
		choices: len(plan.Choices) + len(plan.Order), lock: plan.Lock, options: plan.Options.String(),
	}
	if plan.Shrunk != nil {
		r.was = []string{string(plan.Shrunk.For)}
	}
	if filepath.Base(schedule) != scheduleFile {
		return r
	}
	if text, err := os.ReadFile(r.path); err == nil {
		r.text = text
		if in, err := history.NewReader(bytes.NewReader(r.text), r.path); err == nil {
			r.header = in.Header()
		}
	}
	var verdict rundir.Verdict
	text, err := os.ReadFile(filepath.Join(dir, verdictFile))
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

// compare says how a replay relates to the record. again carries it out once
// more. Where everything is as it was and only the history is not, a run that
// comes out the same twice says that the code of the lock has changed since;
// one that does not is a bug of ours.
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
		return fmt.Sprintf("Each of the %s was asked for, and none was missing.", plural(r.choices, "recorded decision")), nil
	case bytes.Equal(r.text, now):
		return "The history is the same to the byte.", nil
	case len(entries(r.text)) > 0 && len(entries(r.text)) < len(entries(now)) && bytes.HasPrefix(entries(now), entries(r.text)):
		return "The recorded history is incomplete: its run was cut off. What there is of it is the same to the byte.", nil
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
		return "", fail(bug, "the run does not repeat: twice the same choices led to two histories, the first of which is %s", path)
	}
	return another + "it comes out the same each time now, and not as it did then, so the code has changed since, of the lock or around it.", nil
}

// misfit says how the recorded decisions did not fit, in words.
func (r record) misfit(fit harness.Replay) string {
	var parts []string
	if fit.Unused > 0 {
		verb := "were"
		if fit.Unused == 1 {
			verb = "was"
		}
		parts = append(parts, fmt.Sprintf("%s of %s %s not asked for", thousands(fit.Unused), plural(r.choices, "recorded decision"), verb))
	}
	switch {
	case fit.Defaulted == 1:
		parts = append(parts, "1 was missing and got its least disturbing value")
	case fit.Defaulted > 1:
		parts = append(parts, thousands(fit.Defaulted)+" were missing and got their least disturbing value")
	}
	return strings.Join(parts, ", ") + "."
}

func encoded(j *harness.Judged) ([]byte, error) {
	var b bytes.Buffer
	err := history.Encode(&b, j.History)
	return b.Bytes(), err
}

// entries are a history without its first line.
func entries(text []byte) []byte {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}

// replayed is the name of a directory that a replay has written.
var replayed = regexp.MustCompile(`-replay(-\d+)?$`)

// schedules are the files to replay: of a directory all schedules below it,
// but for those of replays, in the order of their names.
func schedules(args []string) (files []string, err error) {
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
			case d.IsDir() && path != arg && replayed.MatchString(d.Name()):
				return filepath.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".json":
				return nil
			}
			is, err := isSchedule(path)
			if is {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, fail(usage, "%w", err)
		}
		if len(files) == before {
			return nil, fail(usage, "there is no schedule below %s", arg)
		}
	}
	return files, nil
}

// isSchedule tells whether a JSON file says that it is a schedule. One that is damaged
// and speaks of it was one: who reads it says what is the matter, and nobody passes it
// over. The error is that of reading it.
func isSchedule(path string) (bool, error) {
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
