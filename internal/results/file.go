package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Write leaves a document in a directory of results, whole whenever somebody
// looks. The files that it names are said from there, so that the directory can
// be carried to another machine; the commands that do a run again are left out,
// as they hold where they were printed.
func Write(dir string, d *Document) error {
	there := copied(d)
	there.Relocate(Into(dir))
	return rundir.WriteJSON(filepath.Join(dir, File), there)
}

// Read reads the document of a directory of results. The files that it names
// are said from where the reader is.
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
	d.Relocate(OutOf(dir))
	return d, nil
}

// mostBytes is how large a document may be.
const mostBytes = 64 << 20

// readSome reads a file of up to mostBytes: a device, or a pipe, may have no end.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = fmt.Errorf("%s is larger than %d MiB: is this a result of lockcheck?", path, mostBytes>>20)
	}
	return text, err
}

// ReadFile reads a document as it stands, whoever printed it. Its errors name
// the file.
func ReadFile(path string) (*Document, error) {
	text, err := readSome(path)
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

// Relocate says where files are now. Commands that name them hold no more.
func (d *Document) Relocate(now Move) {
	for x := range d.Counterexamples {
		x.Replay = ""
		now.Files(&x.File, &x.Shrunk)
	}
}

// A Move says where a file is now.
type Move func(file string) string

// Files moves files; "" is none, and stays.
func (m Move) Files(files ...*string) {
	for _, file := range files {
		if *file != "" {
			*file = m(*file)
		}
	}
}

// Into says files from a directory of results, as its document does.
func Into(dir string) Move {
	return func(file string) string {
		if rel, err := filepath.Rel(dir, file); err == nil {
			return filepath.ToSlash(rel)
		}
		return file
	}
}

// OutOf is the way back: it says from where the reader is what a document in a
// directory of results says from there.
func OutOf(dir string) Move {
	return func(file string) string { return filepath.Join(dir, filepath.FromSlash(file)) }
}

// Counterexamples calls yield with all that the document has: those of the
// cells, and what was made of them. What is gone lies where the baseline was made.
func (d *Document) Counterexamples(yield func(*Counterexample) bool) {
	for i := range d.Cells {
		for _, p := range d.Cells[i].Properties {
			if p.Counterexample != nil && !yield(p.Counterexample) {
				return
			}
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

// NamesRun reports whether a directory has a counterexample of the document that was found
// on real servers.
func (d *Document) NamesRun(dir string) bool {
	return slices.ContainsFunc(d.Cells, func(c Cell) bool {
		return c.On != "sim" && slices.ContainsFunc(c.Properties, func(p PropertyResult) bool {
			return p.Counterexample != nil && filepath.Dir(p.File) == dir
		})
	})
}

// Schedule is the file that the counterexample is replayed from: of the shortest run where
// there is one.
func (x *Counterexample) Schedule() string {
	file := x.File
	if x.Shrunk != "" {
		file = x.Shrunk
	}
	return filepath.Join(filepath.Dir(file), rundir.ScheduleFile)
}

// copied is a copy, which shares nothing, of what can be written as JSON and
// read again.
func copied[T any](of *T) *T {
	to := new(T)
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err) // of our own types none fails
	}
	return to
}
