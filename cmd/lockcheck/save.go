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
	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/report"
)

// The files of a run that is kept.
const (
	historyFile  = "history.jsonl"
	scheduleFile = "schedule.json"
	verdictFile  = "verdict.json"
	storyFile    = "story.txt"
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
	if err := report.Story(&story, j.History, j.Verdicts, report.Options{}); err != nil {
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
		if err := writeFile(filepath.Join(dir, f.name), f.data); err != nil {
			return dir, unwritable(err)
		}
	}
	return dir, nil
}

// digest tells whether a file is still what it was.
func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// writeFile writes a file that is whole whenever somebody looks.
func writeFile(path string, data []byte) error {
	temporary := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	err := os.WriteFile(temporary, data, 0o666)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}

// canWrite tells why writeFile could not write a file.
func canWrite(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a directory")
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s", dir)
	}
	if err != nil {
		return withoutPath(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

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

// verdictDocument is verdict.json, and what is printed with --json of one history.
type verdictDocument struct {
	Schema     int               `json:"schema"`
	File       string            `json:"file,omitempty"`       // the history
	Model      string            `json:"model,omitempty"`      // that it was held against, alone
	Operations int               `json:"operations,omitempty"` // that the model judged
	Entries    int               `json:"entries,omitempty"`    // that were read for it
	Properties []propertyVerdict `json:"properties"`
	Reached    map[string]int    `json:"reached,omitempty"`
	Was        []string          `json:"was,omitempty"`       // of a replay: what the record violated
	Unused     *int              `json:"unused,omitempty"`    // of a replay: recorded decisions that were not asked for,
	Defaulted  *int              `json:"defaulted,omitempty"` // and those that were missing
	Shrunk     *harness.Shrunk   `json:"shrunk,omitempty"`    // what the run was shrunk for, if it was
	Schedule   string            `json:"schedule,omitempty"`  // digest of the schedule.json beside it
	Note       string            `json:"note,omitempty"`      // what another reading of the history leads to, or what else to try
	Reason     string            `json:"reason,omitempty"`    // why it proves nothing
	Warnings   []string          `json:"warnings,omitempty"`  // what was odd in the file
	Error      string            `json:"error,omitempty"`     // why there is nothing else

	broken []string // of a replay: promised, and violated now
	aside  []string // violated now, and not promised
	asked  []string // of Was, what is promised
	limits string   // of a judge that came to the end of its time or memory
}

// printVerdicts prints one document for what a command judged.
func (a *app) printVerdicts(docs []verdictDocument) error {
	if len(docs) == 1 {
		return a.printJSON(docs[0])
	}
	return a.printJSON(struct {
		Schema int               `json:"schema"`
		Files  []verdictDocument `json:"files"`
	}{1, append([]verdictDocument{}, docs...)})
}

type propertyVerdict struct {
	Property string `json:"property"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason,omitempty"`
	Sentence string `json:"sentence,omitempty"` // of a violation
	Entries  []int  `json:"entries,omitempty"`  // its witness: positions of entries in the history, from 1
	Lines    []int  `json:"lines,omitempty"`    // the same, as lines of the file that was judged
}

func newVerdictDocument(verdicts []checker.Verdict, reached checker.Counts) verdictDocument {
	d := verdictDocument{Schema: 1, Properties: []propertyVerdict{}, Reached: reached.Map()}
	for _, v := range verdicts {
		p := propertyVerdict{Property: string(v.Property), Outcome: v.Outcome.String(), Reason: v.Reason}
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
