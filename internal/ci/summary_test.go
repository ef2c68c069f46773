package ci

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/results"
)

func page(t *testing.T, r *Report, limit int) string {
	t.Helper()
	var b strings.Builder
	if err := r.Summary(&b, limit); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageBeginsWithTheVerdictAndTheFirstStory(t *testing.T) {
	for _, tt := range []struct {
		cells []results.Cell
		want  string
	}{
		{[]results.Cell{aCell("a", nil)}, "## ✅ Held: every promise was kept\n\nlockcheck 1.2.3 suite: 10 runs in 1 cell, exit code 0.\n\n### Cells\n"},
		{[]results.Cell{known(aCell("a", broke))}, "## ✅ Held: every promise was kept; 1 known violation aside\n"},
		{[]results.Cell{aCell("a", nil), aCell("b", broke)}, "## ❌ Violated: 1 promise broken\n\nlockcheck 1.2.3 suite: 20 runs in 2 cells, exit code 1.\n\n" +
			"### exclusion is violated: b\n\ntwo held exclusion\n\n```text\nthe story of out/b/history.jsonl\n```\n\n### Cells\n"},
		{[]results.Cell{keptOf(aCell("regressions/b", broke), "b"), aCell("b", broke), aCell("c", broke)}, "## ❌ Violated: 2 promises broken\n"},
		{[]results.Cell{inTrouble(aCell("a", nil)), aCell("b", broke)}, "## ⚠️ Not available: the environment could not be set up, or broke down; 1 promise broken\n\n" +
			"lockcheck 1.2.3 suite: 20 runs in 2 cells, exit code 3.\n\n### exclusion is violated: b\n\n" +
			"two held exclusion\n\n```text\nthe story of out/b/history.jsonl\n```\n\n- ⚠️ Environment not available: a: no engine answers\n\n### Cells\n"},
		{[]results.Cell{vacuous(aCell("a", nil))}, "## ❓ Inconclusive: it proves nothing either way\n\nlockcheck 1.2.3 suite: 10 runs in 1 cell, exit code 2.\n\n- ❓ Proves nothing: a: "},
	} {
		if got := page(t, aReport(tt.cells...), PageBytes); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
}

// However many other problems there are, the first story is at the top. Long lists are
// cut.
func TestTheFirstStoryIsPushedOffByNothing(t *testing.T) {
	long := strings.Repeat("no engine answers; ", 250)
	var cells []results.Cell
	baseline := &results.Baseline{File: "base.json"}
	for i := range 60 {
		c := inTrouble(aCell(fmt.Sprintf("docker-%d", i), nil))
		c.Trouble = long
		d := inTrouble(aCell(fmt.Sprintf("other-%d", i), nil))
		d.Trouble = fmt.Sprintf("reason %d", i)
		cells = append(cells, c, d)
		baseline.Gone = append(baseline.Gone, results.Violation{Property: checker.Exclusion, Cell: fmt.Sprintf("gone-%d", i)})
	}
	for i := range 30 {
		cells = append(cells, aCell(fmt.Sprintf("broken-%d", i), broke))
	}
	r := aReport(cells...)
	r.Baseline = baseline
	got := page(t, r, PageBytes)
	if at := strings.Index(got, "the story of out/broken-0/history.jsonl"); at < 0 || at > 400 {
		t.Errorf("the story begins at %d", at)
	}
	for words, count := range map[string]int{
		"Environment not available: docker-0, docker-1, docker-2 and 57 more: no engine answers": 1,
		"no engine answers; no engine": 125, "Environment not available: ": 20, "- and 41 more\n": 1,
		"- exclusion of gone-": 20, "- and 40 more\n": 1, "lockcheck replay ": 20, "# and 10 more\n": 1,
	} {
		if n := strings.Count(got, words); n != count {
			t.Errorf("%q is there %d times, want %d", words, n, count)
		}
	}
	if len(got) > 32<<10 {
		t.Errorf("%d bytes", len(got))
	}
}

// keptOf turns a cell into a kept counterexample that another cell found.
func keptOf(c results.Cell, of string) results.Cell {
	c.Kept, c.Of = true, of
	return c
}

func TestThePageShowsWhatElseThereIsToKnow(t *testing.T) {
	r := aReport(known(aCell("a|b", broke)), aCell("c", broke), aCell("d", broke, checker.Resource))
	r.Retried = 3
	r.Shards = &results.Shards{Of: 3, Have: []int{1, 2, 3}}
	v := results.Violation{Property: checker.Exclusion, Cell: "x_y"}
	r.Baseline = &results.Baseline{File: "base.json", Known: []results.Violation{v}, New: []results.Violation{v}, Gone: []results.Violation{v}}
	got := page(t, r, PageBytes)
	for _, words := range []string{
		"| c | ❌ violated | 10 | exclusion in 10 of 10 runs, first with seed 5 |\n| a\\|b | ☑️ known | 10 | exclusion in 10 of 10 runs, first with seed 5 (known) |\n" +
			"| d | ✅ held | 10 | exclusion in 10 of 10 runs, first with seed 5 (not promised) |\n",
		"- 3 runs had to be tried again because of the environment, not of a lock.\n", "- These are the runs of shards 1, 2, 3 of 3.\n",
		"- exclusion of x\\_y: known to the baseline base.json, and found again.\n",
		"- exclusion of x\\_y: not known to the baseline base.json.\n",
		"- exclusion of x\\_y: known to the baseline base.json, and not found any more: take it out.\n",
		"### Again\n\n```sh\nlockcheck replay 'out/c/schedule.json'\n```\n",
	} {
		if !strings.Contains(got, words) {
			t.Errorf("no %q in\n%s", words, got)
		}
	}
}

// Names come from users, and so do the errors of workers.
func TestNobodysWordsAreMarkup(t *testing.T) {
	r := aReport(aCell("<b>`x`|*y*\n# z", broke))
	r.Story = func(*results.Counterexample) string { return "a\n```\n````x\n# no heading" }
	got := page(t, r, PageBytes)
	for _, words := range []string{"\\<b\\>\\`x\\`\\|\\*y\\* \\# z", "`````text\na\n```\n````x\n# no heading\n`````\n"} {
		if !strings.Contains(got, words) {
			t.Errorf("no %q in\n%s", words, got)
		}
	}
}

// A page that is cut is as short as asked, valid text, and does not end within a block
// of code. It also says that it was cut.
func TestACutPageIsWholeMarkdown(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"é🔒é", "plain", "# head", "| a | b |", "`` ` ``", ""})).Draw(t, "lines")
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			b.WriteString(strings.Join(lines, "\n") + "\n" + fenced("text", strings.Join(lines, "\n")+rapid.SampledFrom([]string{"", "\n```\n", "\n````x"}).Draw(t, "ticks")))
		}
		whole := b.String()
		limit := rapid.IntRange(60, max(60, len(whole)+10)).Draw(t, "limit")
		const note = "The page is cut here."
		got := cut(whole, limit, note)
		switch {
		case len(whole) <= limit && got != whole:
			t.Fatalf("it was cut: %q", got)
		case len(whole) <= limit:
		case len(got) > limit, !utf8.ValidString(got), !strings.HasSuffix(got, "\n\n"+note+"\n"), ending(got) != "":
			t.Fatalf("of %d bytes, %d at most: %q", len(whole), limit, got)
		case len(got) < limit-len(note)-20-len("é🔒é")-16:
			t.Fatalf("%d of %d bytes are left: %q", len(got), limit, got)
		}
	})
}

