package summary

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// standings are the ways to show cells, those that need a look first. The sign is
// enough to tell them apart; colour only helps.
var standings = []struct {
	standing explore.Standing
	sign     string
	colour   string
	means    string
	code     int
}{
	{explore.Unexpected, "✗", "31", "found, and not expected", exit.Violated},
	{explore.Missing, "○", "31", "expected, and not found", exit.Violated},
	{explore.Unproven, "?", "33", "proves nothing", exit.Unproven},
	{explore.NotShown, "~", "33", "not shown in the time there was", exit.Held},
	{explore.AsExpected, "✓", "32", "as expected", exit.Held},
}

// matrixNames returns the locks and faults of the cells, those that do not apply
// included, in their order.
func matrixNames(d *results.Document) (locks, faults []string) {
	has := map[string]bool{}
	add := func(lock, fault string) {
		if has[fault] = true; !slices.Contains(locks, lock) {
			locks = append(locks, lock)
		}
	}
	for i := range d.Cells {
		add(d.Cells[i].Lock, d.Cells[i].Expected.Fault)
	}
	for _, n := range d.Matrix.Absent {
		add(n.Lock, n.Fault)
	}
	return locks, slices.DeleteFunc(catalogue.Columns(), func(name string) bool { return !has[name] })
}

// matrixCell returns the cell of a lock and a fault, or nil.
func matrixCell(d *results.Document, lock, fault string) *results.Cell {
	i := slices.IndexFunc(d.Cells, func(c results.Cell) bool { return c.Lock == lock && c.Expected.Fault == fault })
	if i < 0 {
		return nil
	}
	return &d.Cells[i]
}

// notApplicable is the text of the table where a fault does not apply.
const notApplicable = "n/a"

// cellText returns the text of the cell of a lock and a fault in the table: its sign and
// the rest. Both are "" if there is no cell.
func cellText(d *results.Document, lock, fault string) (sign, rest string) {
	if c := matrixCell(d, lock, fault); c != nil {
		return shortCell(c)
	}
	if slices.ContainsFunc(d.Matrix.Absent, func(n results.MatrixNoCell) bool { return n.Lock == lock && n.Fault == fault }) {
		return "", notApplicable
	}
	return "", ""
}

// shortCell returns the text of a cell in the table: its sign and its codes.
func shortCell(c *results.Cell) (sign, codes string) {
	for _, s := range standings {
		if s.standing == c.Expected.Standing {
			sign = s.sign
		}
	}
	codes = joined(c.ShownCodes(), "")
	if c.HasMore() {
		codes += "+"
	}
	return sign, codes
}

func joined[T ~string](list []T, between string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, between)
}

// grantsAndHits returns how often a client was granted the lock, and how many faults
// struck a client or server.
func grantsAndHits(c *results.Cell) (grants, hits int) {
	reached := checker.CountsOf(c.Reached)
	return reached[checker.Grants], reached[checker.FaultTouched]
}

// doneWords describes the runs of a cell.
func doneWords(c *results.Cell) string {
	grants, hits := grantsAndHits(c)
	words := fmt.Sprintf("%s, %s", names.Count(c.Runs, "run"), names.Count(grants, "grant"))
	switch fault := c.Expected.Fault; {
	case !disturbs(fault):
	case hits == 0:
		words += fmt.Sprintf(", %s never hit", fault)
	default:
		words += fmt.Sprintf(", %s hit %s", fault, names.Count(hits, "time"))
	}
	return words
}

// CellAgain returns the command that repeats a cell.
func CellAgain(d *results.Document, c *results.Cell) string {
	var b strings.Builder
	fault, workload := c.Expected.Does()
	fmt.Fprintf(&b, "%s run %s --fault %s", terminal.Program(), c.Lock, fault)
	if workload != "" {
		fmt.Fprintf(&b, " --workload %s", workload)
	}
	if d.Matrix.On != "sim" {
		fmt.Fprintf(&b, " --on %s", d.Matrix.On)
	}
	if lease, err := time.ParseDuration(d.Settings["lease"]); err == nil {
		fmt.Fprintf(&b, " --lease %v", lease)
	}
	if run, _ := c.First(); c.Expected.Standing == explore.Unexpected {
		fmt.Fprintf(&b, " --seed %d --runs 1", c.Seed+uint64(run))
	} else {
		fmt.Fprintf(&b, " --seed %d --runs %d", c.Seed, max(1, c.Runs))
	}
	return b.String()
}
