package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// earlierDir is where a shard puts what it found at an earlier time, below --out.
const earlierDir = "earlier"

// setAsideIn are the names that such a directory has.
var setAsideIn = regexp.MustCompile("^" + earlierDir + "(-[0-9]+)?$")

// noResult clears away what the same command came to at an earlier time, right
// before the first run: what is killed leaves none, and what ends with wrong usage
// leaves what there was. Nothing is lost by trying again: what the same shard came to
// goes to a directory in which merge finds it, until it is done again.
func (a *app) noResult(now *results.Head) error {
	file := filepath.Join(a.out, results.File)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := ownResult(a.out); err != nil {
		return err
	}
	if was := headIn(a.out); was.Command != "" && was.Command != now.Command {
		return nil
	}
	was, err := readResult(a.out)
	switch {
	case err == nil && was.stays(now):
		err = a.setAside(was)
	default:
		err = os.Remove(file)
	}
	if err != nil {
		return unwritable(err)
	}
	return nil
}

// stays tells whether a result is of the shard that is about to be done again, and
// says something: it is whole, or has a violation.
func (f *foundResult) stays(now *results.Head) bool {
	s := f.source()
	return s.Shards != nil && s.SameShard(now) && (!s.Partial() || len(s.Broken) > 0)
}

// doneAgain removes what a shard came to at earlier times, once it is whole and
// nothing is lost by it. What else there is in these directories stays.
func (a *app) doneAgain() {
	now, err := readResult(a.out)
	if err != nil || now.head().Shards == nil {
		return // there is nothing new
	}
	whole := now.source()
	list, _ := os.ReadDir(a.out)
	for _, d := range list {
		dir := filepath.Join(a.out, d.Name())
		if !d.IsDir() || !setAsideIn.MatchString(d.Name()) || !canRead(filepath.Join(dir, results.File)) {
			continue
		}
		was, unread := readResult(dir)
		if unread != nil {
			continue // merge says what is the matter with it
		}
		if then := was.source(); !whole.Supersedes(&then) {
			if !whole.Partial() && whole.SameShard(then.Head) {
				a.say("lockcheck: %s stays: it has a violation that was not found again\n", dir)
			}
			continue
		}
		err := os.Remove(was.file())
		if err == nil {
			err = removeRuns(was.beside())
		}
		if err != nil {
			a.say("lockcheck: what this shard came to before is still there: %v\n", err)
		}
		os.Remove(dir) // if that was all
	}
}

// removeRuns removes the directories of runs, and those around them that are empty then.
func removeRuns(dirs []string) error {
	for _, dir := range dirs {
		if err := rundir.Remove(dir); err != nil {
			return err
		}
		for around := filepath.Dir(dir); os.Remove(around) == nil; around = filepath.Dir(around) {
			// --out is not: it has a result, or what was set aside
		}
	}
	return nil
}

// setAside moves a result, and the runs that it names, to a directory of their own.
// They are said from where it is, so that it stays as it is. Whenever that is killed
// one of the two places has all of it: the result goes when its runs are there.
func (a *app) setAside(was *foundResult) error {
	to := filepath.Join(a.out, earlierDir)
	for i := 2; !vacant(to); i++ {
		to = filepath.Join(a.out, fmt.Sprintf("%s-%d", earlierDir, i))
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, dir := range was.beside() {
		rel, err := filepath.Rel(was.dir, dir)
		if err != nil {
			return err
		}
		if err := collectRun(dir, filepath.Join(to, rel)); err != nil {
			return err
		}
	}
	if err := os.Rename(was.file(), filepath.Join(to, results.File)); err != nil {
		return err
	}
	a.say("lockcheck: what this shard came to before is in %s until it is done again\n", to)
	return removeRuns(was.beside())
}

// vacant tells whether nothing has been set aside in a directory, or nothing but runs
// without their result: who began with that was killed.
func vacant(dir string) bool {
	_, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist) || isDir(dir) && !canRead(filepath.Join(dir, results.File))
}

// beside are the directories of the runs that a result names beside it, those around
// others first. What it names elsewhere is not ours.
func (f *foundResult) beside() (list []string) {
	for _, dir := range f.runs() {
		if rel, err := filepath.Rel(f.dir, dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			list = append(list, dir)
		}
	}
	return list
}

// runs are the directories of the runs that a result names, in order.
func (f *foundResult) runs() (dirs []string) {
	add := func(file string) {
		if file != "" {
			dirs = append(dirs, filepath.Dir(file))
		}
	}
	if f.matrix != nil {
		for i := range f.matrix.Cells {
			add(f.matrix.Cells[i].File)
			add(f.matrix.Cells[i].Shrunk)
		}
	} else {
		for x := range f.doc.Counterexamples {
			add(x.File)
			add(x.Shrunk)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
