package index

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

// The page beside a document has every cell, those with violations first, and links to
// their pages that work wherever the directory is.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	violated := func(p checker.Property, known, promised bool, file string) results.PropertyResult {
		return results.PropertyResult{
			Property: p, Outcome: checker.Violated.String(), Promised: promised, Known: known, Runs: map[string]results.Tally{"violated": {Count: 3, Seed: 7}},
			Counterexample: &results.Counterexample{Seed: 7, File: file, Sentence: "c1 <b>held</b> it"},
		}
	}
	d := &results.Document{Head: results.Head{Schema: results.Schema, Command: "suite", Verdict: results.Violated}, Baseline: &results.Baseline{Gone: []results.Violation{{Cell: "old", Property: checker.Fencing}}}, Cells: []results.Cell{
		{Name: "fine", Lock: "fine", Verdict: results.Held, Runs: 5},
		{Name: "<script>", Lock: "<script>", Verdict: results.Violated, Runs: 5, Properties: []results.PropertyResult{
			violated(checker.Exclusion, false, true, filepath.Join(dir, "cell", "run", "history.jsonl")),
			violated(checker.Ownership, true, true, ""),
			violated(checker.Liveness, false, false, ""),
		}},
	}}
	run := filepath.Join(dir, "cell", "run")
	if err := os.MkdirAll(run, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "report.html"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Of(dir, d).Write(filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, want := range []string{
		`<a href="cell/run/report.html">exclusion</a> <b>new</b> <small>in 3 runs, seed 7</small>`, "ownership <b>known</b> <small>in 3 runs, seed 7</small>", "liveness <b>not promised</b> <small>in 3 runs, seed 7</small>",
		"&lt;script&gt;", "c1 &lt;b&gt;held", "No longer found", "<bdi>old</bdi>: fencing",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page[strings.Index(page, "<body>"):])
		}
	}
	if order := regexp.MustCompile(`data-result="(\w+)`).FindAllString(page, -1); !slices.Equal(order, []string{`data-result="violated`, `data-result="held`}) {
		t.Errorf("the order is %q", order)
	}
}
