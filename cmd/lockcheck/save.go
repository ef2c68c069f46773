package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/report"
)

// The files of a run that is kept.
const (
	historyFile  = results.HistoryFile
	scheduleFile = results.ScheduleFile
	verdictFile  = results.VerdictFile
	storyFile    = results.StoryFile
)

// save writes the files of a run below the directory for output, and returns
// where.
func (a *app) save(name string, j *harness.Judged) (dir string, err error) {
	dir = filepath.Join(a.out, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return dir, unwritable(err)
	}
	var historyText, schedule, story bytes.Buffer
	if err := history.Encode(&historyText, j.History); err != nil {
		return dir, err
	}
	if err := j.Plan.Write(&schedule); err != nil {
		return dir, err
	}
	if err := report.Story(&story, j.History, j.Verdicts, storyOptions(j)); err != nil {
		return dir, err
	}
	doc := newVerdictDocument(j.Verdicts, j.Reached)
	if doc.Shrunk = j.Plan.Shrunk; doc.Shrunk != nil {
		fmt.Fprintf(&story, "\n%s.\n", wrap(9, shrunkWords(doc.Shrunk)))
	}
	doc.Schedule = digest(schedule.Bytes())
	verdict, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return dir, err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{historyFile, historyText.Bytes()},
		{scheduleFile, schedule.Bytes()},
		{verdictFile, append(verdict, '\n')},
		{storyFile, story.Bytes()},
	} {
		if err := results.WriteFile(filepath.Join(dir, f.name), f.data); err != nil {
			return dir, unwritable(err)
		}
	}
	return dir, nil
}

// digest tells whether a file is still what it was.
func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// withoutPath is an error of the file system without the names of files.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// unwritable explains that the directory for output is no good.
func unwritable(err error) error {
	return fail(usage, "cannot write to --out: %w", err)
}

// unkept tells whether something was done, and all that went wrong is that its files
// could not be written: what it came to is told all the same.
func unkept(err error) bool { return codeFor(err) == usage }

// verdictDocument is verdict.json, and what is printed with --json of one history.
type verdictDocument struct {
	Schema     int               `json:"schema"`               // version of this document
	File       string            `json:"file,omitempty"`       // the history that was judged
	Model      string            `json:"model,omitempty"`      // the model that it was held against, alone
	Operations int               `json:"operations,omitempty"` // operations that the model judged
	Entries    int               `json:"entries,omitempty"`    // lines that were read for the model
	Properties []propertyVerdict `json:"properties"`           // every property, or the model, and what was found
	Reached    map[string]int    `json:"reached,omitempty"`    // what the run came to, counted by name: lockcheck list reached
	Was        []string          `json:"was,omitempty"`        // of a replay: properties that the record violated
	Unused     *int              `json:"unused,omitempty"`     // of a replay: recorded decisions that were not asked for
	Defaulted  *int              `json:"defaulted,omitempty"`  // of a replay: decisions that were asked for and not recorded
	Shrunk     *harness.Shrunk   `json:"shrunk,omitempty"`     // what the run was shrunk for, if it was
	Schedule   string            `json:"schedule,omitempty"`   // digest of the schedule.json beside it
	Note       string            `json:"note,omitempty"`       // what another reading of the history leads to, or what else to try
	Reason     string            `json:"reason,omitempty"`     // why it proves nothing
	Warnings   []string          `json:"warnings,omitempty"`   // what was odd in the file
	Error      string            `json:"error,omitempty"`      // why there is nothing else

	Passed []string `json:"passed_over,omitempty"` // of check, of a directory: files beside it that end as histories do and are none

	broken []string // of a replay: promised, and violated now
	aside  []string // violated now, and not promised
	asked  []string // of Was, what is promised
	limits string   // of a judge that came to the end of its time or memory
}

// printVerdicts prints one document for what a command judged: of a single file
// that file's own.
func (a *app) printVerdicts(several verdictsDocument) error {
	if len(several.Files) == 1 && !several.Interrupted {
		one := several.Files[0]
		one.Passed = several.Passed
		return a.printJSON(one)
	}
	several.Schema, several.Files = 1, append([]verdictDocument{}, several.Files...)
	return a.printJSON(several)
}

// verdictsDocument is what is printed with --json of several histories, or none.
type verdictsDocument struct {
	Schema int               `json:"schema"` // version of this document
	Files  []verdictDocument `json:"files"`  // what came of each, in order

	Passed      []string `json:"passed_over,omitempty"` // of check, of directories: files beside histories that end as these do and are none
	Interrupted bool     `json:"interrupted,omitempty"` // somebody ended it: this is what there was until then
	Left        int      `json:"not_begun,omitempty"`   // files or cases that were not begun, as it was interrupted
}

// propertyVerdict is what was found about one property.
type propertyVerdict struct {
	Property string `json:"property"`           // name of the property, or of the model
	Outcome  string `json:"outcome"`            // valid, violated, unknown or n/a
	Reason   string `json:"reason,omitempty"`   // why it is unknown or n/a
	Sentence string `json:"sentence,omitempty"` // what happened, in one sentence, where it is violated
	// Locks are the names of all that are violated, of a model, where there are
	// several; the sentence and the lines are about the first.
	Locks []string `json:"locks,omitempty"`
	// Porcupine is what it says of a verdict: agreed, undecided or disagreed; not
	// there: it has no model of the property.
	Porcupine checker.Opinion `json:"porcupine,omitempty"`
	Entries   []int           `json:"entries,omitempty"` // what convicts: entries of the history, by position from 1
	Lines     []int           `json:"lines,omitempty"`   // the same as lines of the file that was judged, from 1
}

func newVerdictDocument(verdicts []checker.Verdict, reached checker.Counts) verdictDocument {
	d := verdictDocument{Schema: 1, Properties: []propertyVerdict{}, Reached: reached.Map()}
	for _, v := range verdicts {
		p := propertyVerdict{Property: string(v.Property), Outcome: v.Outcome.String(), Reason: v.Reason, Porcupine: v.Porcupine}
		if v.Witness != nil {
			p.Sentence = v.Witness.Sentence
			for _, pos := range v.Witness.Entries {
				p.Entries = append(p.Entries, pos+1)
			}
		}
		d.Properties = append(d.Properties, p)
	}
	return d
}
