package docs

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

var update = flag.Bool("update", false, "write the tables of the pages anew")

// The table of random.md has the measured figures.
func TestTheTableOfRunsUntilItIsFound(t *testing.T) {
	calibration, err := catalogue.Calibrated()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("\n| lock | fault | code | mean | ± | median | worst | budget |\n|---|---|---|--:|--:|--:|--:|--:|\n")
	for _, m := range calibration.Found {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %.1f | %.1f | %d | %d | %d |\n", m.Lock, m.Fault, m.Code, m.Mean, m.Deviation, m.Median, m.Worst,
			calibration.Budget(m.Lock, m.Fault, []catalogue.Code{m.Code}))
	}
	b.WriteString("\n")

	const page, begin, end = "random.md", "<!-- runs until it is found -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(text), begin)
	_, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", page)
	}
	holdPage(t, page, head+begin+b.String()+end+tail)
}

// holdPage compares a page with the text that it should have, or writes that text.
func holdPage(t *testing.T, page, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if text, err := os.ReadFile(page); err != nil {
		t.Error(err)
	} else if string(text) != want {
		t.Errorf("%s is stale: go test ./docs -update", page)
	}
}
