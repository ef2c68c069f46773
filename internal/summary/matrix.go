package summary

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Document prints a matrix.
func (to *Printer) Document(doc *results.Document, markdown bool) error {
	switch {
	case to.JSON:
		return to.PrintJSON(doc.Printed())
	case markdown:
		matrixMarkdown(to.Stdout, doc)
	default:
		to.Matrix(doc)
	}
	return nil
}

// Matrix prints the table, and the cells that need a look.
func (to *Printer) Matrix(m *results.Document) {
	if len(m.Cells) == 0 {
		to.Paragraph(2, m.Sum())
		return
	}
	locks, columns := matrixNames(m)
	disturbed := slices.DeleteFunc(slices.Clone(columns), func(n string) bool { return !disturbs(n) })
	under := names.Count(len(disturbed), "fault")
	switch {
	case len(disturbed) == 0:
		under = "no fault"
	case len(disturbed) < len(columns):
		under += " and none"
	}
	to.Printf("%s under %s, on %s, lease %g s, seed %d\n\n", names.Count(len(locks), "lock"), under, m.Matrix.On, m.Matrix.Lease.Seconds(), m.Seed)
	for _, block := range matrixBlocks(m, locks, columns) {
		to.matrixBlock(m, locks, block)
	}
	to.matrixLegend(m, columns)
	if to.Verbose {
		for i := range m.Cells {
			to.matrixDetails(&m.Cells[i])
		}
		for _, n := range m.Matrix.Absent {
			to.Paragraph(2, fmt.Sprintf("%s %s under %s: %s.", notApplicable, n.Lock, n.Fault, n.Reason))
		}
		to.Printf("\n")
	}
	to.Paragraph(2, m.Sum())
	to.Printf("\n")
	all := explore.NewResult()
	var second checker.Second
	for i := range m.Cells {
		all.Add(m.Cells[i].Result())
		second.Add(m.Cells[i].Expected.Second)
	}
	lines := reachedLines("", nil, all)
	if !to.Verbose {
		lines = lines[:min(len(lines), 2)] // the rest does not fit on a screen
	}
	to.reached(lines)
	to.Judges(second)
	to.matrixFailures(m)
}

// disturbs reports whether a column is that of a fault.
func disturbs(column string) bool {
	_, ok := faults.Find(column)
	return ok
}

// shortFault returns the name of a fault for the head of a column: up to four letters.
func shortFault(name string) string {
	if a, b, ok := strings.Cut(name, "-"); ok {
		return a[:1] + "-" + b[:min(2, len(b))]
	}
	return name[:min(4, len(name))]
}

// block is a group of columns that fits beside the names of the locks.
type block struct {
	lockWidth int
	faults    []string
	widths    []int
}

// matrixBlocks splits the columns into blocks that fit.
func matrixBlocks(m *results.Document, locks, names []string) (blocks []block) {
	b := block{}
	for _, id := range locks {
		b.lockWidth = max(b.lockWidth, len(id)+1)
	}
	fresh, used := b, b.lockWidth
	for _, name := range names {
		width := len(shortFault(name))
		for _, id := range locks {
			sign, rest := cellText(m, id, name)
			width = max(width, utf8.RuneCountInString(sign+rest))
		}
		width++
		if used+width > layout.Columns && len(b.faults) > 0 {
			blocks = append(blocks, b)
			b, used = fresh, fresh.lockWidth
		}
		b.faults, b.widths, used = append(b.faults, name), append(b.widths, width), used+width
	}
	return append(blocks, b)
}

func (to *Printer) matrixBlock(m *results.Document, locks []string, b block) {
	line := strings.Repeat(" ", b.lockWidth)
	for i, name := range b.faults {
		line += fmt.Sprintf("%-*s", b.widths[i], shortFault(name))
	}
	to.Printf("%s\n", strings.TrimRight(line, " "))
	for _, id := range locks {
		line := fmt.Sprintf("%-*s", b.lockWidth, id)
		for i, name := range b.faults {
			sign, rest := cellText(m, id, name)
			width := utf8.RuneCountInString(sign + rest)
			if sign != "" {
				sign = to.standing(matrixCell(m, id, name).Expected.Standing)
			}
			line += sign + rest + strings.Repeat(" ", b.widths[i]-width)
		}
		to.Printf("%s\n", strings.TrimRight(line, " "))
	}
	to.Printf("\n")
}