func TestALineThatIsTooLongIsCutWithin(t *testing.T) {
	if got := cut(strings.Repeat("🔒", 50), 30, "cut"); got != strings.Repeat("🔒", 6)+"\n\ncut\n" {
		t.Errorf("%q", got)
	}
	if got := cut("too long", 3, "cut"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestThePageNamesWhereTheRestIs(t *testing.T) {
	var cells []results.Cell
	for range 4000 {
		cells = append(cells, aCell(strings.Repeat("long", 10), broke))
	}
	r := aReport(cells...)
	r.Rest = "lockcheck-out"
	got := page(t, r, PageBytes)
	if len(got) > PageBytes || len(got) < PageBytes-1000 || !strings.HasSuffix(got, "\n\nThe page is cut here; all of it is in `lockcheck-out`.\n") {
		t.Errorf("%d bytes, ending %q", len(got), got[max(0, len(got)-200):])
	}
}

// "Held" covers only the runs that were done.
func TestThePageSaysHowFarItWent(t *testing.T) {
	c := aCell("a", nil)
	c.Cut = "time was over"
	if got := page(t, aReport(c, aCell("b", nil)), PageBytes); !strings.Contains(got, "exit code 0.\n\n1 cell of 2 ended before all runs were done: time was over.\n\n") {
		t.Error(got)
	}
}
