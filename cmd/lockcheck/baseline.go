package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/internal/names"
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
	a.baseline, err = results.ReadKnown(file, a.out.Path)
	return err
}

// baselineLists prints the known, the new and the vanished violations.
func (a *app) baselineLists(d *results.Document) {
	if d.Baseline == nil {
		return
	}
	a.Printf("Compared with %s\n", d.Baseline.File)
	none := true
	for _, l := range []struct {
		word string
		list []results.Violation
		note func(results.Violation) string
	}{
		{"known", d.Baseline.Known, nil},
		{"new", d.Baseline.New, nil},
		{"gone", d.Baseline.Gone, func(results.Violation) string { return "it holds now; a new baseline leaves it out" }},
		{"unseen", d.Baseline.Unseen, func(v results.Violation) string { return unseen(d, v) }},
	} {
		for _, v := range l.list {
			none = false
			line := fmt.Sprintf("  %-7s%s: %s", l.word, v.Cell, v.Property)
			if l.note != nil {
				line += ": " + l.note(v)
			}
			a.Paragraph(9, line)
		}
	}
	if none {
		a.Printf("  no violation, then or now\n")
	}
	a.Printf("\n")
}

// unseen explains why this result says nothing about a violation of the baseline.
func unseen(d *results.Document, v results.Violation) string {
	c := d.Cell(v.Cell)
	if c == nil {
		return "there is no such cell any more"
	}
	switch p := c.Property(v.Property); {
	case c.Lock != v.Lock || c.Settings != v.Settings:
		return "its cell has another lock or other settings now"
	case p == nil || !p.Promised:
		return "it is not promised any more"
	case c.Runs < v.Among:
		of := "run"
		if c.Bound != nil {
			of = "schedule"
		}
		return fmt.Sprintf("not found in %s; then it was broken in %s of %s", names.Count(c.Runs, of), names.Thousands(v.Runs), names.Thousands(v.Among))
	}
	return "its cell came to no answer"
}