// standing returns the sign of a standing, in colour if the output has colours.
func (to *Printer) standing(of explore.Standing) string {
	return to.Coloured(standings[of].sign, standings[of].colour)
}

// matrixLegend explains the signs and codes that the table contains.
func (to *Printer) matrixLegend(m *results.Document, names []string) {
	var signs, codes, heads []string
	for _, s := range results.Standings {
		if m.Count(s) > 0 {
			signs = append(signs, to.standing(s)+" "+standings[s].means)
		}
	}
	if len(m.Matrix.Absent) > 0 {
		signs = append(signs, notApplicable+" does not apply")
	}
	for _, k := range catalogue.Codes {
		if slices.ContainsFunc(m.Cells, func(c results.Cell) bool { return slices.Contains(c.ShownCodes(), k.Code) }) {
			codes = append(codes, string(k.Code)+" "+k.Means)
		}
	}
	if slices.ContainsFunc(m.Cells, func(c results.Cell) bool { return c.HasMore() }) {
		codes = append(codes, "+ something else")
	}
	for _, name := range names {
		if short := shortFault(name); !strings.HasPrefix(name, short) {
			heads = append(heads, short+" "+name)
		}
	}
	for _, list := range [][]string{signs, codes, heads} {
		to.Items(list)
	}
	to.Printf("\n")
}

// matrixDetails prints a cell in full, for -v.
func (to *Printer) matrixDetails(c *results.Cell) {
	found := "nothing"
	if codes := c.FoundCodes(); len(codes) > 0 {
		found = names.Join(codes, " ")
	}
	words := fmt.Sprintf("%s %s under %s: expected %s, found %s in %s", to.standing(c.Expected.Standing), c.Lock, c.Expected.Fault, c.Expected.Codes, found, doneWords(c))
	for _, p := range c.Properties {
		if t := p.Runs[checker.Violated.String()]; t.Count > 0 {
			words += fmt.Sprintf("; %s in %s, first with seed %d", p.Property, names.Thousands(t.Count), t.Seed)
		}
	}
	if c.Expected.Reason != "" {
		words += ". " + Sentence(c.Expected.Reason)
	} else {
		words += "."
	}
	if c.Expected.Why != "" {
		words += " " + c.Expected.Why
	}
	to.Paragraph(2, words)
}

// Sentence returns words with a capital letter at the start and a full stop.
func Sentence(words string) string {
	r, n := utf8.DecodeRuneInString(words)
	return strings.TrimSuffix(strings.ToUpper(string(r))+words[n:], ".") + "."
}

// matrixFailures prints each cell that is not as expected, and then the next command to
// run.
func (to *Printer) matrixFailures(m *results.Document) {
	next := ""
	for _, c := range failures(m) {
		e := c.Expected
		if e.Standing == explore.NotShown && !to.Verbose {
			continue
		}
		to.Printf("\n")
		words := fmt.Sprintf("%s %s under %s: %s", to.standing(e.Standing), c.Lock, e.Fault, e.Reason)
		switch e.Standing {
		case explore.Unexpected:
			run, _ := c.First()
			words += fmt.Sprintf(" (expected: %s), first in run %s of %s, seed %d", e.Codes, names.Thousands(run+1), names.Thousands(c.Runs), c.Seed+uint64(run))
		case explore.Missing, explore.NotShown:
			words += fmt.Sprintf(" from seed %d; %s", c.Seed, doneWords(c))
		}
		to.Paragraph(2, words)
		x := cmp.Or(c.Example(), &results.Counterexample{})
		if x.Sentence != "" && !to.Quiet {
			to.Paragraph(2, "  "+x.Sentence)
		}
		if x.File != "" {
			to.Printf("  Files  %s\n", filepath.Dir(x.File))
		}
		if x.Shrunk != "" {
			to.Printf("  Short  %s\n", filepath.Dir(x.Shrunk))
		}
		to.CommandLine("  Again  ", CellAgain(m, c))
		if next == "" && standings[e.Standing].code != exit.Held {
			next = CellAgain(m, c)
			if x.File != "" {
				next = terminal.Replay(filepath.Join(filepath.Dir(x.File), rundir.ScheduleFile))
			}
		}
	}
	if m.Count(explore.NotShown) > 0 {
		to.Printf("\n")
		to.Paragraph(2, "What was not shown is no failure: it needs more time, with --for, or other seeds.")
	}
	if next != "" {
		to.Printf("\n")
		to.CommandLine("Next     ", next)
	}
}
