// Package suite reads lockcheck.yaml: the locks to test, their promises, environments,
// faults and durations. Names in it are those of the command's flags, with lists in the
// plural. The package has the written values; the command decides their meaning.
package suite

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/endpoints"
)

// Format is the version of the file format.
const Format = 1

// File is the default name of a suite's file.
const File = "lockcheck.yaml"

// Suite is one file. The table of keys explains the keys.
type Suite struct {
	Format      int      `yaml:"lockcheck"` // Format
	Seed        uint64   `yaml:"seed"`      // default 1
	For         Duration `yaml:"for"`
	Runs        int      `yaml:"runs"`        // 0: 1000 in sim, 1 on docker
	Regressions string   `yaml:"regressions"` // "": regressions
	Baseline    string   `yaml:"baseline"`
	Locks       []Entry  `yaml:"locks"` // one or more
}

// Entry is one lock and its promises: one cell for each fault.
type Entry struct {
	Name         string          `yaml:"name"`   // see Called
	Lock         string          `yaml:"lock"`   // a built-in lock, or
	Worker       string          `yaml:"worker"` // the command of a user's own lock
	Store        string          `yaml:"store"`  // the servers of the worker; "": redis
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
	Runs         int             `yaml:"runs"` // 0: those of the suite

	endpoints.Servers // of external

	Line   int `yaml:"-"` // of the file, from 1
	Column int `yaml:"-"` // of that line, from 1
}

// Wrong returns the problem for a mistake that concerns the whole entry, not one key.
func (e *Entry) Wrong(err error) Problem {
	return Problem{Line: e.Line, Column: e.Column, Words: fmt.Sprintf("%s: %v", e.Called(), err)}
}

// Duration is written as 90s or 5m.
type Duration time.Duration

// Called returns the name of the entry, which is unique in its environment.
func (e *Entry) Called() string { return cmp.Or(e.Name, e.Lock, "worker") }

// Tested returns the lock of the entry, built in or the worker's; false if it is unknown.
func (e *Entry) Tested() (catalogue.Lock, bool) {
	if e.Worker == "" {
		return catalogue.FindLock(e.Lock)
	}
	lock, err := catalogue.WorkerLock(e.Called(), cmp.Or(e.Servers.Store(), e.Store))
	return lock, err == nil
}

// Place returns the environment of the entry.
func (e *Entry) Place() string {
	if e.On == "" && e.Worker != "" {
		return "docker"
	}
	return cmp.Or(e.On, "sim")
}
