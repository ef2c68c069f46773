package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/internal/results"
)

func baselineFlag(fl *pflag.FlagSet, to *string) {
	fl.Var((*fileName)(to), "baseline", "result `file` (result.json, or what --json printed): what is violated there is listed and fails nothing")
}

// fileName is the value of a flag that names a file. An empty name is an error: it
// usually comes from a variable that is not set.
type fileName string

func (f *fileName) Set(name string) error {
	if name == "" {
		return errors.New("it has to be the name of a file")
	}
	*f = fileName(name)
	return nil
}

func (f *fileName) String() string { return string(*f) }
func (f *fileName) Type() string   { return "file" }

// readBaseline reads the known violations.
func (a *app) readBaseline(file string) (err error) {
	a.baseline, err = results.ReadKnown(file, a.Out.Path)
	return err
}
