package ci

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/joshdk/go-junit"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/results"
)

// written returns a report as JUnit.
func written(t *testing.T, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.JUnit(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read parses a report with a reader of another project.
func read(t *testing.T, r *Report) []junit.Suite {
	t.Helper()
	suites, err := junit.Ingest(written(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return suites
}

func TestEachPromiseOfACellIsATest(t *testing.T) {
	const all = 9
	for _, tt := range []struct {
		cell                          results.Cell
		passed, failed, errs, skipped int
		kind                          string // of errors
	}{
		{aCell("held", nil), all, 0, 0, 0, ""},
		{aCell("held as promised", broke, checker.Resource, checker.Answers), 2, 0, 0, 0, ""},
		{aCell("violated", broke), all - 1, 1, 0, 0, ""},
		{aCell("unknown", outcomes{checker.Liveness: checker.Unknown}), all - 1, 0, 1, 0, "inconclusive"},
		{aCell("unknown and violated", outcomes{checker.Liveness: checker.Unknown, checker.Exclusion: checker.Violated}), all - 2, 1, 1, 0, "inconclusive"},
		{aCell("n/a", outcomes{checker.Fencing: checker.NA}), all - 1, 0, 0, 1, ""},
		{aCell("n/a, and promised", outcomes{checker.Fencing: checker.NA}, checker.Fencing, checker.Exclusion), 1, 0, 1, 0, "inconclusive"},
		{aCell("promised, and not ours", nil, "serenity", checker.Exclusion), 1, 0, 1, 0, "inconclusive"},
		{inTrouble(aCell("trouble", nil)), 0, 0, all, 0, "unavailable"},
		{inTrouble(aCell("trouble and violated", broke)), 0, 1, all - 1, 0, "unavailable"},
		{vacuous(aCell("vacuous", nil)), 0, 0, all, 0, "inconclusive"},
		{known(aCell("known", broke)), all - 1, 0, 0, 1, ""},
		{inTrouble(known(aCell("known, and trouble", broke, checker.Exclusion))), 0, 0, 1, 0, "unavailable"},
		{vacuous(known(aCell("known, and vacuous", broke, checker.Exclusion))), 0, 0, 1, 0, "inconclusive"},
		{absent(aCell("not there", nil)), 0, 0, 0, all, ""},
	} {
		r := aReport(tt.cell, aCell("beside", nil, checker.Exclusion))
		suites := read(t, r)
		got, want := suites[0].Totals, junit.Totals{Tests: tt.passed + tt.failed + tt.errs + tt.skipped + 1, Passed: tt.passed + 1, Failed: tt.failed, Error: tt.errs, Skipped: tt.skipped}
		got.Duration = 0
		if len(suites) != 1 || got != want {
			t.Errorf("%s: %d suites, %+v, want %+v", tt.cell.Name, len(suites), got, want)
		}
		if (got.Failed+got.Error == 0) != (r.ExitCode == 0) {
			t.Errorf("%s: %+v, and the exit code is %d", tt.cell.Name, got, r.ExitCode)
		}
		for _, test := range suites[0].Tests {
			if e, ok := test.Error.(junit.Error); ok && test.Status == junit.StatusError && e.Type != tt.kind {
				t.Errorf("%s: an error of the type %q", tt.cell.Name, e.Type)
			}
			if test.Status != junit.StatusPassed && test.Message == "" {
				t.Errorf("%s: %s says nothing", tt.cell.Name, test.Name)
			}
		}
	}
}

// If a document is not held for a reason outside its cells, the report says so, too.
func TestMissingShardsAreAnError(t *testing.T) {
	r := aReport(aCell("held", nil))
	r.Shards = &results.Shards{Of: 2, Have: []int{1}, Missing: []int{2}}
	r.Decide()
	suites := read(t, r)
	if last := suites[len(suites)-1]; len(suites) != 2 || last.Totals.Error != 1 || last.Tests[0].Message != "missing: shard 2 of 2" {
		t.Errorf("%+v", suites)
	}
	if suites := read(t, aReport()); len(suites) != 1 || suites[0].Totals.Error != 1 {
		t.Errorf("%+v", suites)
	}
}

func TestAFailureSaysWhatHappenedAndHowToSeeItAgain(t *testing.T) {
	test := read(t, aReport(aCell("a", broke)))[0].Tests[0]
	if test.Classname != "a" || test.Name != "exclusion" || test.Message != "two held exclusion" {
		t.Errorf("%+v", test)
	}
	for _, words := range []string{
		"two held exclusion\n\nthe story of out/a/history.jsonl\n\n", "\n\na: in 10 of 10 runs, first with seed 5\n\nAgain: lockcheck replay 'out/a/schedule.json'\nFile: out/a/shrunk/history.jsonl",
	} {
		if !strings.Contains(test.Error.Error(), words) {
			t.Errorf("no %q in %s", words, test.Error)
		}
	}
	for _, element := range []string{
		`<property name="seed" value="7">`, `<property name="replay" value="lockcheck replay &#39;out/a/schedule.json&#39;">`, `<property name="file" value="out/a/history.jsonl">`,
	} {
		if !bytes.Contains(written(t, aReport(aCell("a", broke))), []byte(element)) {
			t.Errorf("no %s", element)
		}
	}
}

// Each shard has only its own tests; otherwise tests would count twice when files are
// joined.
func TestTestsOfOtherShardsAreInTheirFiles(t *testing.T) {
	r := aReport(aCell("here", nil), aCell("elsewhere", nil))
	r.Cells[1].Verdict = results.Elsewhere
	if suites := read(t, r); len(suites) != 1 || suites[0].Totals.Tests != 9 {
		t.Errorf("%+v", suites)
	}
}

// A file without a test is an error for its readers, such as GitLab.
func TestAShardWithoutRunsHasATestThatIsSkipped(t *testing.T) {
	r := aReport(aCell("elsewhere", nil))
	r.Cells[0].Verdict = results.Elsewhere
	suites := read(t, r)
	if len(suites) != 1 || suites[0].Totals.Tests != 1 || suites[0].Totals.Skipped != 1 || suites[0].Tests[0].Message == "" {
		t.Errorf("%+v", suites)
	}
	children(t, written(t, r))
}

// A test suite is an entry of the file, whatever settings it had before.
func TestTestsAreGroupedByLockAndPlace(t *testing.T) {
	cell := func(name, on string, line int, kept bool) results.Cell {
		c := aCell(name, nil)
		c.On, c.Line, c.Kept = on, line, kept
		return c
	}
	suites := read(t, aReport(cell("regressions/1", "sim", 0, true), cell("mine on sim: a", "sim", 3, false), cell("b", "docker", 9, false),
		cell("c", "sim", 3, false), cell("d", "docker", 7, false), cell("regressions/2", "docker", 0, true)))
	var got []string
	for _, s := range suites {
		got = append(got, s.Name+": "+s.Tests[0].Classname+" to "+s.Tests[len(s.Tests)-1].Classname)
	}
	want := []string{"regressions: regressions/1 to regressions/2", "mine on sim: mine on sim: a to c", "a-lock on docker: b to b", "a-lock on docker (line 7): d to d"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if p := suites[1].Properties; p["lockcheck"] != "1.2.3" || p["runs"] != "20" || p["seed"] != "5" || p["faults"] != "pause" {
		t.Errorf("%v", p)
	}
}

// Names, sentences and reasons may contain anything, because users choose the names of
// locks.
func TestWhatXMLCannotCarryIsReplaced(t *testing.T) {
	const strange = "\x00 \x1b[31m \xff \uFFFE ]]> <&\"'> 🔒 \u0085 \t"
	c := aCell(strange, outcomes{checker.Exclusion: checker.Violated, checker.Fencing: checker.NA, checker.Liveness: checker.Unknown})
	c.Properties[0].Counterexample = &results.Counterexample{Sentence: strange, File: strange, Replay: strange}
	r := aReport(c)
	r.Story = func(*results.Counterexample) string { return strange + "\n" + strange }
	text := written(t, r)
	if !utf8.Valid(text) {
		t.Error("it is no UTF-8")
	}
	if test := read(t, r)[0].Tests[0]; test.Message != "� �[31m � � ]]> <&\"'> 🔒 \u0085 \t" {
		t.Errorf("%q", test.Message)
	}
	children(t, text)
}

// The same document is the same file. The common schemas differ in the elements that they
// allow, but agree on these and their order.
func TestElementsAreWhereTheSchemasHaveThem(t *testing.T) {
	r := aReport(aCell("a", broke), known(aCell("b", broke)), inTrouble(aCell("c", nil)), absent(aCell("d", nil)), aCell("e", nil))
	text := written(t, r)
	children(t, text)
	if again := written(t, r); !bytes.Equal(again, text) {
		t.Errorf("%s\n%s", text, again)
	}
}

// children checks that each element has the required attributes, and that its children
// are in order.
func children(t *testing.T, text []byte) {
	t.Helper()
	schema := map[string]struct{ attributes, elements []string }{
		"testsuites": {[]string{"name", "tests", "failures", "errors", "time"}, []string{"testsuite"}},
		"testsuite":  {[]string{"name", "tests", "failures", "errors", "skipped", "time"}, []string{"properties", "testcase"}},
		"testcase":   {[]string{"name", "classname", "time"}, []string{"properties", "skipped", "error", "failure"}},
		"properties": {nil, []string{"property"}},
		"property":   {[]string{"name", "value"}, nil},
		"skipped":    {[]string{"message"}, nil},
		"error":      {[]string{"message", "type"}, nil},
		"failure":    {[]string{"message", "type"}, nil},
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	var open []string
	last := map[int]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			if len(open) > 0 {
				at := slices.Index(schema[open[len(open)-1]].elements, name)
				if at < 0 || at < last[len(open)] {
					t.Errorf("%s in %q", name, open)
				}
				last[len(open)] = at
			}
			open = append(open, name)
			last[len(open)] = 0
			for _, want := range schema[name].attributes {
				if !slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == want }) {
					t.Errorf("%s has no %s", name, want)
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

func TestATestSaysHowFarItWent(t *testing.T) {
	c := aCell("a", nil, checker.Exclusion)
	c.Cut = "time was over"
	r := aReport(c)
	var b strings.Builder
	if err := r.JUnit(&b); err != nil || !strings.Contains(b.String(), `<property name="cut" value="time was over after 10 runs">`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	// Without a run nothing is known, and the report says so.
	r.Cells[0].Runs = 0
	r.Cells[0].Reached, r.Cells[0].Properties[0].Runs = map[string]int{}, nil
	r.Decide()
	if test := read(t, r)[0].Tests[0]; test.Status != junit.StatusError || test.Message != "time was over" {
		t.Errorf("%+v", test)
	}
}

// An interrupted shard has one test that says so; readers recognise a test by its name.
func TestAnInterruptedShardIsOneError(t *testing.T) {
	r := aReport(aCell("held", nil))
	r.Shards, r.Interrupted = results.Part(explore.Shard{N: 1, Of: 2}), true
	r.Shards.Interrupt()
	r.Decide()
	suites := read(t, r)
	if last := suites[len(suites)-1]; len(last.Tests) != 1 || last.Tests[0].Message != "cut short: shard 1 of 2" {
		t.Errorf("%+v", last)
	}
}
