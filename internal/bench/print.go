package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Print prints a comparison: a block for each measure, and in it a line for each
// lock or way to wait.
func Print(to *terminal.Terminal, r *Result) {
	const most = 9
	name := 14
	for _, row := range r.Rows {
		name = max(name, len(row[0])+3)
	}
	cell := min(most, (80-name)/max(1, len(r.Columns)))
	to.Printf("%s\n\n", r.Title)
	row := func(first string, cells []string) {
		line := fmt.Sprintf("  %-*s", name-2, first)
		for _, text := range cells {
			line += strings.Repeat(" ", max(1, cell-utf8.RuneCountInString(text))) + text
		}
		to.Printf("%s\n", line)
	}
	for _, b := range r.Blocks {
		to.Printf("%s (%s)\n", b.Name, b.About)
		row(r.Of, r.Columns)
		for i, cells := range b.Cells {
			row(r.Rows[i][0], cells)
		}
		to.Printf("\n")
	}
	for _, l := range r.Rows {
		to.Printf("%-*s%s\n", name, l[0], l[1])
	}
	to.Printf("\n")
	to.Paragraph(0, r.Conditions)
}

// Keep writes the page and the picture.
func Keep(to *terminal.Terminal, dir string, r *Result) error {
	var picture bytes.Buffer
	if err := r.Draw(&picture); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return outdir.Unwritable(err)
	}
	path := filepath.Join(dir, r.PageFile())
	page, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outdir.Unwritable(err)
	}
	drawn := filepath.Join(dir, r.ChartFile())
	for _, f := range []struct {
		path string
		data []byte
	}{{path, []byte(r.Section(string(page)))}, {drawn, picture.Bytes()}} {
		if err := rundir.WriteFile(f.path, f.data); err != nil {
			return outdir.Unwritable(err)
		}
	}
	to.Printf("\nPage     %s\nPicture  %s\n", path, drawn)
	return nil
}
