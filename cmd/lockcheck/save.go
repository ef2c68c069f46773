package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The files of a kept run.
const (
	historyFile  = rundir.HistoryFile
	scheduleFile = rundir.ScheduleFile
	verdictFile  = rundir.VerdictFile
	storyFile    = rundir.StoryFile
)

// save writes the files of a run below the directory for output, and returns the
// directory of the run.
func (a *app) save(name string, j *harness.Judged) (dir string, err error) {
	dir = a.runDir(name)
	return dir, unsaved(rundir.Save(dir, j))
}

// unsaved explains an error of rundir: the directory for output may be unusable.
func unsaved(err error) error {
	if w := (*rundir.WriteError)(nil); errors.As(err, &w) {
		return unwritable(w.Err)
	}
	return err
}

// withoutPath returns an error of the file system without the names of files.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// unwritable explains that the directory for output is unusable.
func unwritable(err error) error {
	return exit.Errorf(exit.Usage, "cannot write to --out: %w", err)
}

// unkept reports whether the only failure is that files could not be written. The
// result is printed in spite of such an error.
func unkept(err error) bool { return exit.Code(err) == exit.Usage }

// verdictDocument is the --json document for one history, with further data for the
// command itself.
type verdictDocument struct {
	rundir.Verdict

	broken []string // of a replay: promised properties that it violates
	aside  []string // properties that it violates and are not promised
	asked  []string // the promised ones of Was
	limits string   // of a judge that ran out of time or memory
}

// printVerdicts prints one document for all files that a command judged. For a single
// file that is the file's own document.
func (a *app) printVerdicts(several verdictsDocument) error {
	if len(several.Files) == 1 && !several.Interrupted {
		one := several.Files[0]
		one.Passed = several.Passed
		return a.PrintJSON(one)
	}
	several.Schema, several.Files = 1, append([]rundir.Verdict{}, several.Files...)
	return a.PrintJSON(several)
}

// verdictsDocument is the --json document for several histories, or none.
type verdictsDocument struct {
	Schema int              `json:"schema"` // version of this document
	Files  []rundir.Verdict `json:"files"`  // what came of each, in order

	Passed      []string `json:"passed_over,omitempty"` // of check, of directories: files beside histories that end as these do and are none
	Interrupted bool     `json:"interrupted,omitempty"` // somebody ended it: this is what there was until then
	Left        int      `json:"not_begun,omitempty"`   // files or cases that were not begun, as it was interrupted
}
