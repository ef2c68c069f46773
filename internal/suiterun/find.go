package suiterun

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

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// regressions reads the counterexamples below a directory before the first of them
// runs. A missing directory has none. Their worker commands must be those of the suite,
// word for word, because a schedule may come from anybody.
func (run *Run) regressions(dir string, s *suite.Suite) (kept []*keptCell, err error) {
	var workers [][]string
	servers := map[string]*endpoints.Servers{}
	for i := range s.Locks {
		if words, err := suite.Command(s.Locks[i].Worker); err == nil {
			workers = append(workers, words)
		}
		if e := &s.Locks[i]; e.Place() == suite.External {
			servers[cmp.Or(e.Lock, e.Called())] = &e.Servers
		}
	}
	files, err := keptSchedules(dir, run.Out.Path)
	if err != nil {
		return nil, exit.Errorf(exit.Usage, "the counterexamples of the past: %w", err)
	}
	sweepCopies(dir)
	called, names := keptNames(dir, files), map[string]bool{}
	for i, file := range files {
		plan, err := rundir.ReadPlan(file)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(suite.Places, plan.On) {
			return nil, exit.Errorf(exit.Usage, "%s: there is no place %q: it can be %s", rundir.ScheduleOf(file), plan.On, strings.Join(suite.Places, ", "))
		}
		if plan.Worker != nil && !slices.ContainsFunc(workers, func(words []string) bool { return slices.Equal(words, plan.Worker) }) {
			return nil, exit.Errorf(exit.Usage, "%s starts a worker that no entry of the suite names: %s\nIf you trust it: lockcheck replay --allow-worker %s", rundir.ScheduleOf(file), terminal.WorkerCommand(plan), terminal.Quoted(rundir.ScheduleOf(file)))
		}
		if plan.On == suite.External && servers[plan.Lock] == nil {
			return nil, exit.Errorf(exit.Usage, "%s is a run on your own servers, and no entry of the suite with on: %s is called %s", rundir.ScheduleOf(file), suite.External, plan.Lock)
		}
		within, err := filepath.Rel(dir, called[i])
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(rundir.ScheduleOf(file))
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "%w", err)
		}
		k := &keptCell{file: file, text: text, plan: plan, servers: servers[plan.Lock], promise: ask.Recorded(run.Say, plan.Promises, file)}
		k.name = rundir.Unique(names, filepath.Join(defaultDir, within))
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

// keptNames returns the names of the cells of schedules: the directory of a run, or the
// name of a file without its ending. Files whose names would clash have their paths as
// names.
func keptNames(dir string, files []string) (called []string) {
	is := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".json")
		if filepath.Base(file) == rundir.ScheduleFile && filepath.Dir(file) != filepath.Clean(dir) {
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

// keptSchedules returns the schedules below a directory, also those behind symbolic
// links. Every schedule.json counts: an unreadable one must not let the suite pass, and
// neither must a missing one beside the other files of a run. Schedules below out would
// be those of new runs, so the two directories must not overlap.
func keptSchedules(dir, out string) ([]string, error) {
	there, err := rundir.RealPath(out)
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

// keptWalk is one search for schedules.
type keptWalk struct {
	out, realOut string
	been         map[string]bool // real directories: links may form cycles
	files        []string
}

func (w *keptWalk) directory(dir string) error {
	if err := w.apart(dir); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", dir, rundir.WithoutPath(err))
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
			continue // Kubernetes keeps the files of a volume here, and links beside it lead to them
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil: // a dangling link must not let the suite pass either
			return fmt.Errorf("%s: %w", path, rundir.WithoutPath(err))
		case e.Name() == rundir.ScheduleFile && !info.Mode().IsRegular():
			return fmt.Errorf("%s: it is no file: bring it back, or delete it", path)
		case info.IsDir() && filepath.Ext(path) == ".tmp": // an unfinished copy of copyRun
		case info.IsDir():
			if err := w.directory(path); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			is, err := isKept(path)
			if err != nil {
				return fmt.Errorf("%s: %w", path, rundir.WithoutPath(err))
			}
			if is {
				w.files, found = append(w.files, path), true
			}
		}
	}
	if !found && rundir.HasRest(dir) {
		return fmt.Errorf("%s: its %s is missing: bring it back (does git ignore it?), or delete what is left of that counterexample", dir, rundir.ScheduleFile)
	}
	return nil
}

// isKept reports whether a file is a schedule, or has to be read as one.
func isKept(path string) (bool, error) {
	switch {
	case filepath.Base(path) == rundir.ScheduleFile:
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
	return rundir.IsSchedule(path)
}

// apart returns an error if a directory contains the one for output, or is inside it.
func (w *keptWalk) apart(dir string) error {
	real, err := rundir.RealPath(dir)
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
