package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// comparison is the result of a bench: a table, and a page with a picture.
type comparison interface {
	Title() string
	Table() bench.Table
	Legend() [][2]string // the meanings of the names of rows
	Conditions() string
	Draw(w io.Writer) error
	ChartFile() string
	PageFile() string
	Section(page string) string
}

// benchTable prints a comparison: a block for each measure, and in it a line for each
// lock or way to wait.
func (a *app) benchTable(c comparison) {
	t := c.Table()
	const most = 9
	name := 14
	for _, r := range t.Blocks[0].Rows {
		name = max(name, len(r.Name)+3)
	}
	cell := min(most, (80-name)/max(1, len(t.Columns)))
	a.Printf("%s\n\n", c.Title())
	row := func(first string, cells []string) {
		line := fmt.Sprintf("  %-*s", name-2, first)
		for _, text := range cells {
			line += strings.Repeat(" ", max(1, cell-utf8.RuneCountInString(text))) + text
		}
		a.Printf("%s\n", line)
	}
	for _, m := range t.Blocks {
		a.Printf("%s (%s)\n", m.Name, m.About)
		row(t.Of, t.Columns)
		for _, r := range m.Rows {
			row(r.Name, r.Cells)
		}
		a.Printf("\n")
	}
	for _, l := range c.Legend() {
		a.Printf("%-*s%s\n", name, l[0], l[1])
	}
	a.Printf("\n")
	a.Paragraph(0, c.Conditions())
}

// keepComparison writes the page and the picture.
func (a *app) keepComparison(c comparison) error {
	var picture bytes.Buffer
	if err := c.Draw(&picture); err != nil {
		return err
	}
	if err := os.MkdirAll(a.Out.Path, 0o777); err != nil {
		return outdir.Unwritable(err)
	}
	path := filepath.Join(a.Out.Path, c.PageFile())
	page, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outdir.Unwritable(err)
	}
	drawn := filepath.Join(a.Out.Path, c.ChartFile())
	for _, f := range []struct {
		path string
		data []byte
	}{{path, []byte(c.Section(string(page)))}, {drawn, picture.Bytes()}} {
		if err := rundir.WriteFile(f.path, f.data); err != nil {
			return outdir.Unwritable(err)
		}
	}
	a.Printf("\nPage     %s\nPicture  %s\n", path, drawn)
	return nil
}

// benchDocument is what bench contention and bench fairness print with --json.
type benchDocument struct {
	Schema  int         `json:"schema"`          // version of this document
	Bench   string      `json:"bench"`           // contention or fairness
	On      string      `json:"on"`              // the place: sim or docker
	Lock    string      `json:"lock,omitempty"`  // the lock, if all cells have the same
	LeaseMS int64       `json:"lease_ms"`        // T, the lease or session time-out, in ms
	Seconds float64     `json:"seconds"`         // how long each cell was measured
	Seed    uint64      `json:"seed,omitempty"`  // seed of every cell, in sim
	Cores   int         `json:"cores,omitempty"` // cores of the machine, where time is real
	Cells   []benchCell `json:"cells"`           // the figures, one way or lock after the other, by number of clients
}

// benchCell is what was measured with a number of clients.
type benchCell struct {
	Waiting      string  `json:"waiting,omitempty"`    // how clients wait, if all cells have the same lock
	Lock         string  `json:"lock,omitempty"`       // the lock, if cells have different ones
	Hold         float64 `json:"hold_seconds"`         // how long each grant is held
	Clients      int     `json:"clients"`              // how many clients there are
	Acquisitions int     `json:"acquisitions"`         // how often the lock was granted
	Commands     int     `json:"commands"`             // commands that clients sent to servers
	Each         float64 `json:"commands_each"`        // commands for each acquisition
	PerSecond    float64 `json:"per_second"`           // acquisitions in a second
	Longest      float64 `json:"longest_wait_seconds"` // the longest that a client waited
	AtLeast      bool    `json:"at_least,omitempty"`   // the longest wait had not ended
	Again        int     `json:"again"`                // acquisitions by the client that just had the lock
	Evenness     float64 `json:"evenness"`             // how evenly grants were spread: 1 where each client got as many, 1/clients where one got all
	Grants       []int   `json:"grants"`               // grants of each client
	OutOfTurn    int     `json:"out_of_turn"`          // acquisitions while somebody waited who had asked before
	Overtaken    []int   `json:"overtaken"`            // how often each client was overtaken by them
	Failed       int     `json:"failed,omitempty"`     // operations that failed
}

func newBenchDocument(c *bench.Comparison) benchDocument {
	d := benchDocument{
		Schema: 1, Bench: c.Name, On: c.On, Lock: c.Lock(), LeaseMS: c.Lease.Milliseconds(),
		Seconds: c.For.Seconds(), Cores: c.Cores, Cells: []benchCell{},
	}
	if c.On == "sim" {
		d.Seed = c.Seed
	}
	for i, s := range c.Sides {
		for k, n := range c.Clients {
			f := &c.Cells[i][k]
			if f.Total() == 0 {
				continue // not measured because of an interrupt
			}
			cell := benchCell{
				Lock: s.Lock, Hold: s.Hold(c.Lease).Seconds(), Clients: n, Acquisitions: f.Total(), Commands: f.Commands,
				Each: f.CommandsEach(), PerSecond: f.PerSecond(), Longest: f.Longest.Seconds(), AtLeast: f.Waiting,
				Again: f.Again, Evenness: f.Evenness(), Grants: f.Grants,
				OutOfTurn: f.OutOfTurn, Overtaken: f.Overtaken, Failed: f.Failed,
			}
			if d.Lock != "" {
				cell.Waiting, cell.Lock = s.Name, ""
			}
			d.Cells = append(d.Cells, cell)
		}
	}
	return d
}

// benchProgress shows the number of finished cells on a terminal.
func (a *app) benchProgress(cells int) func(int) {
	return func(done int) { a.ShowProgress(fmt.Sprintf("%d of %s ", done, names.Count(cells, "cell"))) }
}
