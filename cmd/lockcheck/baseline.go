package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// baseline holds the known violations: an earlier result.
type baseline struct {
	file   string
	digest string
	past   *results.Document // nil: no baseline
}

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

// readBaseline reads the known violations before the first run; file "" means no
// baseline. The baseline cannot be the result that this command is about to write below
// out: the next run would then count every new violation as known. out "" means that no
// result is written.
func (a *app) readBaseline(file, out string) error {
	a.baseline = baseline{}
	if file == "" {
		return nil
	}
	if own := filepath.Join(out, results.File); out != "" && oneFile(file, own) {
		return exit.Errorf(exit.Usage, "the baseline: %s is where this command leaves its own result: copy it, and name the copy", file)
	}
	past, err := results.ReadFile(file)
	if err != nil {
		return exit.Errorf(exit.Usage, "the baseline: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return exit.Errorf(exit.Usage, "the baseline: %w", err)
	}
	a.baseline = baseline{file, rundir.Digest(text), past}
	return nil
}

// against notes the baseline in the head of a document, because shards can be joined
// only if they had the same one. It returns an error if the two results cannot be
// compared.
func (a *app) against(h *results.Head) error {
	if a.baseline.past == nil {
		return nil
	}
	if why := h.Incomparable(&a.baseline.past.Head); why != "" {
		return exit.Errorf(exit.Usage, "the baseline: %s: %s", a.baseline.file, why)
	}
	h.Settings[results.BaselineSetting] = a.baseline.digest
	return nil
}

// compare compares a result with the baseline, if there is one.
func (a *app) compare(d *results.Document) {
	if a.baseline.past != nil {
		d.Against(a.baseline.file, a.baseline.past)
	}
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
		return fmt.Sprintf("not found in %s; then it was broken in %s of %s", plural(c.Runs, of), thousands(v.Runs), thousands(v.Among))
	}
	return "its cell came to no answer"
}
