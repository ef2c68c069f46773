package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/results"
)

// earlierDir is where a shard puts what it found at an earlier time, below --out.
const earlierDir = "earlier"

// noResult clears away what the same command came to at an earlier time, right
// before the first run: what is killed leaves none, and what ends with wrong usage
// leaves what there was. A violation is not lost by trying again: where not all was
// done of the same shard, or nothing is now, as there is no place to run in, what it
// found goes to a directory in which merge finds it.
func (a *app) noResult(now *results.Head, place bool) error {
	file := filepath.Join(a.out, results.File)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := ownResult(a.out); err != nil {
		return err
	}
	was, err := readResult(a.out)
	switch {
	case err == nil && was.head().Command != now.Command:
		return nil
	case err == nil && was.unsettled(now, place):
		err = a.setAside(was)
	default:
		err = os.Remove(file)
	}
	if err != nil {
		return unwritable(err)
	}
	return nil
}

// unsettled tells whether a result has a violation, and is of the same shard as the
// one that is about to be done, which was not done to its end, or cannot be now.
func (f *foundResult) unsettled(now *results.Head, place bool) bool {
	h := f.head()
	if h.Shards == nil || len(f.source().Broken) == 0 {
		return false
	}
	whole := !h.Interrupted && h.Verdict != results.Unavailable && h.Shards.Cut == nil
	return (!whole || !place) && h.SameShard(now)
}

// setAside moves a result, and the runs that it names, to a directory of their own.
// They are said from where it is, so that it stays as it is.
func (a *app) setAside(was *foundResult) error {
	to := filepath.Join(a.out, earlierDir)
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = filepath.Join(a.out, fmt.Sprintf("%s-%d", earlierDir, i))
	}
	for _, file := range append([]string{was.file()}, was.runs()...) {
		rel, err := filepath.Rel(a.out, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue // it is not ours to move
		}
		moved := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(moved), 0o777); err != nil {
			return err
		}
		if err := os.Rename(file, moved); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	a.say("lockcheck: what this shard found before is in %s: merge counts it\n", to)
	return nil
}

// runs are the directories of the runs that a result names, those around others
// first.
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
