package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
)

// matrixOutcome is a matrix that was gone through.
type matrixOutcome struct {
	cells []matrixCell
	flags matrixFlags
	place string
	lease time.Duration
	took  time.Duration
}

// standings are how cells are shown, the ones that need a look first. A sign
// says it all; colour only helps.
var standings = []struct {
	standing explore.Standing
	sign     string
	colour   string
	means    string
	code     int
}{
	{explore.Unexpected, "✗", "31", "found, and not expected", violated},
	{explore.Missing, "○", "31", "expected, and not found", violated},
	{explore.Unproven, "?", "33", "proves nothing", unproven},
	{explore.NotShown, "~", "33", "not shown in the time there was", held},
	{explore.AsExpected, "✓", "32", "as expected", held},
}

func (m *matrixOutcome) count(s explore.Standing) (n int) {
	for i := range m.cells {
		if m.cells[i].Standing == s {
			n++
		}
	}
	return n
}

// code is the exit code.
func (m *matrixOutcome) code() int {
	code := held
	for _, s := range standings {
		if m.count(s.standing) > 0 {
			code = worse(code, s.code)
		}
	}
	if len(m.cells) == 0 {
		code = unproven
	}
	return code
}

// runs of all cells.
func (m *matrixOutcome) runs() (n int) {
	for i := range m.cells {
		n += m.cells[i].result.Runs
	}
	return n
}

// locks and faults of the cells, in their order.
func (m *matrixOutcome) names() (locks, faults []string) {
	for i := range m.cells {
		c := &m.cells[i]
		if !slices.Contains(locks, c.Lock) {
			locks = append(locks, c.Lock)
		}
	}
	for _, name := range catalogue.Faults() {
		if slices.ContainsFunc(m.cells, func(c matrixCell) bool { return c.Fault == name }) {
			faults = append(faults, name)
		}
	}
	return locks, faults
}

func (m *matrixOutcome) cell(lock, fault string) *matrixCell {
	i := slices.IndexFunc(m.cells, func(c matrixCell) bool { return c.Lock == lock && c.Fault == fault })
	if i < 0 {
		return nil
	}
	return &m.cells[i]
}

// seed of a run of the cell, from 0.
func (m *matrixCell) seed(run int) uint64 { return m.Seed + uint64(run) }

// found are the codes that the runs show.
func (m *matrixCell) found() (codes []catalogue.Code) {
	for _, k := range catalogue.Codes {
		if m.result.Found(k.Code) && (k.Code != catalogue.LeaseOverlap || !m.result.Found(catalogue.Overlap)) {
			codes = append(codes, k.Code)
		}
	}
	return codes
}

// short is the cell in the table: its sign, and what it is about. A slow
// hand-over, which most faults bring, is there only where nothing else is.
func (m *matrixCell) short() (sign, codes string) {
	for _, s := range standings {
		if s.standing == m.Standing {
			sign = s.sign
		}
	}
	if m.Standing == explore.Missing || m.Standing == explore.NotShown {
		return sign, joined(m.Missing, "")
	}
	list := m.found()
	if n := len(list); n > 1 && list[n-1] == catalogue.Slow {
		list = list[:n-1]
	}
	codes = joined(list, "")
	if m.Standing == explore.Unexpected && !slices.ContainsFunc(m.found(), func(c catalogue.Code) bool {
		return slices.ContainsFunc(c.Properties(), func(p checker.Property) bool { return slices.Contains(m.Unexpected, p) })
	}) {
		codes += "+" // what has no code
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

// done is what the cell went through.
func (m *matrixCell) done() string {
	words := fmt.Sprintf("%s, %s", plural(m.result.Runs, "run"), plural(m.result.Reached[checker.Grants], "grant"))
	if m.Fault != catalogue.NoFault {
		switch n := m.result.Reached[checker.FaultTouched]; n {
		case 0:
			words += fmt.Sprintf(", %s never hit", m.Fault)
		default:
			words += fmt.Sprintf(", %s hit %s", m.Fault, plural(n, "time"))
		}
	}
	return words
}

// again is the command that shows the cell again.
func (m *matrixCell) again(o *matrixOutcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s run %s --fault %s", program(), m.Lock, m.Fault)
	if o.place != "sim" {
		fmt.Fprintf(&b, " --on %s", o.place)
	}
	if o.flags.place.lease != 0 {
		fmt.Fprintf(&b, " --lease %v", o.flags.place.lease)
	}
	if m.Standing == explore.Unexpected {
		fmt.Fprintf(&b, " --seed %d --runs 1", m.seed(m.first()))
	} else {
		fmt.Fprintf(&b, " --seed %d --runs %d", m.Seed, max(1, m.result.Runs))
	}
	return b.String()
}

// short names of faults, for the heads of columns: up to four letters.
func shortFault(name string) string {
	if a, b, ok := strings.Cut(name, "-"); ok {
		return a[:1] + "-" + b[:min(2, len(b))]
	}
	return name[:min(4, len(name))]
}

// matrixTable prints the table, and what to look at.
func (a *app) matrixTable(m *matrixOutcome) {
	locks, names := m.names()
	disturbed := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == catalogue.NoFault })
	under := plural(len(disturbed), "fault")
	switch {
	case len(disturbed) == 0:
		under = "no fault"
	case len(disturbed) < len(names):
		under += " and none"
	}
	a.printf("%s under %s, on %s, lease %g s, seed %d\n\n", plural(len(locks), "lock"), under, m.place, m.lease.Seconds(), m.flags.seed)
	for _, block := range m.blocks(locks, names) {
		a.matrixBlock(m, locks, block)
	}
	a.matrixLegend(m, names)
	if a.verbose {
		for i := range m.cells {
			a.matrixDetails(&m.cells[i])
		}
		a.printf("\n")
	}
	a.paragraph(2, m.sum())
	a.matrixFailures(m)
}

