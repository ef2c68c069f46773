package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// regressions reads the counterexamples below a directory, before any is
// carried out. No directory: there are none. Their workers have to be the suite's,
// word for word: anybody may have written a schedule.
func (a *app) regressions(dir string, s *suite.Suite) (kept []*keptCell, err error) {
	var workers [][]string
	for i := range s.Locks {
		if words, err := suite.Command(s.Locks[i].Worker); err == nil {
			workers = append(workers, words)
		}
	}
	files, err := keptSchedules(dir, a.out)
	if err != nil {
		return nil, fail(usage, "the counterexamples of the past: %w", err)
	}
	sweepCopies(dir)
	called, names := keptNames(dir, files), map[string]bool{}
	for i, file := range files {
		plan, err := readPlan(file)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(suite.Places, plan.On) {
			return nil, fail(usage, "%s: there is no place %q: it can be %s", scheduleOf(file), plan.On, strings.Join(suite.Places, ", "))
		}
		if plan.Worker != nil && !slices.ContainsFunc(workers, func(words []string) bool { return slices.Equal(words, plan.Worker) }) {
			return nil, fail(usage, "%s starts a worker that no entry of the suite names: %s\nIf you trust it: lockcheck replay --allow-worker %s", scheduleOf(file), commandOf(plan), quoted(scheduleOf(file)))
		}
		within, err := filepath.Rel(dir, called[i])
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(scheduleOf(file))
		if err != nil {
			return nil, fail(usage, "%w", err)
		}
		k := &keptCell{file: file, text: text, plan: plan, promise: a.recorded(plan.Promises, file)}
		k.name = rundir.Unique(names, filepath.Join(regressionsDir, within))
		k.cell = results.Cell{
			Name: filepath.ToSlash(called[i]), Lock: plan.Lock, On: plan.On, Workload: plan.Workload, Strategy: plan.Strategy,
			Promises: k.promise, Kept: true, Of: plan.Cell, Settings: cmp.Or(plan.CellSettings, rundir.Digest(text)), Seed: plan.Seed,
		}
		for _, in := range plan.Faults {
			if !slices.Contains(k.cell.Faults, in.Fault) {
				k.cell.Faults = append(k.cell.Faults, in.Fault)
			}
		}
		kept = append(kept, k)
	}
	return kept, nil
}

// keptNames are what the cells of schedules are called: by the directory of a
// run, by a file without its ending. Where that is two files' name, or one
// file's name and another's path, each is called by its path.
func keptNames(dir string, files []string) (called []string) {
	is := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".json")
		if filepath.Base(file) == scheduleFile && filepath.Dir(file) != filepath.Clean(dir) {
			name = filepath.Dir(file)
		}
		called = append(called, name)
		is[name]++
		is[file]++
	}
	for i, name := range called {
		if is[name] > 1 {
			called[i] = files[i]
		}
	}
	return called
}

// keptSchedules are the schedules below a directory, behind symbolic links, too.
// A schedule.json is one, whatever is in it: one that cannot be read, or is missing
// where the rest of a run is, is no reason to pass. What runs are about to leave in
// out is none, so that the two have to lie apart.
func keptSchedules(dir, out string) ([]string, error) {
	there, err := realPath(out)
	if err != nil {
		return nil, err
	}
	w := keptWalk{out: out, realOut: there, been: map[string]bool{}}
	if err := w.apart(dir); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = w.directory(dir)
	return w.files, err
}

// keptWalk is one look for schedules.
type keptWalk struct {
	out, realOut string
	been         map[string]bool // real directories: links may go round in circles
	files        []string
}

func (w *keptWalk) directory(dir string) error {
	if err := w.apart(dir); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", dir, withoutPath(err))
	case w.been[real]:
		return nil
	}
	w.been[real] = true
	found := false
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "..") {
			continue // where Kubernetes keeps a volume's files: links beside it lead there
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil: // a link that leads nowhere is no reason to pass, either
			return fmt.Errorf("%s: %w", path, withoutPath(err))
		case e.Name() == scheduleFile && !info.Mode().IsRegular():
			return fmt.Errorf("%s: it is no file: bring it back, or delete it", path)
		case info.IsDir() && filepath.Ext(path) == ".tmp": // what copyRun could not end
		case info.IsDir():
			if err := w.directory(path); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			is, err := isKept(path)
			if err != nil {
				return fmt.Errorf("%s: %w", path, withoutPath(err))
			}
			if is {
				w.files, found = append(w.files, path), true
			}
		}
	}
	if !found && hasRest(dir) {
		return fmt.Errorf("%s: its %s is missing: bring it back (does git ignore it?), or delete what is left of that counterexample", dir, scheduleFile)
	}
	return nil
}

// isKept tells whether a file is a schedule, or is to be taken for one.
func isKept(path string) (bool, error) {
	switch {
	case filepath.Base(path) == scheduleFile:
		return true, nil
	case filepath.Ext(path) != ".json":
		return false, nil
	}
	text, err := os.ReadFile(path)
	if err == nil && len(bytes.Trim(text, " \t\r\n\x00")) == 0 {
		err = errors.New("it is empty: bring back what was in it, or delete it")
	}
	if err != nil {
		return false, err
	}
	return isSchedule(path)
}

// hasRest tells whether a directory has what lies beside the schedule of a run.
func hasRest(dir string) bool {
	for name, m := range besideSchedule {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if is, err := m.on(path); err == nil && is {
			return true
		}
	}
	return false
}

// apart says that a directory holds the one for output, or lies in it.
func (w *keptWalk) apart(dir string) error {
	real, err := realPath(dir)
	if err != nil {
		return err
	}
	for _, pair := range [][2]string{{real, w.realOut}, {w.realOut, real}} {
		if rel, err := filepath.Rel(pair[0], pair[1]); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("%s and --out %s are not apart: what this suite leaves would be replayed by the next one. Name another directory for one of them", dir, w.out)
		}
	}
	return nil
}

// realPath is where a path leads, as far as there is anything.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for rest := ""; ; path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest) {
		real, err := filepath.EvalSymlinks(path)
		if err == nil || path == filepath.Dir(path) {
			return filepath.Join(real, rest), err
		}
	}
}
