package summary

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// MatrixMarkdown prints the matrix for a pull request.
func MatrixMarkdown(w io.Writer, m *results.Document) {
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
	for _, s := range standings {
		fmt.Fprintf(w, "%s %s · ", s.sign, s.means)
	}
	for i, k := range catalogue.Codes {
		if i > 0 {
			fmt.Fprint(w, " · ")
		}
		fmt.Fprintf(w, "**%s** %s", k.Code, k.Means)
	}
	fmt.Fprintf(w, "\n\n")
	markdownFailures(w, m)
	fmt.Fprintf(w, "<details><summary>Every cell: what is expected, what was found, and why</summary>\n\n")
	fmt.Fprintf(w, "| lock | fault | expected | found | runs | grants | hits | why |\n|---|---|---|---|---|---|---|---|\n")
	for i := range m.Cells {
		c := &m.Cells[i]
		sign, _ := shortCell(c)
		grants, hits := grantsAndHits(c)
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", c.Lock, c.Expected.Fault, c.Expected.Codes,
			strings.TrimSpace(sign+" "+joined(c.FoundCodes(), " ")), names.Thousands(c.Runs),
			names.Thousands(grants), names.Thousands(hits), c.Expected.Why)
	}
	for _, n := range m.Matrix.Absent {
		fmt.Fprintf(w, "| `%s` | %s | %s | | | | | %s |\n", n.Lock, n.Fault, notApplicable, Sentence(n.Reason))
	}
	fmt.Fprintf(w, "\n</details>\n")
}

func markdownFailures(w io.Writer, m *results.Document) {
	some := false
	for _, s := range standings {
		for i := range m.Cells {
			c := &m.Cells[i]
			if s.standing == explore.AsExpected || c.Expected.Standing != s.standing || c.Expected.Cut {
				continue
			}
			some = true
			fmt.Fprintf(w, "- %s **%s under %s**: %s (expected: %s). `%s`\n", s.sign, c.Lock, c.Expected.Fault, c.Expected.Reason, c.Expected.Codes, CellAgain(m, c))
			if x := c.Example(); x != nil && x.Sentence != "" {
				fmt.Fprintf(w, "  %s\n", x.Sentence)
			}
		}
	}
	if some {
		fmt.Fprintln(w)
	}
}
