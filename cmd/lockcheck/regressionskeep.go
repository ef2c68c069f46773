package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/results"
)

// keepCounterexamples copies what has broken a promise to where the next suite
// replays it, and returns where. That it cannot is no reason to fail. A suite that
// was interrupted keeps nothing: not all was shrunk, and the next one would keep
// the same again.
func (a *app) keepCounterexamples(doc *results.Document, dir string) (kept []string) {
	if doc.Shards != nil || doc.Interrupted {
		return nil
	}
	for i := range doc.Cells {
		c := &doc.Cells[i]
		for j := range c.Properties {
			p := &c.Properties[j]
			if c.Kept || p.Counterexample == nil || !p.Promised || p.Known {
				continue
			}
			name, from := fmt.Sprintf("%s-%d", slug(c.Name), p.Seed), filepath.Dir(p.File)
			if shrunkToItsEnd(p.Shrunk) {
				name, from = name+"-"+string(p.Property), filepath.Dir(p.Shrunk)
			}
			to, err := roomFor(from, filepath.Join(dir, name))
			if err == nil && to != "" {
				err = copyRun(from, to)
			}
			if err != nil {
				a.say("lockcheck: the counterexample is not kept: %v\n", err)
				continue // with the next: each by itself
			}
			if to != "" {
				kept = append(kept, to)
			}
		}
	}
	return kept
}

// shrunkToItsEnd tells whether there is a shortest run, and it is always the same.
// One that the time put an end to is another one the next time, and would be kept
// again.
func shrunkToItsEnd(file string) bool {
	if file == "" {
		return false
	}
	plan, err := readPlan(file)
	return err != nil || plan.Shrunk == nil || plan.Shrunk.Stopped != harness.StoppedTime
}

// roomFor is the directory for a counterexample that is to be called so: that
// one, or the next that is free, where another schedule has it. "": its schedule
// is there already.
func roomFor(from, to string) (string, error) {
	schedule, err := os.ReadFile(filepath.Join(from, scheduleFile))
	if err != nil {
		return "", err
	}
	name := to
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
		if is, err := os.ReadFile(filepath.Join(name, scheduleFile)); err == nil && bytes.Equal(is, schedule) {
			return "", nil
		}
		name = fmt.Sprintf("%s-%d", to, i)
	}
}

// copyRun copies the files of a run; all of them, or none.
func copyRun(from, to string) error {
	temporary := fmt.Sprintf("%s.%d.tmp", to, os.Getpid())
	err := os.MkdirAll(temporary, 0o777)
	for _, name := range []string{historyFile, scheduleFile, verdictFile, storyFile} {
		var text []byte
		if err == nil {
			text, err = os.ReadFile(filepath.Join(from, name))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(temporary, name), text, 0o666)
		}
	}
	if err == nil {
		err = os.Rename(temporary, to)
	}
	if err != nil {
		os.RemoveAll(temporary)
	}
	return err
}
