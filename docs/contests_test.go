package docs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/bench"
)

// holdFresh checks that the page and the picture match a new measurement, and returns
// the page.
func holdFresh(t *testing.T, m *bench.Result) string {
	t.Helper()
	page, err := os.ReadFile(m.PageFile())
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := m.Draw(&picture); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{m.PageFile(): m.Section(string(page)), m.ChartFile(): picture.String()} {
		holdPage(t, file, want)
	}
	return string(page)
}

// In virtual time the table and the picture of a contest's page can be reproduced
// exactly. For real time the test checks only their shape.
func TestTheFiguresOfContests(t *testing.T) {
	for _, contest := range []*bench.Contest{bench.Contention, bench.Fairness} {
		t.Run(contest.Name, func(t *testing.T) {
			t.Parallel()
			c := contest.Compare("sim", 10*time.Second)
			if err := c.CompareInSim(t.Context(), 0, nil); err != nil {
				t.Fatal(err)
			}
			virtual := c.Result()
			page := holdFresh(t, virtual)

			measured := contest.Compare("docker", time.Second)
			real := bench.Result{Name: contest.Name, On: measured.On}
			_, section, _ := strings.Cut(page, "<!-- "+contest.Name+" on "+real.On+" -->")
			section, _, _ = strings.Cut(section, "<!-- end -->")
			head := "| clients |"
			for _, n := range measured.Clients {
				head += fmt.Sprintf(" %d |", n)
			}
			wanted := []string{head, "(" + real.ChartFile() + ")", fmt.Sprintf("measured for %g s,", measured.For.Seconds())}
			for _, m := range contest.Measures {
				wanted = append(wanted, "| **"+m.Name+"** ("+m.About+") |")
			}
			for _, words := range wanted {
				if !strings.Contains(section, words) {
					t.Errorf("%s has no %q for %s: lockcheck bench %s --on docker --out docs", virtual.PageFile(), words, real.On, contest.Name)
				}
			}
			for _, s := range contest.Sides {
				if n := strings.Count(section, "\n| "+s.Name+" |"); n != len(contest.Measures) {
					t.Errorf("%s has %d rows of %s for %s", virtual.PageFile(), n, s.Name, real.On)
				}
			}
			if picture, err := os.ReadFile(real.ChartFile()); err != nil || !strings.HasPrefix(string(picture), "<svg ") {
				t.Errorf("%s is no picture: %v", real.ChartFile(), err)
			}
		})
	}
}
