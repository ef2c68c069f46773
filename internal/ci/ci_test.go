package ci

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

// outcomes are the outcomes of a cell's runs by property; all other properties held.
type outcomes map[checker.Property]checker.Outcome

// aCell returns a cell of ten runs with the given outcomes.
func aCell(name string, came outcomes, promises ...checker.Property) results.Cell {
	c := results.Cell{
		Name: name, Lock: "a-lock", On: "sim", Faults: []string{"pause"}, Promises: promises, Seed: 5, Runs: 10, Asked: 100, Seconds: 0.9,
		Reached: map[string]int{"grants": 100, "fault_injected": 10, "fault_touched": 10},
		Drawn:   map[string]int{"pause": 10}, Touched: map[string]int{"pause": 10},
	}
	c.Hazards = map[string]map[checker.Property]int{"pause": {}}
	for _, prop := range checker.Properties {
		c.Hazards["pause"][prop] = 10
		out := checker.Valid
		if o, ok := came[prop]; ok {
			out = o
		}
		p := results.PropertyResult{Property: prop, Runs: map[string]results.Tally{out.String(): {Count: 10, Seed: 5, Reason: "because"}}}
		if out == checker.Violated {
			p.Counterexample = &results.Counterexample{
				Seed: 7, File: "out/" + name + "/history.jsonl", Shrunk: "out/" + name + "/shrunk/history.jsonl",
				Sentence: "two held " + string(prop), Replay: "lockcheck replay 'out/" + name + "/schedule.json'",
			}
		}
		c.Properties = append(c.Properties, p)
	}
	return c
}

// aReport returns the report of a suite with these cells.
func aReport(cells ...results.Cell) *Report {
	d := &results.Document{Head: results.Head{Schema: 1, Command: "suite", Version: "1.2.3"}, Seed: 5, Cells: cells}
	d.Decide()
	return &Report{Document: d, File: "lockcheck.yaml", Story: func(x *results.Counterexample) string { return "the story of " + x.File + "\n" }}
}

var broke = outcomes{checker.Exclusion: checker.Violated}

// aCell returns the right cells; the tests below depend on it.
func TestCellsOfTheTestsAreDecidedByTheirRuns(t *testing.T) {
	for _, tt := range []struct {
		cell results.Cell
		want results.Verdict
	}{
		{aCell("held", nil), results.Held},
		{aCell("violated", broke), results.Violated},
		{aCell("unknown", outcomes{checker.Liveness: checker.Unknown}), results.Inconclusive},
		{inTrouble(aCell("trouble", nil)), results.Unavailable},
		{vacuous(aCell("vacuous", nil)), results.Inconclusive},
		{known(aCell("known", broke)), results.Known},
	} {
		if got := aReport(tt.cell).Cells[0].Verdict; got != tt.want {
			t.Errorf("%s is %s, want %s", tt.cell.Name, got, tt.want)
		}
	}
}

func inTrouble(c results.Cell) results.Cell {
	c.Trouble = "no engine answers"
	return c
}

func vacuous(c results.Cell) results.Cell {
	c.Hazards, c.Touched, c.Reached = nil, map[string]int{}, map[string]int{"grants": 100, "fault_injected": 10}
	return c
}

func known(c results.Cell) results.Cell {
	for i := range c.Properties {
		c.Properties[i].Known = true
	}
	return c
}

func absent(c results.Cell) results.Cell {
	c.Runs, c.Properties, c.Verdict, c.Reason = 0, nil, results.NotApplicable, "it has no clock"
	return c
}

func TestMattersAreNamedTheGravestFirst(t *testing.T) {
	r := aReport(
		aCell("a", outcomes{checker.Liveness: checker.Unknown}), inTrouble(aCell("b", nil)), aCell("c", nil),
		aCell("d", outcomes{checker.Exclusion: checker.Violated, checker.Resource: checker.Violated}), inTrouble(aCell("e", broke)), known(aCell("f", broke)),
		aCell("g", outcomes{checker.Exclusion: checker.Violated}, checker.Resource), absent(aCell("h", nil)))
	r.Shards = &results.Shards{Of: 4, Have: []int{2}, Missing: []int{1, 3}, Cut: []int{2}}
	var got []string
	for _, m := range r.matters() {
		got = append(got, m.title())
	}
	want := []string{
		"exclusion is violated: d", "resource is violated: d", "exclusion is violated: e",
		"Environment not available: b", "Environment not available: e", "Proves nothing: a", "Proves nothing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if words := r.matters()[6].words; words != "missing: shards 1, 3 of 4; cut short: shard 2 of 4" {
		t.Error(words)
	}
}

// A problem that belongs to no cell is also a matter. Otherwise a report would show
// success, and the exit code would not.
func TestThereIsAMatterWhereverTheExitCodeIsNotZero(t *testing.T) {
	for _, r := range []*Report{aReport(), aReport(absent(aCell("a", nil)))} {
		if list := r.matters(); r.ExitCode == 0 || len(list) != 1 || list[0].words == "" {
			t.Errorf("exit code %d: %+v", r.ExitCode, list)
		}
	}
}

