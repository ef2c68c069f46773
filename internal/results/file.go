package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Write writes a document to a directory of results, so that readers never see a part
// of it. File names in it become relative to dir, so that the directory can
// be moved to another machine. Replay commands are left out, because they work only where they were
// printed.
func Write(dir string, d *Document) error {
	there := copied(d)
	there.Relocate(func(file string) string {
		if rel, err := filepath.Rel(dir, file); err == nil {
			return filepath.ToSlash(rel)
		}
		return file
	})
	return rundir.WriteJSON(filepath.Join(dir, File), there)
}

// Read reads the document of a directory of results. File names in it become relative
// to the current directory.
func Read(dir string) (*Document, error) {
	d, err := ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, err
	}
	for i := range d.Cells {
		if d.Matrix != nil && d.Cells[i].Properties == nil {
			return nil, fmt.Errorf("%s is no result of lockcheck: cells[%d].result is not there: only what --shard or merge left can be merged", filepath.Join(dir, File), i)
		}
	}
	d.Relocate(func(file string) string { return filepath.Join(dir, filepath.FromSlash(file)) })
	return d, nil
}

// mostMiB is the largest size of a document.
const mostMiB = 64

// ReadFile reads a document unchanged, whichever command printed it. Its errors name
// the file.
func ReadFile(path string) (*Document, error) {
	text, err := rundir.ReadUpTo(path, mostMiB, "a result of lockcheck")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no file %s", path)
	} else if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory: name the %s in it", path, File)
	} else if err != nil {
		return nil, err
	}
	d := new(Document)
	switch err := json.Unmarshal(text, d); {
	case err != nil:
		return nil, fmt.Errorf("%s is no result of lockcheck: %w", path, err)
	case d.Schema > Schema:
		return nil, fmt.Errorf("%s was written by a later lockcheck (schema %d, and this one knows %d)", path, d.Schema, Schema)
	case d.Schema == 0 || d.Cells == nil:
		return nil, fmt.Errorf("%s is no result of lockcheck: it has no cells", path)
	}
	err = d.Validate()
	if err == nil && d.Matrix != nil {
		var m MatrixDocument
		err = json.Unmarshal(text, &m)
		err = cmp.Or(err, m.validate())
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no result of lockcheck: %w", path, err)
	}
	return d, nil
}

// Relocate changes the file names in the document; now returns the new name of a file.
// Replay commands are removed, because they name the old files.
func (d *Document) Relocate(now func(file string) string) {
	for x := range d.Counterexamples {
		x.Replay = ""
		for _, file := range []*string{&x.File, &x.Shrunk} {
			if *file != "" {
				*file = now(*file)
			}
		}
	}
}

// Counterexamples calls yield with all counterexamples of the document: those of the
// cells, and the copies in its lists. Gone violations are left out, because their files
// belong to the baseline.
func (d *Document) Counterexamples(yield func(*Counterexample) bool) {
	for _, x := range d.Found {
		if !yield(x) {
			return
		}
	}
	lists := [][]Violation{d.Violations}
	if b := d.Baseline; b != nil {
		lists = append(lists, b.Known, b.New)
	}
	for _, list := range lists {
		for i := range list {
			if !yield(&list[i].Counterexample) {
				return
			}
		}
	}
}

// Found calls yield with the counterexamples of the cells.
func (d *Document) Found(yield func(*Cell, *Counterexample) bool) {
	for i := range d.Cells {
		for _, p := range d.Cells[i].Properties {
			if p.Counterexample != nil && !yield(&d.Cells[i], p.Counterexample) {
				return
			}
		}
	}
}

// NamesRun reports whether dir has a counterexample of the document from real servers.
func (d *Document) NamesRun(dir string) bool {
	return slices.ContainsFunc(d.Cells, func(c Cell) bool {
		return !env.IsVirtual(c.On) && slices.ContainsFunc(c.Properties, func(p PropertyResult) bool {
			return p.Counterexample != nil && filepath.Dir(p.File) == dir
		})
	})
}

// Schedule returns the schedule file of the counterexample, that of the minimised run
// if there is one.
func (x *Counterexample) Schedule() string {
	return filepath.Join(filepath.Dir(cmp.Or(x.Shrunk, x.File)), rundir.ScheduleFile)
}

// copied returns a deep copy of a value that can be written as JSON and read again.
func copied[T any](of *T) *T {
	to := new(T)
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err) // marshalling our own types cannot fail
	}
	return to
}