// block is some columns of the table that fit beside the names of the locks.
type block struct {
	lockWidth int
	faults    []string
	widths    []int
}

// blocks cuts the columns so that each part fits.
func (m *matrixOutcome) blocks(locks, names []string) (blocks []block) {
	b := block{}
	for _, id := range locks {
		b.lockWidth = max(b.lockWidth, len(id)+1)
	}
	fresh, used := b, b.lockWidth
	for _, name := range names {
		width := len(shortFault(name))
		for _, id := range locks {
			if c := m.cell(id, name); c != nil {
				sign, codes := c.short()
				width = max(width, utf8.RuneCountInString(sign+codes))
			}
		}
		width++
		if used+width > columns && len(b.faults) > 0 {
			blocks = append(blocks, b)
			b, used = fresh, fresh.lockWidth
		}
		b.faults, b.widths, used = append(b.faults, name), append(b.widths, width), used+width
	}
	return append(blocks, b)
}

func (a *app) matrixBlock(m *matrixOutcome, locks []string, b block) {
	line := strings.Repeat(" ", b.lockWidth)
	for i, name := range b.faults {
		line += fmt.Sprintf("%-*s", b.widths[i], shortFault(name))
	}
	a.printf("%s\n", strings.TrimRight(line, " "))
	for _, id := range locks {
		a.printf("%-*s", b.lockWidth, id)
		for i, name := range b.faults {
			sign, codes := "", ""
			c := m.cell(id, name)
			if c != nil {
				sign, codes = c.short()
			}
			pad := b.widths[i] - utf8.RuneCountInString(sign+codes)
			if i == len(b.faults)-1 {
				pad = 0
			}
			if c != nil {
				sign = a.standing(c.Standing)
			}
			a.printf("%s%s%s", sign, codes, strings.Repeat(" ", pad))
		}
		a.printf("\n")
	}
	a.printf("\n")
}

// standing is its sign, in colour where there is any.
func (a *app) standing(of explore.Standing) string {
	for _, s := range standings {
		if s.standing != of {
			continue
		}
		if a.color {
			return "\x1b[" + s.colour + "m" + s.sign + "\x1b[0m"
		}
		return s.sign
	}
	return ""
}

// matrixLegend explains what is in the table, and nothing else.
func (a *app) matrixLegend(m *matrixOutcome, names []string) {
	var signs, codes, heads []string
	for _, s := range standings {
		if m.count(s.standing) > 0 {
			signs = append(signs, a.standing(s.standing)+" "+s.means)
		}
	}
	for _, k := range catalogue.Codes {
		if slices.ContainsFunc(m.cells, func(c matrixCell) bool {
			return slices.Contains(c.found(), k.Code) || slices.Contains(c.Missing, k.Code)
		}) {
			codes = append(codes, string(k.Code)+" "+k.Means)
		}
	}
	if slices.ContainsFunc(m.cells, func(c matrixCell) bool { _, codes := c.short(); return strings.HasSuffix(codes, "+") }) {
		codes = append(codes, "+ something else")
	}
	for _, name := range names {
		if short := shortFault(name); !strings.HasPrefix(name, short) {
			heads = append(heads, short+" "+name)
		}
	}
	for _, list := range [][]string{signs, codes, heads} {
		a.items(list)
	}
	a.printf("\n")
}

