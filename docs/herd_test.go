package docs

import (
	"os"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

// In virtual time the table and the picture of herd.md can be reproduced exactly. For
// real time the test checks their shape and their counts.
func TestTheFiguresOfTheHerd(t *testing.T) {
	t.Parallel()
	h := bench.NewHerd("sim")
	if err := h.CompareInSim(t.Context(), 0, nil); err != nil {
		t.Fatal(err)
	}
	virtual := h.Result()
	page := holdFresh(t, virtual)

	real := bench.Result{Name: virtual.Name, On: "docker"}
	_, section, _ := strings.Cut(page, "<!-- herd on "+real.On+" -->")
	section, _, _ = strings.Cut(section, "<!-- end -->")
	columns := len(bench.NewHerd(real.On).Waiters)
	wants := func(text, words string) (rest string) {
		_, rest, ok := strings.Cut(text, words)
		if !ok {
			t.Errorf("%s has no %q for %s: lockcheck bench herd --on docker --out docs", virtual.PageFile(), words, real.On)
		}
		return rest
	}
	wants(section, "("+real.ChartFile()+")")
	rest := wants(section, "| waiters | "+strings.Join(virtual.Columns[:columns], " | ")+" | growth |\n")
	for i, m := range virtual.Blocks {
		rest = wants(rest, "| **"+m.Name+"** ("+m.About+") |")
		for k, cells := range m.Cells {
			row := "\n| " + virtual.Rows[k][0] + " | "
			if bench.HerdMeasures[i].Counts {
				row += strings.Join(cells[:columns], " | ") + " | "
			}
			rest = wants(rest, row)
		}
	}
	if drawn, err := os.ReadFile(real.ChartFile()); err != nil || !strings.HasPrefix(string(drawn), "<svg ") {
		t.Errorf("%s is no picture: %v", real.ChartFile(), err)
	}
}
