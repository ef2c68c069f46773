package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The files of a run that had two outcomes, beside its schedule.
const (
	firstFile  = "first.jsonl"
	secondFile = "second.jsonl"
)

// unrepeated keeps both histories if err says that a repeated run differed, and returns
// the error to end with.
func (a *app) unrepeated(err error) error {
	var differs *explore.UnrepeatedError
	if !errors.As(err, &differs) {
		return err
	}
	dir, saved := a.saveBoth(differs)
	if saved != nil {
		return errors.Join(exit.Errorf(exit.Bug, "%w", err), saved)
	}
	return exit.Errorf(exit.Bug, "%w (%s and %s), or of a lock that draws from something that is not its host's",
		err, filepath.Join(dir, firstFile), secondFile)
}

// saveBoth writes the files, and returns their directory.
func (a *app) saveBoth(differs *explore.UnrepeatedError) (dir string, err error) {
	dir = filepath.Join(a.out, rundir.Name(differs.Plan)+"-unrepeated")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return dir, unwritable(err)
	}
	for _, f := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{firstFile, func(b *bytes.Buffer) error { return history.Encode(b, differs.First) }},
		{secondFile, func(b *bytes.Buffer) error { return history.Encode(b, differs.Second) }},
		{scheduleFile, func(b *bytes.Buffer) error { return differs.Plan.Write(b) }},
	} {
		var text bytes.Buffer
		if err := f.write(&text); err != nil {
			return dir, err
		}
		if err := rundir.WriteFile(filepath.Join(dir, f.name), text.Bytes()); err != nil {
			return dir, unwritable(err)
		}
	}
	return dir, nil
}
