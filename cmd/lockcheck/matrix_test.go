package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/summary"
	"github.com/lockcheck/lockcheck/workloads"
)

// The whole matrix is as expected, even with a tenth of its runs.
func TestTheMatrixIsAsExpected(t *testing.T) {
	if alltests.Wanted() {
		t.Skip("the step matrix of .ci/run does a thousand runs in each cell")
	}
	cells := 0
	for _, l := range catalogue.Locks {
		cells += len(l.Columns())
	}
	r := lockcheck(t, "matrix", "--runs", "20", "--out", t.TempDir())
	r.wants(t, held, fmt.Sprintf("%d locks under", len(catalogue.Locks)), fmt.Sprintf("%d cells: %[1]d as expected", cells), "in 5 to 20 runs each")
}

// gone returns a matrix of a few cells with some wrong expectations, so that not all
// cells are as expected.
func gone(t *testing.T, a *app) *results.Document {
	t.Helper()
	m, err := goneThrough(t, a)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// goneThrough is gone, and also returns the error of keeping runs.
func goneThrough(t *testing.T, a *app) (*results.Document, error) {
	t.Helper()
	must := func(codes ...catalogue.Code) func(*explore.Cell) {
		return func(c *explore.Cell) {
			c.Expect = catalogue.Expectation{Codes: cmp.Or(strings.Trim(fmt.Sprint(codes), "[]"), "S"), Must: codes}
			for _, code := range codes {
				c.Expect.May = append(c.Expect.May, code.Properties()...)
			}
		}
	}
	change := map[[2]string]func(*explore.Cell){
		{"redis-set-lua", "kill"}:        must(), // violations of handover are not expected
		{"redis-set-del", "pause"}:       must("Uf"),
		{"redis-set-lua", "none"}:        must("L"),
		{"redis-setnx", "pause"}:         func(c *explore.Cell) { c.Acquires, c.Runs, c.Least = explore.Exactly(1), 1, 1 },
		{"redis-setnx", "server-jump"}:   func(c *explore.Cell) { c.For = time.Hour; must("L")(c) },
		{"redis-set-lua", "server-jump"}: must("U"), // protection is not expected to break
	}
	p := a.simulated(t)
	f := matrixFlags{faults: []string{"none", "pause", "kill", "server-jump"}, seed: 1, runs: 100, jobs: 2}
	f.environment.Lease = p.BaseLease()
	cells, _, err := a.cells(p, []string{"redis-setnx", "redis-set-del", "redis-set-lua"}, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if f := change[[2]string{c.Lock, c.Fault}]; f != nil {
			f(c)
		}
	}
	d := &results.Document{Matrix: &results.Matrix{On: p.Name(), Lease: p.BaseLease()}, Seed: f.seed}
	d.Settings, d.Seconds = map[string]string{"lease": p.BaseLease().String()}, 1.5
	d.Cells, err = a.matrixInSim(p, cells, f)
	d.DecideAfter(err)
	return d, err
}

func TestHowAMatrixIsShown(t *testing.T) {
	t.Chdir(t.TempDir())
	m := gone(t, func() *app { a := newApp(nil, io.Discard, nil); a.Out.Path = "out"; return a }())
	if m.ExitCode != violated {
		t.Errorf("exit code %d", m.ExitCode)
	}
	for _, tt := range []struct {
		file string
		show func(*app, *results.Document)
	}{
		{"matrix.txt", (*app).Matrix},
		{"matrix-v.txt", func(a *app, m *results.Document) { a.Verbose = true; a.Matrix(m) }},
		{"matrix.md", func(a *app, m *results.Document) { a.Document(m, true) }},
	} {
		var stdout bytes.Buffer
		a := newApp(nil, &stdout, nil)
		a.Out.Path = "out"
		tt.show(a, m)
		compare(t, filepath.Join("testdata", tt.file), stdout.String())
		for line := range strings.Lines(stdout.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > layout.Columns && !strings.HasSuffix(tt.file, ".md") {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	outcomes := map[string]int{}
	for _, c := range m.Printed().(*results.MatrixDocument).Cells {
		outcomes[c.Outcome]++
		if (c.File != "") != (c.Outcome == "unexpected") || (c.Reason == "") != (c.Outcome == "as-expected") {
			t.Errorf("%+v", c)
		}
	}
	for _, outcome := range []string{"as-expected", "unexpected", "missing", "not-shown", "unproven"} {
		if outcomes[outcome] == 0 {
			t.Errorf("no cell is %s: %v", outcome, outcomes)
		}
	}
	unexpectedIsKept(t, m)
	// A matrix of many locks and faults is split into parts that fit a terminal.
	for i := range m.Cells {
		m.Cells[i].Lock += strings.Repeat("-and-more", 6)
	}
	var wide bytes.Buffer
	newApp(nil, &wide, nil).Matrix(m)
	result{stdout: wide.String()}.wants(t, held, "none fina", "paus kill")
}

// here is the directory of this package.
var here, _ = os.Getwd()

// compare compares a page with its file in testdata, or rewrites the file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join(here, file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("it is not the page of %s (%v); -update writes it anew:\n%s", file, err, got)
	}
}

// unexpectedIsKept checks that unexpected violations are kept, and that the printed
// command repeats them.
func unexpectedIsKept(t *testing.T, m *results.Document) {
	t.Helper()
	for i := range m.Cells {
		c := &m.Cells[i]
		if c.Expected.Standing != explore.Unexpected {
			continue
		}
		kept, err := rundir.ReadJudged(c.Example().File)
		if err != nil {
			t.Fatal(err)
		}
		var shown checker.Property
		for _, p := range c.Expected.Unexpected {
			if kept.Outcome(p) == checker.Violated {
				shown = p
			}
		}
		if shown == "" {
			t.Errorf("%s: what was kept does not show it", c.Name)
		}
		command := summary.CellAgain(m, c)
		args := append(strings.Fields(command[strings.LastIndex(command, " run ")+1:]), "--promise", string(shown), "--out", t.TempDir())
		lockcheck(t, args...).wants(t, violated, "VIOLATED "+string(shown))
		lockcheck(t, "replay", filepath.Join(filepath.Dir(c.Example().File), scheduleFile), "--out", t.TempDir()).wants(t, violated, string(shown))
	}
}

func TestWhichCells(t *testing.T) {
	all, none := len(catalogue.Columns()), 1+len(workloads.Misuses())
	for list, want := range map[string]int{
		"all": all, "none": none, "pause": 1, "none,pause": none + 1, "pause,none,kill": none + 2, "-pause": all - 1, "all,-none": all - none, "-none": all - none, "all,-pause,-kill": all - 2,
	} {
		f := matrixFlags{faults: strings.Split(list, ",")}
		names, err := f.columns()
		if err != nil || len(names) != want {
			t.Errorf("--fault %s: %v, %v", list, names, err)
		}
	}
}

func TestAnInterruptedMatrixShowsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := in(t, ctx, func(*changed) { cancel() }, "matrix", "--runs", "100")
	r.wants(t, interrupted, "No cell was begun", "lockcheck: interrupted")

	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	r = in(t, ctx, func(*changed) {}, "matrix", "--runs", "1000000", "--jobs", "1")
	r.wants(t, interrupted, "? proves nothing", "more were not begun", "lockcheck: interrupted")
	if strings.Contains(r.stdout, "Again") {
		t.Errorf("what was interrupted is told at length:\n%s", r.stdout)
	}
}

// In real time a cell that must break ends with its first violation. A missing
// violation is no failure, because time may have been too short. The finished cells are
// shown even if the environment breaks down.
func TestAMatrixInRealTime(t *testing.T) {
	limits := map[string]int{}
	slow := func(breaks error) func(*changed) {
		return func(p *changed) {
			p.name = "docker"
			batches := 0
			p.batch = func(s *explore.Settings, _ func(int)) (*explore.Result, error) {
				if batches++; batches > 2 && breaks != nil {
					return nil, breaks
				}
				one := *s
				one.On, one.For, one.Jobs = "sim", 0, 1
				var r *explore.Result
				for one.Runs = 1; one.Runs <= 6; one.Runs++ {
					r, _ = explore.Random(t.Context(), sim.Simulator, &one, nil)
					if s.Enough != nil && s.Enough(r) {
						break
					}
				}
				limits[s.Kinds[0].Name] = r.Runs
				return r, nil
			}
		}
	}
	args := strings.Fields("matrix redis-set-del --fault kill,restart,pause")
	in(t, t.Context(), slow(nil), args...).wants(t, held, "redis-set-del ~U ", "not shown in the time there was", "1 not shown, 2 as expected")
	if limits["pause"] != 6 || limits["restart"] >= 6 {
		t.Errorf("runs: %v", limits)
	}
	in(t, t.Context(), slow(exit.Errorf(unavailable, "the engine is gone")), args...).wants(t, unavailable, "the engine is gone", "2 cells:")
}
