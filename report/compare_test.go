package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/report"
)

// simulated returns the run of a case's first schedule, and that of its remedy, or nil.
func simulated(t *testing.T, id string) (flawed, remedied *harness.Judged) {
	t.Helper()
	c, ok := catalogue.FindCase(id)
	if !ok {
		t.Fatal(id)
	}
	plan, _, remedy := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	flawed, _, err := harness.Simulate(sim.Simulator, plan)
	if err != nil {
		t.Fatal(err)
	}
	if remedy == nil {
		return flawed, nil
	}
	remedied, _, err = harness.Simulate(sim.Simulator, remedy)
	if err != nil {
		t.Fatal(err)
	}
	return flawed, remedied
}

// golden compares a text with a file of testdata; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the text is not the one of %s; -update writes it anew:\n%s", file, got)
	}
}

// A comparison has both stories, both pictures on one axis, and the moments of both.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"redis-get-del-race", "zk-session-expiry-holder"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			flawed, remedied := simulated(t, id)
			side := func(title string, j *harness.Judged) report.Side {
				return report.Side{Title: title, History: j.History, Verdicts: j.Verdicts, Options: rundir.StoryOptions(j)}
			}
			var b bytes.Buffer
			if err := report.Compare(&b, side("The flaw", flawed), side("The remedy", remedied)); err != nil {
				t.Fatal(err)
			}
			golden(t, "compare-"+id, b.String())
			var axes []string
			lines := strings.Split(b.String(), "\n")
			for i, line := range lines {
				if strings.Contains(line, "┼──") && !strings.Contains(line, "├") {
					axes = append(axes, lines[i-1]+"\n"+line)
				}
			}
			if len(axes) != 2 || axes[0] != axes[1] {
				t.Errorf("the pictures are not on one axis: %q", axes)
			}
		})
	}
}

// A walk has a step for each moment: the picture with a line at it, what happened, and
// what everybody knew.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"redis-get-del-race", "zk-session-expiry-holder"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			flawed, _ := simulated(t, id)
			begin, steps := report.Steps(flawed.History, flawed.Verdicts, rundir.StoryOptions(flawed))
			golden(t, "steps-"+id, begin+"\n"+strings.Join(steps, "\n"))
			for i, step := range steps {
				if n := strings.Count(step, "\n"); n > 20 { // and 4 for the heading and the keys
					t.Errorf("step %d has %d lines", i+1, n)
				}
			}
			if len(steps) != 9 {
				t.Errorf("%d steps", len(steps))
			}
			for i, s := range steps {
				for line := range strings.Lines(s) {
					if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
						t.Errorf("step %d has a line of %d columns: %q", i+1, n, line)
					}
				}
			}
		})
	}
}

// A run in which nothing happened has no steps, and says so.
func TestStepsOfNothing(t *testing.T) {
	t.Parallel()
	begin, steps := report.Steps(&history.History{}, nil, report.Options{})
	if len(steps) != 0 || !strings.Contains(begin, "Nothing happened in this run") {
		t.Errorf("%q, %q", begin, steps)
	}
}

// A page with two runs has the lanes of both on one axis, and what everybody in both knew
// at each moment of the first.
func TestAPageWithTwoRuns(t *testing.T) {
	t.Parallel()
	flawed, remedied := simulated(t, "redis-get-del-race")
	page := func(o report.PageOptions) string {
		var b bytes.Buffer
		o.Options = rundir.StoryOptions(flawed)
		if err := report.Page(&b, flawed.History, flawed.Verdicts, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one := page(report.PageOptions{})
	two := page(report.PageOptions{Title: "The <flaw>", Beside: &report.Side{
		Title: "The remedy", History: remedied.History, Verdicts: remedied.Verdicts, Options: rundir.StoryOptions(remedied),
	}})
	for _, tt := range []struct {
		what      string
		one, both int
	}{
		{`class="lane axis"`, 1, 1},
		{`<h2 class="lane title"><bdi>The &lt;flaw&gt;</bdi></h2>`, 0, 1},
		{`<h2 class="lane title"><bdi>The remedy</bdi></h2>`, 0, 1},
		{`aria-label="redis-1"`, 1, 2},
		{`id="at1"`, 1, 1},
		{`class="moment"`, 9, 9},
		{`class="beat"`, 0, 9},
		{`class="dim other"`, 0, 9},
		{"c3 was granted the lock, with a lease until 26.07 s", 0, 1},
	} {
		if n := strings.Count(one, tt.what); n != tt.one {
			t.Errorf("a page has %q %d times, want %d", tt.what, n, tt.one)
		}
		if n := strings.Count(two, tt.what); n != tt.both {
			t.Errorf("a page of two runs has %q %d times, want %d", tt.what, n, tt.both)
		}
	}
}

// A step fits a terminal of 24 lines, with a heading and the keys. It has the picture, what
// happened and what everybody knew; what is left out are lanes and states of the largest.
func TestStepsFitATerminal(t *testing.T) {
	t.Parallel()
	cut := 0
	for _, c := range catalogue.Cases {
		for _, s := range c.Schedules {
			plan, _, _ := harness.CasePlans(c, s, "sim", 10*time.Second)
			j, _, err := harness.Simulate(sim.Simulator, plan)
			if err != nil {
				t.Fatal(err)
			}
			_, steps := report.Steps(j.History, j.Verdicts, rundir.StoryOptions(j))
			for i, step := range steps {
				if n := strings.Count(step, "\n"); n > 20 {
					t.Errorf("%s: step %d has %d lines", c.ID, i+1, n)
				}
				if !strings.Contains(step, "\n\n") {
					cut++
				}
			}
		}
	}
	if cut > 60 {
		t.Errorf("%d steps had to leave out something", cut)
	}
}
