package bench

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

	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Result is the result of a bench: a table, and a page with a picture.
type Result interface {
	Title() string
	Table() Table
	Legend() [][2]string // the meanings of the names of rows
	Conditions() string
	Draw(w io.Writer) error
	ChartFile() string
	PageFile() string
	Section(page string) string
}

// Print prints a comparison: a block for each measure, and in it a line for each
// lock or way to wait.
func Print(to *terminal.Terminal, c Result) {
	t := c.Table()
	const most = 9
	name := 14
	for _, r := range t.Blocks[0].Rows {
		name = max(name, len(r.Name)+3)
	}
	cell := min(most, (80-name)/max(1, len(t.Columns)))
	to.Printf("%s\n\n", c.Title())
	row := func(first string, cells []string) {
		line := fmt.Sprintf("  %-*s", name-2, first)
		for _, text := range cells {
			line += strings.Repeat(" ", max(1, cell-utf8.RuneCountInString(text))) + text
		}
		to.Printf("%s\n", line)
	}
	for _, m := range t.Blocks {
		to.Printf("%s (%s)\n", m.Name, m.About)
		row(t.Of, t.Columns)
		for _, r := range m.Rows {
			row(r.Name, r.Cells)
		}
		to.Printf("\n")
	}
	for _, l := range c.Legend() {
		to.Printf("%-*s%s\n", name, l[0], l[1])
	}
	to.Printf("\n")
	to.Paragraph(0, c.Conditions())
}

// Keep writes the page and the picture.
func Keep(to *terminal.Terminal, dir string, c Result) error {
	var picture bytes.Buffer
	if err := c.Draw(&picture); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return outdir.Unwritable(err)
	}
	path := filepath.Join(dir, c.PageFile())
	page, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outdir.Unwritable(err)
	}
	drawn := filepath.Join(dir, c.ChartFile())
	for _, f := range []struct {
		path string
		data []byte
	}{{path, []byte(c.Section(string(page)))}, {drawn, picture.Bytes()}} {
		if err := rundir.WriteFile(f.path, f.data); err != nil {
			return outdir.Unwritable(err)
		}
	}
	to.Printf("\nPage     %s\nPicture  %s\n", path, drawn)
	return nil
}
