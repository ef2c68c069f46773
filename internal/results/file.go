package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Write leaves a document in a directory of results, whole whenever somebody
// looks. The files that it names are said from there, so that the directory can
// be carried to another machine; the commands that do a run again are left out,
// as they hold where they were printed.
func Write(dir string, d *Document) error {
	there := copied(d)
	there.Relocate(Into(dir))
	return Save(filepath.Join(dir, File), there)
}

// Save writes a document of any kind as a file, whole whenever somebody looks. What
// processes that were killed have left of it goes: of the many files of runs it does
// not, as to look for it takes longer than to write one.
func Save(path string, doc any) error {
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err = WriteFile(path, append(text, '\n'))
	Sweep(path)
	return err
}

// WriteFile writes a file that is whole whenever somebody looks.
func WriteFile(path string, data []byte) error {
	temporary := Temporary(path)
	err := os.WriteFile(temporary, data, 0o666)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}

// Temporary is what a file, or a directory, is called until all of it is there and it
// is renamed.
func Temporary(path string) string { return fmt.Sprintf("%s.%d.tmp", path, os.Getpid()) }

// isTemporary is a name that Temporary gives, or os.CreateTemp with *.tmp.
var isTemporary = regexp.MustCompile(`^(.+)\.[0-9]+\.tmp$`)

// abandoned is for how long nobody has written to a temporary whose process is gone. It
// takes a moment to write one, and nothing comes between that and its new name; the
// rest is for clocks of two machines that differ. Its process cannot be asked: the number
// may be one of another machine, or of another container, that shares the directory.
const abandoned = 10 * time.Minute

// Abandoned are the temporaries in a directory that processes have left which were
// killed, of what is called so.
func Abandoned(dir string, called func(name string) bool) (left []fs.DirEntry) {
	entries, _ := os.ReadDir(dir) // of one that cannot be read nothing can be removed
	for _, e := range entries {
		m := isTemporary.FindStringSubmatch(e.Name())
		if m == nil || !called(m[1]) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			left = append(left, e)
		}
	}
	return left
}

// Sweep removes what is left of a file that was to be written.
func Sweep(path string) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	for _, e := range Abandoned(dir, func(of string) bool { return of == name }) {
		if e.Type().IsRegular() {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Read reads the document of a directory of results. The files that it names
// are said from where the reader is.
func Read(dir string) (*Document, error) {
	d, err := ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, err
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
	if err := d.Validate(); err != nil {
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

// Schedule is the file that the counterexample is replayed from: of the shortest run where
// there is one.
func (x *Counterexample) Schedule() string {
	file := x.File
	if x.Shrunk != "" {
		file = x.Shrunk
	}
	return filepath.Join(filepath.Dir(file), ScheduleFile)
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
