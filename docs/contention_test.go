package docs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/bench"
)

// In virtual time the table and the picture of contention.md are what anybody
// measures. What was measured in real time is held to the same shape.
func TestTheFiguresOfContention(t *testing.T) {
	t.Parallel()
	c := bench.Contention.Compare("sim", 10*time.Second)
	if err := c.CompareInSim(t.Context(), 0, nil); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(c.PageFile())
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := c.Draw(&picture); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{c.PageFile(): c.Section(string(page)), c.ChartFile(): picture.String()} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is stale: go test ./docs -update (%v)", file, err)
		}
	}

	real := bench.Contention.Compare("docker", time.Second)
	_, section, _ := strings.Cut(string(page), "<!-- contention on "+real.On+" -->")
	section, _, _ = strings.Cut(section, "<!-- end -->")
	head := "| clients |"
	for _, n := range real.Clients {
		head += fmt.Sprintf(" %d |", n)
	}
	wanted := []string{head, "(" + real.ChartFile() + ")"}
	for _, m := range bench.Contention.Measures {
		wanted = append(wanted, "| **"+m.Name+"** ("+m.About+") |")
	}
	for _, words := range wanted {
		if !strings.Contains(section, words) {
			t.Errorf("%s has no %q for %s: lockcheck bench contention --on docker --out docs", c.PageFile(), words, real.On)
		}
	}
	for _, w := range bench.Contention.Sides {
		if n := strings.Count(section, "\n| "+w.Name+" |"); n != len(bench.Contention.Measures) {
			t.Errorf("%s has %d rows of %s for %s", c.PageFile(), n, w.Name, real.On)
		}
	}
	if drawn, err := os.ReadFile(real.ChartFile()); err != nil || !strings.HasPrefix(string(drawn), "<svg ") {
		t.Errorf("%s is no picture: %v", real.ChartFile(), err)
	}
}