// items prints as many of them in a line as fit.
func (a *app) items(list []string) {
	line := ""
	for _, item := range list {
		if line != "" && visible(line+" · "+item) > columns-2 {
			a.printf("  %s\n", line)
			line = ""
		}
		line = strings.TrimPrefix(line+" · "+item, " · ")
	}
	if line != "" {
		a.printf("  %s\n", line)
	}
}

// sum is the matrix in a sentence or two.
func (m *matrixOutcome) sum() string {
	var parts []string
	for _, s := range standings {
		if n := m.count(s.standing); n > 0 {
			parts = append(parts, thousands(n)+" "+strings.ReplaceAll(s.standing.String(), "-", " "))
		}
	}
	hold, least, most := 0, 0, 0
	for i := range m.cells {
		if c := &m.cells[i]; c.Expect.Holds() && c.Standing == explore.AsExpected {
			if hold == 0 || c.result.Runs < least {
				least = c.result.Runs
			}
			most = max(most, c.result.Runs)
			hold++
		}
	}
	words := fmt.Sprintf("%s: %s", plural(len(m.cells), "cell"), strings.Join(parts, ", "))
	if hold > 0 {
		runs := thousands(least)
		if least < most {
			runs += " to " + thousands(most)
		}
		words += fmt.Sprintf(". %s must hold, and did, in %s runs each", thousands(hold), runs)
	}
	return words + fmt.Sprintf(". %s in %.1f s.", plural(m.runs(), "run"), m.took.Seconds())
}

