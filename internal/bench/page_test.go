package bench_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

// comparison returns a comparison with one wait that had not ended.
func comparison(on string) *bench.Comparison {
	c := &bench.Comparison{Contest: bench.Contention, On: on, Lease: lease, For: 2 * lease, Seed: 7, Clients: []int{2, 3}, Cores: 4}
	for i := range bench.Contention.Sides {
		c.Cells = append(c.Cells, []bench.Figures{
			{Grants: []int{10 + i, 10}, Commands: 100, For: c.For, Longest: lease / 4, Again: 5},
			{Grants: []int{10, 10, 5}, Commands: 1234, For: c.For, Longest: lease, Again: 5, Waiting: i == 1},
		})
	}
	return c
}

func TestASectionTakesItsPlace(t *testing.T) {
	c := comparison("sim")
	fresh := c.Section("")
	for _, words := range []string{"# Contention", "(contention-sim.svg)", "| clients | 2 | 3 |", "| spin | 5.0 | 49.4 |", "| fixed | 2.5 | ≥ 10.0 |", "seed 7"} {
		if !strings.Contains(fresh, words) {
			t.Errorf("%q is missing in\n%s", words, fresh)
		}
	}
	if again := c.Section(fresh); again != fresh {
		t.Errorf("written once more it is\n%s\nand was\n%s", again, fresh)
	}

	around := strings.Replace(fresh, "# Contention\n", "# Mine\n\nBefore.\n", 1) + "\nAfter.\n"
	c.Cells[0][0].Commands = 200
	changed := c.Section(around)
	if !strings.HasPrefix(changed, "# Mine\n\nBefore.\n") || !strings.HasSuffix(changed, "\nAfter.\n") || !strings.Contains(changed, "| spin | 10.0 |") {
		t.Errorf("what is around it, or what is in it, is lost:\n%s", changed)
	}

	both := comparison("docker").Section(changed)
	if !strings.HasPrefix(both, changed) || !strings.Contains(both, "4 cores") {
		t.Errorf("another place has no section of its own:\n%s", both)
	}
	if again := c.Section(both); again != both {
		t.Errorf("one section changes the other:\n%s", again)
	}
}

func TestAPictureShowsEachWayToWait(t *testing.T) {
	var b bytes.Buffer
	if err := comparison("docker").Draw(&b); err != nil {
		t.Fatal(err)
	}
	for _, w := range bench.Contention.Sides {
		if !strings.Contains(b.String(), ">"+w.Name+"<") {
			t.Errorf("%s is not named", w.Name)
		}
	}
	if n := strings.Count(b.String(), ` open"`); n != 1 {
		t.Errorf("%d hollow points, want 1: one wait had not ended", n)
	}
}
