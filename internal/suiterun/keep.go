package suiterun

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// keepCounterexamples copies new counterexamples to the directory that the next suite
// replays, and returns the copies. If one cannot be kept, it returns that error, unless
// the suite has failed before; further errors are printed. An interrupted suite keeps
// nothing: not all violations are minimised, and the next suite would keep the same
// ones again.
func (run *Run) keepCounterexamples(doc *results.Document, dir string, before error) (kept []string, failed error) {
	failed = before
	if doc.Shards != nil || doc.Interrupted {
		return nil, failed
	}
	for i := range doc.Cells {
		c := &doc.Cells[i]
		for j := range c.Properties {
			p := &c.Properties[j]
			if c.Kept || p.Counterexample == nil || !p.Promised || p.Known {
				continue
			}
			name, from := fmt.Sprintf("%s-%d", rundir.Slug(c.Name), p.Seed), filepath.Dir(p.File)
			if shrunkToItsEnd(p.Shrunk) {
				name, from = name+"-"+string(p.Property), filepath.Dir(p.Shrunk)
			}
			to, err := roomFor(from, filepath.Join(dir, name))
			if err == nil && to != "" {
				err = copyRun(from, to)
			}
			if err != nil {
				err = exit.Errorf(exit.Usage, "the counterexample is not kept: %w", err)
			}
			switch {
			case err == nil && to != "":
				kept = append(kept, to)
			case err != nil && failed != nil:
				run.Say("lockcheck: %v\n", err)
			case err != nil:
				failed = err
			}
		}
	}
	return kept, failed
}

// shrunkToItsEnd reports whether there is a fully minimised run, which is always the
// same. If time ended minimising, the next suite may get another run and would keep it
// as well.
func shrunkToItsEnd(file string) bool {
	if file == "" {
		return false
	}
	plan, err := rundir.ReadPlan(file)
	return err != nil || plan.Shrunk == nil || plan.Shrunk.Stopped != harness.StoppedTime
}

// roomFor returns a free directory for a counterexample: to, or to with a number if
// another schedule has that name. It returns "" if the same schedule is already there.
func roomFor(from, to string) (string, error) {
	schedule, err := os.ReadFile(filepath.Join(from, rundir.ScheduleFile))
	if err != nil {
		return "", err
	}
	name := to
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
		if is, err := os.ReadFile(filepath.Join(name, rundir.ScheduleFile)); err == nil && bytes.Equal(is, schedule) {
			return "", nil
		}
		name = fmt.Sprintf("%s-%d", to, i)
	}
}

// sweepCopies removes the unfinished copies of a killed suite from a directory.
func sweepCopies(dir string) {
	for _, e := range rundir.Abandoned(dir, func(string) bool { return true }) {
		copied := filepath.Join(dir, e.Name())
		files, err := os.ReadDir(copied)
		if err == nil && e.IsDir() && !slices.ContainsFunc(files, func(f fs.DirEntry) bool { return !slices.Contains(rundir.Files, f.Name()) }) {
			os.RemoveAll(copied)
		}
	}
}

// copyRun copies the files of a run, all of them or none.
func copyRun(from, to string) error {
	temporary := rundir.Temporary(to)
	err := os.MkdirAll(temporary, 0o777)
	for _, name := range rundir.Files {
		var text []byte
		if err == nil {
			text, err = os.ReadFile(filepath.Join(from, name))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(temporary, name), text, 0o666)
		} else if name == rundir.MessagesFile && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(temporary, to)
	}
	if err != nil {
		os.RemoveAll(temporary)
	}
	return err
}
