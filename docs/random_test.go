package docs

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/catalogue"
)

var update = flag.Bool("update", false, "write the tables of the pages anew")

// The table of random.md is what was measured.
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
	table, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(head+begin+b.String()+end+tail), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if table != b.String() {
		t.Errorf("the table of %s is stale: go test ./docs -update", page)
	}
}
