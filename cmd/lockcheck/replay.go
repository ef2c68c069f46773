package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
)

func (a *app) replayCommand() *cobra.Command {
	var promised []string
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Run again what a file has kept",
		Long: `Carries out a saved schedule again (schedule.json, or the history.jsonl beside
it) and judges the run anew. In the simulator the history comes out the same to
the byte, unless the lock or lockcheck has changed since: then it says how many
of the recorded choices were not asked for, and how many were missing.`,
		Example:     `  lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json`,
		Args:        needArgs("FILE", "lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json"),
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			pr, err := parsePromise(promised)
			if err != nil {
				return err
			}
			taken := map[string]bool{}
			return a.eachFile(cmd, args, func(file string) (verdictDocument, int, error) {
				if len(args) > 1 {
					a.heading(file)
				}
				return a.replay(cmd, file, pr, taken)
			})
		},
	}
	promiseFlag(cmd, &promised)
	return cmd
}

// replay carries out one schedule again. taken are the directories that this
// command has written to.
func (a *app) replay(cmd *cobra.Command, file string, pr promise, taken map[string]bool) (doc verdictDocument, code int, err error) {
	plan, err := readPlan(file)
	if err != nil {
		return doc, 0, err
	}
	before := readRecord(file) // now: the new files may take its place
	if len(pr) == 0 {
		pr = a.recorded(plan.Promises, file)
	} else {
		plan.Promises = pr.strings()
	}
	p, err := a.open(cmd, placeFlags{on: plan.On, lease: plan.Lease})
	if err != nil {
		return doc, 0, err
	}
	name := replayName(plan, taken)
	j, fit, err := p.execute(plan, name)
	if err != nil {
		return doc, 0, err
	}
	dir, err := p.save(name, j)
	if err != nil {
		return doc, 0, err
	}
	code = pr.code(j.Outcome)
	doc = newVerdictDocument(j.Verdicts, j.Reached)
	doc.File, doc.Reason = filepath.Join(dir, historyFile), pr.unjudged()
	if why := idle(j); why != "" && code == held {
		code, doc.Reason = unproven, why
	}
	if err := a.story(j.History, j.Verdicts, pr); err != nil {
		return doc, 0, err
	}
	a.verdictTable(j.Verdicts, pr)
	if doc.Reason != "" {
		a.paragraph(2, "Proves nothing: "+doc.Reason+".")
	}
	words, err := before.compare(j, fit, doc.File)
	if words != "" {
		a.paragraph(0, words)
	}
	a.printf("Files    %s\n", dir)
	return doc, code, err
}

// idle says why a run under its schedule proves nothing, or "".
func idle(j *harness.Judged) string {
	if j.Reached[checker.Grants] == 0 {
		return "nobody ever got the lock"
	}
	var kinds []string
	for _, in := range j.Plan.Faults {
		if j.Reached[checker.TouchedBy(in.Fault)] == 0 && !slices.Contains(kinds, in.Fault) {
			kinds = append(kinds, in.Fault)
		}
	}
	if kinds == nil {
		return ""
	}
	return strings.Join(kinds, ", ") + " touched nobody"
}

// replayName is the directory of a replay: the run's name, or the case's.
func replayName(plan *harness.Plan, taken map[string]bool) string {
	base := runName(plan) + "-replay"
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	taken[name] = true
	return name
}

// record is what stands beside a schedule: the history that was written then.
type record struct {
	path   string
	text   []byte // nil: there is none
	header history.Header
	edited bool // the schedule was, since
}

// readRecord reads the history beside file, where there is one.
func readRecord(file string) record {
	dir := filepath.Dir(file)
	r := record{path: filepath.Join(dir, historyFile)}
	var err error
	if r.text, err = os.ReadFile(r.path); err != nil {
		return r
	}
	if in, err := history.NewReader(bytes.NewReader(r.text), r.path); err == nil {
		r.header = in.Header()
	}
	var verdict verdictDocument
	text, err := os.ReadFile(filepath.Join(dir, verdictFile))
	if err == nil && json.Unmarshal(text, &verdict) == nil && verdict.Schedule != "" {
		schedule, _ := os.ReadFile(scheduleOf(file))
		r.edited = digest(schedule) != verdict.Schedule
	}
	return r
}

// compare holds a replay to the record. The same choices, made for the same
// version, have to lead to the same history.
func (r record) compare(j *harness.Judged, fit harness.Replay, path string) (words string, err error) {
	if j.Plan.On != "sim" {
		return fmt.Sprintf("The same schedule, on %s: real time does not repeat to the byte.", j.Plan.On), nil
	}
	if fit.Unused > 0 || fit.Defaulted > 0 {
		return fmt.Sprintf("Not the same run: %s of the record unused, %s missing in it.",
			plural(fit.Unused, "choice"), plural(fit.Defaulted, "choice")), nil
	}
	if r.text == nil {
		return "", nil
	}
	var now bytes.Buffer
	if err := history.Encode(&now, j.History); err != nil {
		return "", err
	}
	switch {
	case bytes.Equal(r.text, now.Bytes()):
		return "The history is the same to the byte.", nil
	case r.edited:
		return "The history is another one: the schedule was changed since it was recorded.", nil
	case r.header.Version != harness.Version:
		return fmt.Sprintf("The history is another one: lockcheck %q recorded it, and this is %q.", r.header.Version, harness.Version), nil
	case bytes.Equal(entries(r.text), entries(now.Bytes())) && !slices.Equal(r.header.Promises, j.Plan.Promises):
		return "The history is the same to the byte, but for what is promised.", nil
	}
	return "", fail(bug, "the run does not repeat: %s and %s differ, though every choice was the same", r.path, path)
}

// entries are a history without its first line.
func entries(text []byte) []byte {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}

// scheduleOf is the schedule that a file stands for: of a history, the one
// beside it.
func scheduleOf(file string) string {
	if strings.HasSuffix(file, ".jsonl") {
		return filepath.Join(filepath.Dir(file), scheduleFile)
	}
	return file
}

// readPlan reads a schedule.
func readPlan(file string) (*harness.Plan, error) {
	schedule := scheduleOf(file)
	f, err := os.Open(schedule)
	if err != nil && schedule != file {
		return nil, fail(usage, "no schedule to replay beside %s: %w", file, err)
	}
	if err != nil {
		return nil, fail(usage, "%w", err)
	}
	defer f.Close()
	plan, err := harness.ReadPlan(f)
	if err != nil {
		return nil, fail(usage, "%s: %w", schedule, err)
	}
	return plan, nil
}
