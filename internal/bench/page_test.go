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
	fresh := c.Result().Section("")
	for _, words := range []string{"# Contention", "(contention-sim.svg)", "| clients | 2 | 3 |", "| spin | 5.0 | 49.4 |", "| fixed | 2.5 | ≥ 10.0 |", "seed 7"} {
		if !strings.Contains(fresh, words) {
			t.Errorf("%q is missing in\n%s", words, fresh)
		}
	}
	if again := c.Result().Section(fresh); again != fresh {
		t.Errorf("written once more it is\n%s\nand was\n%s", again, fresh)
	}

	around := strings.Replace(fresh, "# Contention\n", "# Mine\n\nBefore.\n", 1) + "\nAfter.\n"
	c.Cells[0][0].Commands = 200
	changed := c.Result().Section(around)
	if !strings.HasPrefix(changed, "# Mine\n\nBefore.\n") || !strings.HasSuffix(changed, "\nAfter.\n") || !strings.Contains(changed, "| spin | 10.0 |") {
		t.Errorf("what is around it, or what is in it, is lost:\n%s", changed)
	}

	both := comparison("docker").Result().Section(changed)
	if !strings.HasPrefix(both, changed) || !strings.Contains(both, "4 cores") {
		t.Errorf("another place has no section of its own:\n%s", both)
	}
	if again := c.Result().Section(both); again != both {
		t.Errorf("one section changes the other:\n%s", again)
	}
}

func TestAPictureShowsEachRow(t *testing.T) {
	for _, tt := range []struct {
		r    *bench.Result
		open int // one wait of the comparison had not ended
	}{{comparison("docker").Result(), 1}, {herd("docker").Result(), 0}} {
		var b bytes.Buffer
		if err := tt.r.Draw(&b); err != nil {
			t.Fatal(err)
		}
		words := []string{tt.r.Of, tt.r.Blocks[0].Name}
		for _, row := range tt.r.Rows {
			words = append(words, row[0])
		}
		for _, word := range words {
			if !strings.Contains(b.String(), ">"+word+"<") {
				t.Errorf("%s: %s is not named", tt.r.Name, word)
			}
		}
		if n := strings.Count(b.String(), ` open"`); n != tt.open {
			t.Errorf("%s: %d hollow points, want %d", tt.r.Name, n, tt.open)
		}
	}
}