// matrixDetails is a cell in full, with -v.
func (a *app) matrixDetails(c *matrixCell) {
	found := "nothing"
	if codes := c.found(); len(codes) > 0 {
		found = joined(codes, " ")
	}
	words := fmt.Sprintf("%s %s under %s: expected %s, found %s in %s", a.standing(c.Standing), c.Lock, c.Fault, c.Expect.Codes, found, c.done())
	for _, p := range checker.Properties {
		if t := c.result.Outcomes[p]; t.Count[checker.Violated] > 0 {
			words += fmt.Sprintf("; %s in %s, first with seed %d", p, thousands(t.Count[checker.Violated]), c.seed(t.First[checker.Violated]))
		}
	}
	if c.Reason != "" {
		words += ". " + sentence(c.Reason)
	} else {
		words += "."
	}
	if c.Expect.Why != "" {
		words += " " + c.Expect.Why
	}
	a.paragraph(2, words)
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(words string) string {
	r, n := utf8.DecodeRuneInString(words)
	return strings.TrimSuffix(strings.ToUpper(string(r))+words[n:], ".") + "."
}

// matrixFailures tells of each cell that is not as expected, and ends with the
// command to go on with.
func (a *app) matrixFailures(m *matrixOutcome) {
	next := ""
	for _, s := range standings {
		if s.standing == explore.AsExpected {
			continue
		}
		for i := range m.cells {
			c := &m.cells[i]
			if c.Standing != s.standing {
				continue
			}
			a.printf("\n")
			words := fmt.Sprintf("%s %s under %s: %s", a.standing(c.Standing), c.Lock, c.Fault, c.Reason)
			switch c.Standing {
			case explore.Unexpected:
				run := c.first()
				words += fmt.Sprintf(" (expected: %s), first in run %s of %s, seed %d", c.Expect.Codes, thousands(run+1), thousands(c.result.Runs), c.seed(run))
			case explore.Missing, explore.NotShown:
				words += fmt.Sprintf(" from seed %d; %s", c.Seed, c.done())
			}
			a.paragraph(2, words)
			if c.sentence != "" && !a.quiet {
				a.paragraph(2, "  "+c.sentence)
			}
			if c.kept.dir != "" {
				a.printf("  Files  %s\n", c.kept.dir)
			}
			a.commandLine("  Again  ", c.again(m))
			if next == "" && s.code != held {
				next = c.again(m)
				if c.kept.dir != "" {
					next = program() + " replay " + quoted(filepath.Join(c.kept.dir, scheduleFile))
				}
			}
		}
	}
	if next != "" {
		a.printf("\n")
		a.commandLine("Next     ", next)
	}
}

// commandLine prints a command that can be copied. Where it is too long for a
// line a shell joins several.
func (a *app) commandLine(head, command string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	line := head
	for i, word := range strings.Split(command, " ") {
		if i > 0 && utf8.RuneCountInString(line+" "+word) > columns-2 {
			a.printf("%s \\\n", line)
			line = indent
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	a.printf("%s\n", line)
}

// markdown prints the matrix for a pull request.
func (m *matrixOutcome) markdown(w io.Writer) {
	locks, names := m.names()
	fmt.Fprintf(w, "### lockcheck matrix: %s\n\n", map[int]string{held: "as expected", violated: "not as expected", unproven: "proves nothing"}[m.code()])
	fmt.Fprintf(w, "%s On %s, lease %g s, seed %d.\n\n", m.sum(), m.place, m.lease.Seconds(), m.flags.seed)
	fmt.Fprintf(w, "| lock | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, id := range locks {
		fmt.Fprintf(w, "| `%s` |", id)
		for _, name := range names {
			c := m.cell(id, name)
			if c == nil {
				fmt.Fprint(w, " |")
				continue
			}
			sign, codes := c.short()
			fmt.Fprintf(w, " %s |", strings.TrimSpace(sign+" "+codes))
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
	fmt.Fprintf(w, "\n</details>\n")
}

func (m *matrixOutcome) markdownFailures(w io.Writer) {
	some := false
	for _, s := range standings {
		for i := range m.cells {
			c := &m.cells[i]
			if s.standing == explore.AsExpected || c.Standing != s.standing {
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

// matrixDocument is what matrix prints with --json.
type matrixDocument struct {
	Schema  int                  `json:"schema"`
	On      string               `json:"on"`
	LeaseMS int64                `json:"lease_ms"`
	Seed    uint64               `json:"seed"`
	Runs    int                  `json:"runs"`
	Seconds float64              `json:"seconds"`
	Cells   []matrixCellDocument `json:"cells"`
}

type matrixCellDocument struct {
	Lock     string           `json:"lock"`
	Fault    string           `json:"fault"`
	Expected string           `json:"expected"` // codes
	Must     []catalogue.Code `json:"must"`
	May      []string         `json:"may"` // properties
	Why      string           `json:"why,omitempty"`
	Outcome  string           `json:"outcome"`
	Reason   string           `json:"reason,omitempty"`
	Codes    []catalogue.Code `json:"codes"` // that were found
	Found    []matrixFound    `json:"found"`
	Missing  []catalogue.Code `json:"missing,omitempty"`
	Runs     int              `json:"runs"`
	Grants   int              `json:"grants"`
	Hits     int              `json:"hits"` // faults that touched somebody
	File     string           `json:"file,omitempty"`
}

// matrixFound is one property that was violated.
type matrixFound struct {
	Property string `json:"property"`
	Seed     uint64 `json:"seed"`  // the first
	First    int    `json:"first"` // the run with that seed, from 1
	Runs     int    `json:"runs"`  // that violated it
	Expected bool   `json:"expected"`
}

func (m *matrixOutcome) document() matrixDocument {
	d := matrixDocument{
		Schema: 1, On: m.place, LeaseMS: m.lease.Milliseconds(), Seed: m.flags.seed,
		Runs: m.runs(), Seconds: m.took.Seconds(), Cells: []matrixCellDocument{},
	}
	for i := range m.cells {
		c := &m.cells[i]
		cell := matrixCellDocument{
			Lock: c.Lock, Fault: c.Fault, Expected: c.Expect.Codes, Why: c.Expect.Why,
			Must: append([]catalogue.Code{}, c.Expect.Must...), May: []string{},
			Outcome: c.Standing.String(), Reason: c.Reason, Missing: c.Missing,
			Codes: append([]catalogue.Code{}, c.found()...), Found: []matrixFound{}, Runs: c.result.Runs,
			Grants: c.result.Reached[checker.Grants], Hits: c.result.Reached[checker.FaultTouched],
		}
		if c.kept.dir != "" {
			cell.File = filepath.Join(c.kept.dir, historyFile)
		}
		for _, p := range c.Expect.May {
			cell.May = append(cell.May, string(p))
		}
		for _, p := range checker.Properties {
			if t := c.result.Outcomes[p]; t.Count[checker.Violated] > 0 {
				first := t.First[checker.Violated]
				cell.Found = append(cell.Found, matrixFound{
					Property: string(p), Seed: c.seed(first), First: first + 1, Runs: t.Count[checker.Violated],
					Expected: slices.Contains(c.Expect.May, p),
				})
			}
		}
		d.Cells = append(d.Cells, cell)
	}
	return d
}
