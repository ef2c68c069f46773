package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
)

// markdown prints the matrix for a pull request.
func (m *matrixOutcome) markdown(w io.Writer) {
	locks, names := m.names()
	fmt.Fprintf(w, "### lockcheck matrix: %s\n\n", map[int]string{held: "as expected", violated: "not as expected", unproven: "proves nothing"}[m.code()])
	fmt.Fprintf(w, "%s On %s, lease %g s, seed %d.\n\n", m.sum(), m.place, m.lease.Seconds(), m.flags.seed)
	fmt.Fprintf(w, "| lock | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, id := range locks {
		fmt.Fprintf(w, "| `%s` |", id)
		for _, name := range names {
			sign, rest := m.text(id, name)
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
	m.markdownFailures(w)
	fmt.Fprintf(w, "<details><summary>Every cell: what is expected, what was found, and why</summary>\n\n")
	fmt.Fprintf(w, "| lock | fault | expected | found | runs | grants | hits | why |\n|---|---|---|---|---|---|---|---|\n")
	for i := range m.cells {
		c := &m.cells[i]
		sign, _ := c.short()
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", c.Lock, c.Fault, c.Expect.Codes,
			strings.TrimSpace(sign+" "+joined(c.found(), " ")), thousands(c.result.Runs),
			thousands(c.result.Reached[checker.Grants]), thousands(c.result.Reached[checker.FaultTouched]), c.Expect.Why)
	}
	for _, n := range m.absent {
		fmt.Fprintf(w, "| `%s` | %s | %s | | | | | %s |\n", n.lock, n.fault, notApplicable, sentence(n.reason.Error()))
	}
	fmt.Fprintf(w, "\n</details>\n")
}

func (m *matrixOutcome) markdownFailures(w io.Writer) {
	some := false
	for _, s := range standings {
		for i := range m.cells {
			c := &m.cells[i]
			if s.standing == explore.AsExpected || c.Standing != s.standing || c.Cut {
				continue
			}
			some = true
			fmt.Fprintf(w, "- %s **%s under %s**: %s (expected: %s). `%s`\n", s.sign, c.Lock, c.Fault, c.Reason, c.Expect.Codes, c.again(m))
			if c.sentence != "" {
				fmt.Fprintf(w, "  %s\n", c.sentence)
			}
		}
	}
	if some {
		fmt.Fprintln(w)
	}
}
