package merge

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// findResults reads the results in and below directories, each once.
func (j *Join) findResults(dirs []string) (list []results.Source, err error) {
	by := map[string]results.Source{}
	for _, dir := range dirs {
		below, err := resultsBelow(dir)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			j.Say("lockcheck: no %s in %s or below\n", results.File, dir)
		}
		for _, f := range below {
			name := rundir.RealName(f.Dir)
			if _, twice := by[name]; !twice {
				j.withoutLost(f.Document)
				by[name] = f
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, by[name])
	}
	if list == nil {
		return nil, exit.Errorf(exit.Usage, "there is nothing to merge: %w", errNoResults)
	}
	return list, nil
}

// withoutLost removes from a result the minimised runs whose files are missing, if the
// original runs are there: those show the same violation, in a longer run.
func (j *Join) withoutLost(doc *results.Document) {
	said := map[string]bool{}
	for x := range doc.Counterexamples {
		if x.Shrunk == "" || rundir.Exists(x.Shrunk) || !rundir.Exists(x.File) {
			continue
		}
		if !said[x.Shrunk] {
			j.Say("lockcheck: %s is not there: the run that it was shrunk from counts\n", filepath.Dir(x.Shrunk))
		}
		said[x.Shrunk], x.Shrunk = true, ""
	}
}

// resultsBelow reads the results in a directory and below it.
func resultsBelow(dir string) (list []results.Source, err error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit.Errorf(exit.Usage, "no directory %s", dir)
	case err != nil:
		return nil, exit.Errorf(exit.Usage, "%w", err)
	case !info.IsDir():
		return nil, exit.Errorf(exit.Usage, "%s is no directory: merge takes those that shards had as --out", dir)
	}
	walked := map[string]bool{} // directories that were named or linked to: links may form cycles
	var walk func(dir string) error
	walk = func(dir string) error {
		name := rundir.RealName(dir)
		if walked[name] {
			return nil
		}
		walked[name] = true
		// The slash makes WalkDir follow a symbolic link.
		return filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Type() == fs.ModeSymlink && isDir(path):
				return walk(path)
			case d.IsDir() || d.Name() != results.File:
				return nil
			}
			doc, err := results.Read(filepath.Dir(path))
			list = append(list, results.Source{Dir: filepath.Dir(path), Document: doc})
			return err
		})
	}
	if err := walk(dir); err != nil {
		return nil, exit.Errorf(exit.Usage, "%w", err)
	}
	return list, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