func ExampleReport_Annotations() {
	var b strings.Builder
	c := aCell("a-lock on sim: pause", broke)
	c.Line = 12
	aReport(c).Annotations(&b)
	fmt.Print(b.String())
	// Output:
	// ::error title=exclusion is violated%3A a-lock on sim%3A pause,file=lockcheck.yaml,line=12::two held exclusion%0AIn 10 of 10 runs, first with seed 5.%0AAgain: lockcheck replay 'out/a-lock on sim: pause/schedule.json'%0AFile: out/a-lock on sim: pause/shrunk/history.jsonl
}

func TestTheRunnerReadsAnnotationsAsTheyWereMeant(t *testing.T) {
	c := aCell("50%, a:b\r\nc", broke)
	c.Properties[0].Sentence = "100%: a, b\r\nc"
	c.Kept = true
	var b strings.Builder
	if err := aReport(c).Annotations(&b); err != nil {
		t.Fatal(err)
	}
	level, properties, message := asTheRunner(t, b.String())
	want := map[string]string{"title": "Regression: exclusion is violated again: 50%, a:b\r\nc", "file": "lockcheck.yaml"}
	if level != "error" || !maps.Equal(properties, want) || !strings.HasPrefix(message, "100%: a, b\r\nc\n") {
		t.Errorf("%s %q %q", level, properties, message)
	}
}

// asTheRunner parses one command like GitHub's runner.
func asTheRunner(t *testing.T, line string) (level string, properties map[string]string, message string) {
	t.Helper()
	head, message, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	level, list, _ := strings.Cut(head, " ")
	if !ok || strings.Count(line, "\n") != 1 {
		t.Fatalf("no command: %q", line)
	}
	properties = map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(pair, "=")
		properties[name] = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(value)
	}
	return level, properties, strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(strings.TrimSuffix(message, "\n"))
}

func TestThereAreFiveAnnotationsAtMost(t *testing.T) {
	for _, tt := range []struct{ cells, want int }{{0, 1}, {1, 1}, {5, 5}, {6, 5}, {40, 5}} {
		var cells []results.Cell
		for i := range tt.cells {
			cells = append(cells, aCell(fmt.Sprint("cell ", i), broke))
		}
		var b strings.Builder
		if err := aReport(cells...).Annotations(&b); err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(strings.Lines(b.String()))
		if len(lines) != tt.want {
			t.Errorf("%d of %d", len(lines), tt.cells)
		}
		more := fmt.Sprintf("title=%d more, beginning with", tt.cells-4)
		if last := strings.ReplaceAll(lines[len(lines)-1], "%2C", ","); strings.Contains(last, more) != (tt.cells > 5) {
			t.Errorf("of %d the last is %s", tt.cells, last)
		}
	}
}

func TestWhatProvesNothingIsAWarning(t *testing.T) {
	var b strings.Builder
	aReport(aCell("a", outcomes{checker.Liveness: checker.Unknown})).Annotations(&b)
	if got := b.String(); got != "::warning title=Proves nothing%3A a,file=lockcheck.yaml::liveness is unknown (because)\n" {
		t.Error(got)
	}
}

// Mistakes in a file are shown at their lines, five at most.
func TestMistakesAreShownAtTheirLines(t *testing.T) {
	var b strings.Builder
	var list []Mistake
	for i := range 7 {
		list = append(list, Mistake{File: "a,b.yaml", Line: i + 1, Column: 3, Words: "no lock"})
	}
	if err := Complaints(&b, list); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 5 || lines[1] != "::error title=lockcheck,file=a%2Cb.yaml,line=2,col=3::no lock" || !strings.HasSuffix(lines[4], "(and 2 more)") {
		t.Errorf("%s", &b)
	}
}

// The error that ended a command early is one of the five, after the violations.
func TestWhatEndedItEarlyIsAMatter(t *testing.T) {
	var cells []results.Cell
	for i := range 7 {
		cells = append(cells, aCell(fmt.Sprint("cell ", i), broke))
	}
	for _, n := range []int{0, 1, 7} {
		r := aReport(cells[:n]...)
		r.Ended = errors.New("cannot write")
		r.ExitCode = 4
		list := r.matters()
		if len(list) != n+1 || list[n].title() != "Ended early" {
			t.Errorf("%d: %+v", n, list)
		}
		var b strings.Builder
		if err := r.Annotations(&b); err != nil || strings.Count(b.String(), "::error") != min(n+1, most) {
			t.Errorf("%v\n%s", err, b.String())
		}
		suites := read(t, r)
		if last := suites[len(suites)-1]; last.Totals.Error != 1 || last.Tests[0].Message != "cannot write" {
			t.Errorf("%+v", suites)
		}
	}
}
