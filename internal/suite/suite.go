// Package suite is lockcheck.yaml: which locks are held to what, where, under
// which faults and for how long. Names in it are those of the command's flags,
// lists in the plural. It says what is written; the command says what it means.
package suite

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/checker"
)

// Format is the version of the file format.
const Format = 1

// File is what a suite's file is called where nothing else is said.
const File = "lockcheck.yaml"

// Suite is one file. What its keys mean is said in the table of keys.
type Suite struct {
	Format      int      `yaml:"lockcheck"` // Format
	Seed        uint64   `yaml:"seed"`      // 1 where nothing is said
	For         Duration `yaml:"for"`
	Runs        int      `yaml:"runs"`        // 0: 1000 in sim, 1 on docker
	Regressions string   `yaml:"regressions"` // "": regressions
	Baseline    string   `yaml:"baseline"`
	Locks       []Entry  `yaml:"locks"` // one or more
}

// Entry is one lock and what it is held to: one cell for each fault.
type Entry struct {
	Name         string          `yaml:"name"`   // see Called
	Lock         string          `yaml:"lock"`   // of a lock that is built in; or
	Worker       string          `yaml:"worker"` // of one that is not
	On           string          `yaml:"on"`     // see Place
	Faults       []string        `yaml:"faults"` // none: all that apply
	FaultsPerRun int             `yaml:"faults-per-run"`
	Mix          bool            `yaml:"mix"`
	Workloads    []string        `yaml:"workloads"` // none: the usual one
	Promises     checker.Promise `yaml:"promises"`  // none: all that apply
	Options      []string        `yaml:"options"`
	Fencing      string          `yaml:"fencing"`
	Strategy     string          `yaml:"strategy"` // "": random
	Depth        int             `yaml:"depth"`
	Lease        Duration        `yaml:"lease"`
	Clients      int             `yaml:"clients"`
	Acquires     int             `yaml:"acquires"`
	Runs         int             `yaml:"runs"` // 0: as the suite says
	Line         int             `yaml:"-"`    // of the file, from 1
	Column       int             `yaml:"-"`    // of that line, from 1
}

// Wrong is what is wrong with the entry, and with no key of it alone.
func (e *Entry) Wrong(err error) Problem {
	return Problem{Line: e.Line, Column: e.Column, Words: fmt.Sprintf("%s: %v", e.Called(), err)}
}

// Duration is written as 90s or 5m.
type Duration time.Duration

// Called is what the entry is called: two on one place differ in it.
func (e *Entry) Called() string { return cmp.Or(e.Name, e.Lock, "worker") }

// Place is where it runs.
func (e *Entry) Place() string {
	if e.On == "" && e.Worker != "" {
		return "docker"
	}
	return cmp.Or(e.On, "sim")
}
