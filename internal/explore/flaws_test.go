package explore

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/alltests"
	numbers "github.com/lockcheck/lockcheck/internal/names"
)

// Random runs find each flaw from any seed, and never find it in the sound counterpart.
func TestFlawsAreConvictedWithoutTheirScripts(t *testing.T) {
	t.Parallel()
	const limit = 20_000
	// The sound lock has so many times the runs that the flawed one took at worst.
	seeds, sound := alltests.Budget(3, 2), 1
	if *update { // the page says so
		seeds, sound = 20, 3
	}
	const row = "    %-29s %-17s %-16s %6s %6s\n"
	table := fmt.Sprintf(row, "lock", "under", "violates", "median", "worst")
	for i := range exposures {
		x := &exposures[i]
		if !alltests.Wanted() && !*update && x.Lock != "redis-watchdog-blind" && x.Lock != "zk-children" {
			continue // the race detector must see the search, not the flaws
		}
		t.Run(fmt.Sprintf("%s violates %s under %s", x.Lock, x.Shows, x.Under()), func(t *testing.T) {
			c := convict(t, x, seeds, limit)
			t.Logf("median %d, worst %d runs", c.Median(), c.Worst())
			table += fmt.Sprintf(row, x.Lock, x.Under(), x.Shows, numbers.Thousands(c.Median()), numbers.Thousands(c.Worst()))
			if n := c.Missed(); n > 0 {
				t.Errorf("not found from %d of %d seeds", n, seeds)
			}
			if c.Sound == "" {
				return
			}
			if n := first(t, exposing(x, c.Sound, 1), x.Shows, min(sound*c.Worst(), limit)); n > 0 {
				t.Errorf("%s violates it, too, in run %d", c.Sound, n)
			}
		})
	}
	if *update && !t.Failed() {
		writeFlaws(t, table)
	}
}

// writeFlaws puts the table into docs/random.md.
func writeFlaws(t *testing.T, table string) {
	t.Helper()
	const page, begin, end = "../../docs/random.md", "<!-- flaws -->\n\n", "\n<!-- end -->"
	text, err := os.ReadFile(page)
	must(t, err)
	head, rest, begins := strings.Cut(string(text), begin)
	_, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", page)
	}
	must(t, os.WriteFile(page, []byte(head+begin+table+end+tail), 0o666))
}

// The page has a line for each flaw, and all flaws were found. Measuring them takes
// minutes: go test ./internal/explore -run TestFlawsAreConvicted -update.
func TestTheFlawsOfThePage(t *testing.T) {
	text, err := os.ReadFile("../../docs/random.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- flaws -->\n\n")
	table, _, ends := strings.Cut(table, "\n\n<!-- end -->")
	lines := strings.Split(table, "\n")
	if !ends || len(lines) != 1+len(exposures) {
		t.Fatalf("%d lines, want a head and %d: go test ./internal/explore -run TestFlawsAreConvicted -update", len(lines), len(exposures))
	}
	for i, line := range lines[1:] {
		x := &exposures[i]
		fields := strings.Fields(line)
		n := max(0, len(fields)-2)
		if got, want := strings.Join(fields[:n], " "), fmt.Sprintf("%s %s %s", x.Lock, x.Under(), x.Shows); got != want {
			t.Errorf("%q, want %q: go test ./internal/explore -run TestFlawsAreConvicted -update", got, want)
		}
		for _, figure := range fields[n:] {
			if runs, err := strconv.Atoi(strings.ReplaceAll(figure, ",", "")); err != nil || runs < 1 || runs > 20_000 {
				t.Errorf("%q takes %s runs", line, figure)
			}
		}
	}
}
