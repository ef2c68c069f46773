package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
		return dir, fail(usage, "cannot write to --out: %v", err)
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
	verdict, err := json.MarshalIndent(newVerdictDocument(j.Verdicts, j.Reached), "", " ")
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
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o666); err != nil {
			return dir, fail(usage, "cannot write to --out: %v", err)
		}
	}
	return dir, nil
}

// verdictDocument is verdict.json, and what check prints with --json.
type verdictDocument struct {
	Schema     int               `json:"schema"`
	File       string            `json:"file,omitempty"`
	Properties []propertyVerdict `json:"properties"`
	Reached    map[string]int    `json:"reached,omitempty"`
}

type propertyVerdict struct {
	Property string `json:"property"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason,omitempty"`
	Sentence string `json:"sentence,omitempty"` // of a violation
	Entries  []int  `json:"entries,omitempty"`  // its witness: positions of entries in the history, from 1
}

func newVerdictDocument(verdicts []checker.Verdict, reached checker.Counts) verdictDocument {
	d := verdictDocument{Schema: 1, Reached: reached.Map()}
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

// printJSON prints one document.
func (a *app) printJSON(doc any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(doc)
}

// printf writes a result.
func (a *app) printf(format string, args ...any) {
	if !a.json {
		fmt.Fprintf(a.stdout, format, args...)
	}
}

// options of what is printed on the terminal.
func (a *app) options() report.Options {
	f, ok := a.stdout.(*os.File)
	return report.Options{Color: ok && isTerminal(f) && os.Getenv("NO_COLOR") == ""}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
