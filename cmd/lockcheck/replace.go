package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// marks recognise a file that lockcheck wrote earlier and may replace. Any other file
// is never touched. Beside a schedule the marks are those of a run.
type marks struct {
	what        string // description of such a file
	begins, has string // text within its first bytes
}

var (
	testResults = marks{"file of test results", "<?xml", `<testsuites name="lockcheck `}
	picture     = marks{"picture of lockcheck", "<!doctype html>", "<title>Porcupine</title>"}

	besideSchedule = map[string]marks{ // by file name
		historyFile: {"history of lockcheck", `{"lockcheck":`, `"version":`},
		verdictFile: {"verdict", "{", `"properties":`},
		storyFile:   {"story", "", ", lease "},
	}
)

// canWrite returns an error if a file cannot be written. A file that exists must have
// the marks.
func canWrite(path string, m marks) error {
	if err := m.mayReplace(path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	err := takesFiles(dir, filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no directory " + dir)
	}
	return err
}

// takesFiles returns an error if a file of this name cannot be created in a directory.
func takesFiles(dir, name string) error {
	rundir.Sweep(filepath.Join(dir, name))
	f, err := os.CreateTemp(dir, name+".*.tmp")
	if err != nil {
		return withoutPath(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// canKeep returns an error if the directory for output cannot be written to, before the
// first run. It does not create a missing directory: a rejected or interrupted command
// leaves nothing.
func (a *app) canKeep() error {
	if a.out == "" {
		return exit.Errorf(exit.Usage, "--out needs the name of a directory")
	}
	dir := filepath.Clean(a.out)
	for {
		_, err := os.Lstat(dir)
		if up := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && up != dir {
			dir = up
			continue
		}
		if err := takesFiles(dir, "lockcheck"); err != nil {
			return exit.Errorf(exit.Usage, "cannot write to --out %s: %w", a.out, err)
		}
		return nil
	}
}

// mayReplace returns an error if path exists and must not be replaced.
func (m marks) mayReplace(path string) error {
	info, err := os.Stat(path)
	if _, link := os.Readlink(path); errors.Is(err, fs.ErrNotExist) && link != nil {
		return nil
	}
	switch {
	case err != nil:
		return withoutPath(err)
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return errors.New("it is no file")
	}
	is, err := m.on(path)
	if err == nil && !is {
		err = errors.New("it is there, and no " + m.what + ": name another file, or remove it first")
	}
	return err
}

// on reports whether a file has the marks.
func (m marks) on(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, withoutPath(err)
	}
	head, err := io.ReadAll(io.LimitReader(f, 4<<10))
	err = withoutPath(cmp.Or(err, f.Close()))
	return bytes.HasPrefix(head, []byte(m.begins)) && bytes.Contains(head, []byte(m.has)), err
}

// ownResult returns an error if the result.json of a directory for output is not one of
// lockcheck's.
func ownResult(dir string) error {
	file := filepath.Join(dir, results.File)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var was results.Head
	if err != nil {
		return unwritable(err)
	}
	if json.Unmarshal(text, &was) != nil || was.Schema == 0 || was.Command == "" {
		return exit.Errorf(exit.Usage, "cannot write to --out: %s is there, and no result of lockcheck: name another directory", file)
	}
	if was.Schema > results.Schema {
		return exit.Errorf(exit.Usage, "cannot write to --out: %s was written by a later lockcheck: name another directory", file)
	}
	return nil
}
