package ci

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// JUnit writes the document as test results: a suite of tests for each lock and
// environment, and in it a test for each cell and promised property. A violation is a
// failure; an open verdict is an error of the type inconclusive or unavailable. Tests
// that do not apply, or that the baseline knows, are skipped. Readers take a file
// without tests for an error, so a shard without results has one skipped test. It
// returns the errors of w.
func (r *Report) JUnit(w io.Writer) error {
	doc := xmlSuites{Name: "lockcheck " + r.Command}
	taken := map[string]bool{}
	for _, cells := range r.groups() {
		s := r.suite(cells)
		if taken[s.Name] {
			s.Name += fmt.Sprintf(" (line %d)", cells[0].Line)
		}
		taken[s.Name] = true
		doc.Suites = append(doc.Suites, s)
	}
	if s := r.rest(); s != nil {
		doc.Suites = append(doc.Suites, s)
	}
	if doc.Suites == nil {
		s := &xmlSuite{Name: "lockcheck"}
		s.test(&xmlTest{Class: "lockcheck", Name: "the runs of this shard", Skipped: &xmlSkipped{"they are none that show anything: the tests are those of the other shards"}})
		doc.Suites = append(doc.Suites, s)
	}
	for _, s := range doc.Suites {
		doc.add(&s.xmlCounts)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// groups returns the cells by suite of tests: one for each entry of a suite's file, and
// one for kept counterexamples. Cells of other shards are left out, because they are in
// the files of those shards.
func (r *Report) groups() (list [][]*results.Cell) {
	type group struct {
		lock, on string
		line     int
		kept     bool
	}
	at := map[group]int{}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Verdict == results.Elsewhere {
			continue
		}
		g := group{c.Lock, c.On, c.Line, false}
		if c.Kept {
			g = group{kept: true}
		}
		if _, ok := at[g]; !ok {
			at[g] = len(list)
			list = append(list, nil)
		}
		list[at[g]] = append(list[at[g]], c)
	}
	return list
}

// suite returns the test suite for one group of cells.
func (r *Report) suite(cells []*results.Cell) *xmlSuite {
	first, runs, faults := cells[0], 0, []string(nil)
	s := &xmlSuite{Name: first.Lock + " on " + first.On}
	if entry := strings.LastIndex(first.Name, ": "); entry > 0 {
		s.Name = clean(first.Name[:entry]) // the name in the suite's file
	}
	if first.Kept {
		s.Name = "regressions"
	}
	for _, c := range cells {
		runs += c.Runs
		for _, f := range c.Faults {
			if !slices.Contains(faults, f) {
				faults = append(faults, f)
			}
		}
		for _, t := range r.tests(c) {
			s.test(t)
		}
	}
	s.Properties = &xmlProperties{}
	s.Properties.set("lockcheck", r.Version)
	s.Properties.set("revision", r.Revision)
	s.Properties.set("seed", strconv.FormatUint(first.Seed, 10))
	s.Properties.set("runs", strconv.Itoa(runs))
	s.Properties.set("faults", cmp.Or(strings.Join(faults, ","), "none"))
	return s
}

// rest returns a suite for the matters that belong to no cell, or nil.
func (r *Report) rest() *xmlSuite {
	var s *xmlSuite
	for _, m := range r.matters() {
		if m.cell != nil {
			continue
		}
		if s == nil {
			s = &xmlSuite{Name: "lockcheck"}
		}
		s.test(&xmlTest{Class: "lockcheck", Name: "all was explored", Error: newTrouble(m.verdict, m.words, m.words)})
	}
	return s
}

// tests returns the tests of one cell. They share its time.
func (r *Report) tests(c *results.Cell) (list []*xmlTest) {
	for _, p := range promised(c) {
		t := &xmlTest{Class: clean(c.Name), Name: string(p.Property)}
		r.came(t, c, p)
		if c.Unfit > 0 {
			t.Properties = cmp.Or(t.Properties, &xmlProperties{})
			t.Properties.set("unfit", strconv.Itoa(c.Unfit))
		}
		if c.Cut != "" {
			t.Properties = cmp.Or(t.Properties, &xmlProperties{})
			t.Properties.set("cut", fmt.Sprintf("%s after %s", c.Cut, names.Count(c.Runs, "run")))
		}
		list = append(list, t)
	}
	for _, t := range list {
		t.Time = seconds(c.Seconds) / seconds(len(list))
	}
	return list
}

// promised returns the results of all promised properties of a cell, also of those
// without any known result.
func promised(c *results.Cell) (list []*results.PropertyResult) {
	for _, prop := range append(slices.Clone(checker.Properties[:]), c.Promises.Strange()...) {
		if !c.Promises.Covers(prop) {
			continue
		}
		p := c.Property(prop)
		if p == nil {
			p = &results.PropertyResult{Property: prop, Promised: true, Outcome: checker.NA.String(), Reason: "this lockcheck cannot judge it"}
		}
		list = append(list, p)
	}
	return list
}

// came fills in the outcome of a property of a cell.
func (r *Report) came(t *xmlTest, c *results.Cell, p *results.PropertyResult) {
	violated := p.Is(checker.Violated)
	if violated && p.Counterexample != nil {
		t.Properties = &xmlProperties{}
		if c.Bound == nil {
			t.Properties.set("seed", strconv.FormatUint(p.Seed, 10))
		}
		if p.Replay != "" { // otherwise its files are missing
			t.Properties.set("replay", p.Replay)
			t.Properties.set("file", p.File)
			t.Properties.set("shrunk", p.Shrunk)
		}
	}
	switch {
	case violated && !p.Known:
		t.Failure = newTrouble(results.Violated, sentence(p), r.failure(c, p))
	case c.Verdict == results.NotApplicable:
		t.Skipped = &xmlSkipped{clean(c.Reason)}
	case c.Trouble != "":
		t.Error = newTrouble(results.Unavailable, c.Trouble, c.Trouble)
	case open(c, p):
		why := cmp.Or(p.Reason, c.Reason) // a property without runs has no reason of its own
		t.Error = newTrouble(results.Inconclusive, why, why)
	case c.Verdict == results.Inconclusive && (c.Vacuous() != "" || !slices.ContainsFunc(promised(c), func(p *results.PropertyResult) bool { return open(c, p) })):
		t.Error = newTrouble(results.Inconclusive, c.Reason, c.Reason)
	case violated:
		words := "known to the baseline: "
		if r.Baseline != nil {
			words = "known to the baseline " + r.Baseline.File + ": "
		}
		t.Skipped = &xmlSkipped{clean(words + sentence(p))}
	case p.Is(checker.NA):
		t.Skipped = &xmlSkipped{clean(p.Reason)}
	}
}

// open reports whether a property makes its cell inconclusive.
func open(c *results.Cell, p *results.PropertyResult) bool {
	return p.Is(checker.Unknown) || p.Is(checker.NA) && len(c.Promises) > 0
}

// failure returns the full description of a violation.
func (r *Report) failure(c *results.Cell, p *results.PropertyResult) string {
	parts := []string{sentence(p)}
	if story := r.story(p.Counterexample); story != "" {
		parts = append(parts, story)
	}
	parts = append(parts, fmt.Sprintf("%s: in %s", c.Name, often(c, p)))
	if lines := again(p.Counterexample); lines != nil {
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, "\n\n")
}
