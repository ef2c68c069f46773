// Package rundir keeps the files of a run in a directory: begins it, writes it, replaces
// it, removes it and copies it.
package rundir

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/report"
)

// The files of a run.
const (
	HistoryFile  = "history.jsonl"
	ScheduleFile = "schedule.json"
	VerdictFile  = "verdict.json"
	StoryFile    = "story.txt"
	PageFile     = "report.html"
	// MessagesFile is absent if the environment does not see the messages.
	MessagesFile = "messages.jsonl"
)

// Files are the files of a run, in the order in which they are removed.
var Files = []string{PageFile, StoryFile, VerdictFile, MessagesFile, HistoryFile, ScheduleFile}

// WriteError says that the file system refused to write a file. Other errors of this
// package are bugs.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }

func (e *WriteError) Unwrap() error { return e.Err }

// writeError wraps err, unless it is nil.
func writeError(err error) error {
	if err == nil {
		return nil
	}
	return &WriteError{err}
}

// Begin makes the directory of a run that is about to start, removes the files of an
// earlier run, and writes the schedule. It returns the history's file, which is empty.
func Begin(dir string, plan *harness.Plan) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, writeError(err)
	}
	if err := Clear(dir); err != nil {
		return nil, err
	}
	var schedule bytes.Buffer
	if err := plan.Write(&schedule); err != nil {
		return nil, err
	}
	if err := WriteFile(filepath.Join(dir, ScheduleFile), schedule.Bytes()); err != nil {
		return nil, writeError(err)
	}
	f, err := os.Create(filepath.Join(dir, HistoryFile))
	return f, writeError(err)
}

// Save writes the files of a run to a directory, each in one step.
func Save(dir string, j *harness.Judged) error {
	var events, schedule, story, page bytes.Buffer
	if err := cmp.Or(
		history.Encode(&events, j.History), j.Plan.Write(&schedule),
		report.Story(&story, j.History, j.Verdicts, StoryOptions(j)), writeCase(&story, j),
	); err != nil {
		return err
	}
	if err := report.Page(&page, j.History, j.Verdicts, pageOptions(j)); err != nil {
		return err
	}
	doc := NewVerdict(j.Verdicts, j.Reached)
	if doc.Shrunk = j.Plan.Shrunk; doc.Shrunk != nil {
		fmt.Fprintf(&story, "\n%s.\n", layout.Wrap(9, doc.Shrunk.String()))
	}
	doc.Schedule = Digest(schedule.Bytes())
	verdict, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		HistoryFile: events.Bytes(), ScheduleFile: schedule.Bytes(), VerdictFile: append(verdict, '\n'), StoryFile: story.Bytes(),
		PageFile: page.Bytes(),
	}
	if j.Messages != nil {
		var messages bytes.Buffer
		if err := history.EncodeMessages(&messages, j.Messages); err != nil {
			return err
		}
		files[MessagesFile] = messages.Bytes()
	}
	return Write(dir, files)
}

// Messages reads the messages of a run beside its history. It returns nil if there are
// none, or if the file is not one of messages.
func Messages(historyFile string) *history.Messages {
	if filepath.Base(historyFile) != HistoryFile {
		return nil
	}
	f, err := os.Open(filepath.Join(filepath.Dir(historyFile), MessagesFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	m, err := history.DecodeMessages(f)
	if err != nil {
		return nil
	}
	return m
}

// Write writes files of a run, by their names, to a directory, which it makes if it is
// missing. The messages of another run do not stay beside a new history.
func Write(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return writeError(err)
	}
	if files[HistoryFile] != nil && files[MessagesFile] == nil {
		if err := os.Remove(filepath.Join(dir, MessagesFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return writeError(err)
		}
	}
	for name, data := range files {
		if err := WriteFile(filepath.Join(dir, name), data); err != nil {
			return writeError(err)
		}
	}
	return nil
}

// Clear removes the files of a run from a directory. Other files stay.
func Clear(dir string) error {
	for _, file := range Files {
		if err := os.Remove(filepath.Join(dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return writeError(err)
		}
	}
	return nil
}

// Remove removes the files of a run, and the directory if nothing else is in it.
func Remove(dir string) error {
	err := Clear(dir)
	os.Remove(dir)
	return err
}

// Copy copies the files of a run that are in one directory to another. It replaces a run
// that is there.
func Copy(dir, to string) error {
	files := map[string][]byte{}
	for _, name := range Files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			files[name] = data
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	return Write(to, files)
}
