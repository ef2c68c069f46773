package rundir

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/report"
)

// Marks recognise a file that lockcheck wrote earlier and may replace. Any other file
// is never touched. Beside a schedule the marks are those of a run.
type Marks struct {
	what   string   // description of such a file
	begins string   // text at its begin
	has    []string // texts, one of which is within its first bytes
}

var (
	TestResults = Marks{"file of test results", "<?xml", []string{`<testsuites name="lockcheck `}}
	Picture     = Marks{"picture of lockcheck", "<!doctype html>", []string{report.PageMark, "<title>Porcupine</title>"}}

	// Page marks the page of a run and the page of a result.
	Page = Marks{"page of lockcheck", "<!doctype html>", []string{report.PageMark}}

	besideSchedule = map[string]Marks{ // by file name
		HistoryFile: {"history of lockcheck", `{"lockcheck":`, []string{`"version":`}},
		VerdictFile: {"verdict", "{", []string{`"properties":`}},
		StoryFile:   {"story", "", []string{" seed "}},
		PageFile:    Page,

		MessagesFile: {"messages of a run", `{"messages":`, []string{`{"messages":`}},
	}
)

// CanWrite returns an error if a file cannot be written. A file that exists must have
// the marks.
func CanWrite(path string, m Marks) error {
	if err := m.MayReplace(path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	err := TakesFiles(dir, filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no directory " + dir)
	}
	return err
}

// TakesFiles returns an error if a file of this name cannot be created in a directory.
func TakesFiles(dir, name string) error {
	Sweep(filepath.Join(dir, name))
	f, err := os.CreateTemp(dir, name+".*.tmp")
	if err != nil {
		return WithoutPath(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// MayReplace returns an error if path exists and must not be replaced.
func (m Marks) MayReplace(path string) error {
	info, err := os.Stat(path)
	if _, link := os.Readlink(path); errors.Is(err, fs.ErrNotExist) && link != nil {
		return nil
	}
	switch {
	case err != nil:
		return WithoutPath(err)
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return errors.New("it is no file")
	}
	is, err := m.On(path)
	if err == nil && !is {
		err = errors.New("it is there, and no " + m.what + ": name another file, or remove it first")
	}
	return err
}

// On reports whether a file has the marks.
func (m Marks) On(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, WithoutPath(err)
	}
	head, err := io.ReadAll(io.LimitReader(f, 4<<10))
	err = WithoutPath(cmp.Or(err, f.Close()))
	return bytes.HasPrefix(head, []byte(m.begins)) && slices.ContainsFunc(m.has, func(text string) bool { return bytes.Contains(head, []byte(text)) }), err
}

// Foreign returns an entry in the directory of a run that has the name of a run's
// file but is not one: a link, or a file of another program. It returns "" if there is
// none.
func Foreign(dir string) string {
	for _, name := range Files {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		is := false
		if err == nil && info.Mode().IsRegular() {
			if m, marked := besideSchedule[name]; marked {
				is, err = m.On(path)
			} else {
				is, err = IsSchedule(path)
			}
		}
		if err != nil || !is {
			return path
		}
	}
	return ""
}

// HasRest reports whether a directory has the files that belong to the schedule of a
// run.
func HasRest(dir string) bool {
	for name, m := range besideSchedule {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if is, err := m.On(path); err == nil && is {
			return true
		}
	}
	return false
}
