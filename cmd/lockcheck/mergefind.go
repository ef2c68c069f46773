package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/internal/results"
)

// foundResult is the result that a directory holds.
type foundResult struct {
	dir    string
	doc    *results.Document // of run and suite
	matrix *matrixDocument
}

func (f *foundResult) file() string { return filepath.Join(f.dir, results.File) }

func (f *foundResult) head() *results.Head {
	if f.matrix != nil {
		return &f.matrix.Head
	}
	return &f.doc.Head
}

func (f *foundResult) source() results.Source {
	s := results.Source{File: f.file(), Head: f.head()}
	if f.matrix != nil {
		s.Cells, s.Essence = f.matrix.frame(), f.matrix.essence()
	} else {
		s.Cells, s.Essence = f.doc.Cells, f.doc.Essence()
	}
	return s
}

// findResults reads the results in and below directories, each once.
func (a *app) findResults(dirs []string) (list []*foundResult, err error) {
	by := map[string]*foundResult{}
	for _, dir := range dirs {
		below, err := resultsBelow(dir)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			a.say("lockcheck: no %s in %s or below\n", results.File, dir)
		}
		for _, f := range below {
			name := realName(f.dir)
			if by[name] == nil {
				a.withoutLost(f)
				by[name] = f
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, by[name])
	}
	if list == nil {
		return nil, fail(usage, "there is nothing to merge: %w", errNoResults)
	}
	return list, nil
}

// withoutLost takes out of a result the shrunk runs that are not there, where the runs
// that they were made of are: those tell the same, at greater length.
func (a *app) withoutLost(f *foundResult) {
	said := map[string]bool{}
	look := func(file string, shrunk *string) {
		if *shrunk == "" || canRead(*shrunk) || !canRead(file) {
			return
		}
		if !said[*shrunk] {
			a.say("lockcheck: %s is not there: the run that it was shrunk from counts\n", filepath.Dir(*shrunk))
		}
		said[*shrunk], *shrunk = true, ""
	}
	if f.matrix != nil {
		for i := range f.matrix.Cells {
			look(f.matrix.Cells[i].File, &f.matrix.Cells[i].Shrunk)
		}
		return
	}
	for x := range f.doc.Counterexamples {
		look(x.File, &x.Shrunk)
	}
}

// resultsBelow reads the results in a directory and below it.
func resultsBelow(dir string) (list []*foundResult, err error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(usage, "no directory %s", dir)
	case err != nil:
		return nil, fail(usage, "%w", err)
	case !info.IsDir():
		return nil, fail(usage, "%s is no directory: merge takes those that shards had as --out", dir)
	}
	walked := map[string]bool{} // directories that were named or linked to: links may go in circles
	var walk func(dir string) error
	walk = func(dir string) error {
		name := realName(dir)
		if walked[name] {
			return nil
		}
		walked[name] = true
		// The slash leads through a symbolic link.
		return filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Type() == fs.ModeSymlink && isDir(path):
				return walk(path)
			case d.IsDir() || d.Name() != results.File:
				return nil
			}
			f, err := readResult(filepath.Dir(path))
			list = append(list, f)
			return err
		})
	}
	if err := walk(dir); err != nil {
		return nil, fail(usage, "%w", err)
	}
	return list, nil
}

// realName is what a directory is called without links, as far as that can be said.
func realName(dir string) string {
	name, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return dir
	}
	whole, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return whole
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readResult reads the result in a directory. The files that it names are said
// from where we are.
func readResult(dir string) (*foundResult, error) {
	f := &foundResult{dir: dir}
	doc, err := results.Read(dir)
	if err != nil {
		return nil, err
	}
	if doc.Command != matrixName {
		f.doc = doc
		return f, nil
	}
	text, err := os.ReadFile(f.file())
	if err != nil {
		return nil, err
	}
	f.matrix = new(matrixDocument)
	if err := json.Unmarshal(text, f.matrix); err != nil {
		return nil, fail(usage, "%s is no result of lockcheck: %w", f.file(), err)
	}
	if err := f.matrix.validate(); err != nil {
		return nil, fail(usage, "%s is no result of lockcheck: %w", f.file(), err)
	}
	f.matrix.relocate(results.OutOf(dir))
	return f, nil
}
