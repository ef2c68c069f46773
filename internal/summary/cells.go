package summary

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// standings are the ways to show cells. The sign is enough to tell them apart; colour
// only helps.
var standings = map[explore.Standing]struct {
	sign   string
	colour string
	means  string
	code   int
}{
	explore.Unexpected: {"✗", "31", "found, and not expected", exit.Violated},
	explore.Missing:    {"○", "31", "expected, and not found", exit.Violated},
	explore.Unproven:   {"?", "33", "proves nothing", exit.Unproven},
	explore.NotShown:   {"~", "33", "not shown in the time there was", exit.Held},
	explore.AsExpected: {"✓", "32", "as expected", exit.Held},
}

// failures returns the cells of a matrix that are not as expected, without those that
// were cut short; those that need a look come first.
func failures(m *results.Document) (list []*results.Cell) {
	for _, s := range results.Standings {
		for i := range m.Cells {
			if e := m.Cells[i].Expected; s != explore.AsExpected && e.Standing == s && !e.Cut {
				list = append(list, &m.Cells[i])
			}
		}
	}
	return list
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
	codes = names.Join(c.ShownCodes(), "")
	if c.HasMore() {
		codes += "+"
	}
	return standings[c.Expected.Standing].sign, codes
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

// matrixMarkdown prints the matrix for a pull request.
func matrixMarkdown(w io.Writer, m *results.Document) {
	locks, columns := matrixNames(m)
	title := map[results.Verdict]string{
		results.Held: "as expected", results.Elsewhere: "as expected", results.Violated: "not as expected", results.Inconclusive: "proves nothing",
	}[m.Verdict]
	fmt.Fprintf(w, "### lockcheck matrix: %s\n\n", title)
	fmt.Fprintf(w, "%s On %s, lease %g s, seed %d.\n\n", m.Sum(), m.Matrix.On, m.Matrix.Lease.Seconds(), m.Seed)
	fmt.Fprintf(w, "| lock | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, id := range locks {
		fmt.Fprintf(w, "| `%s` |", id)
		for _, name := range columns {
			sign, rest := cellText(m, id, name)
			if sign+rest != "" {
				fmt.Fprintf(w, " %s", strings.TrimSpace(sign+" "+rest))
			}
			fmt.Fprint(w, " |")
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, s := range results.Standings {
		fmt.Fprintf(w, "%s %s · ", standings[s].sign, standings[s].means)
	}
	for i, k := range catalogue.Codes {
		if i > 0 {
			fmt.Fprint(w, " · ")
		}
		fmt.Fprintf(w, "**%s** %s", k.Code, k.Means)
	}
	fmt.Fprintf(w, "\n\n")
	failed := failures(m)
	for _, c := range failed {
		fmt.Fprintf(w, "- %s **%s under %s**: %s (expected: %s). `%s`\n", standings[c.Expected.Standing].sign, c.Lock, c.Expected.Fault, c.Expected.Reason, c.Expected.Codes, CellAgain(m, c))
		if x := c.Example(); x != nil && x.Sentence != "" {
			fmt.Fprintf(w, "  %s\n", x.Sentence)
		}
	}
	if failed != nil {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "<details><summary>Every cell: expected violations, found violations, and the reason</summary>\n\n")
	fmt.Fprintf(w, "| lock | fault | expected | found | runs | grants | hits | why |\n|---|---|---|---|---|---|---|---|\n")
	for i := range m.Cells {
		c := &m.Cells[i]
		sign, _ := shortCell(c)
		grants, hits := grantsAndHits(c)
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", c.Lock, c.Expected.Fault, c.Expected.Codes,
			strings.TrimSpace(sign+" "+names.Join(c.FoundCodes(), " ")), names.Thousands(c.Runs),
			names.Thousands(grants), names.Thousands(hits), c.Expected.Why)
	}
	for _, n := range m.Matrix.Absent {
		fmt.Fprintf(w, "| `%s` | %s | %s | | | | | %s |\n", n.Lock, n.Fault, notApplicable, Sentence(n.Reason))
	}
	fmt.Fprintf(w, "\n</details>\n")
}
