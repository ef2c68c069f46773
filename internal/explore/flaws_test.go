package explore

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
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
	for i := range catalogue.Exposures {
		x := &catalogue.Exposures[i]
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
