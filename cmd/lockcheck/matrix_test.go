package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

func TestAMatrixOfAFewCells(t *testing.T) {
	args := strings.Fields("matrix redis-set-* --fault none,pause,kill,restart,partition --runs 100 --out " + t.TempDir())
	r := lockcheck(t, args...)
	if lines := strings.Count(r.stdout, "\n"); lines > 24 {
		t.Errorf("%d lines do not fit a screen:\n%s", lines, r.stdout)
	}
	if again := lockcheck(t, append(args, "--jobs", "1")...); withoutTime(again.stdout) != withoutTime(r.stdout) {
		t.Errorf("with one job it is another:\n%s", again.stdout)
	}
}

// withoutTime removes the line with the duration.
func withoutTime(text string) string {
	i := strings.LastIndex(text, " runs in ")
	return text[:max(0, i)]
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
	for _, tt := range []struct {
		file string
		show func(*app, *results.Document)
	}{
		{"matrix.txt", (*app).Matrix},
		{"matrix-v.txt", func(a *app, m *results.Document) { a.Verbose = true; a.Matrix(m) }},
		{"matrix.md", func(a *app, m *results.Document) { summary.MatrixMarkdown(a.Stdout, m) }},
	} {
		var stdout bytes.Buffer
		a := newApp(nil, &stdout, nil)
		a.Out.Path = "out"
		m := gone(t, a)
		if m.ExitCode != violated {
			t.Errorf("exit code %d", m.ExitCode)
		}
		tt.show(a, m)
		compare(t, filepath.Join("testdata", tt.file), stdout.String())
		for line := range strings.Lines(stdout.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > layout.Columns && !strings.HasSuffix(tt.file, ".md") {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
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

func TestTheMatrixAsJSON(t *testing.T) {
	r := lockcheck(t, "matrix", "redis-set-*", "--fault", "none,pause", "--runs", "100", "--json", "--out", t.TempDir())
	r.wants(t, held)
	var doc results.MatrixDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != 1 || doc.On != "sim" || doc.Seed != 1 || doc.LeaseMS != 10_000 || len(doc.Cells) != 9 {
		t.Errorf("%+v", doc)
	}
	for _, c := range doc.Cells {
		if c.Outcome != "as-expected" || c.Reason != "" || c.Runs == 0 || c.Grants == 0 || (c.Hits == 0) != (c.Fault == "none") {
			t.Errorf("%+v", c)
		}
	}
	del := doc.Cells[2] // redis-set-del under pause
	if del.Expected != "U R" || len(del.Must) != 2 || len(del.Codes) != 2 || len(del.Found) == 0 || del.Why == "" {
		t.Errorf("%+v", del)
	}
	if finally := doc.Cells[1]; finally.Fault != "none" || finally.Workload != "finally" || finally.Expected != "U R" {
		t.Errorf("%+v", finally)
	}
	for _, f := range del.Found {
		if !f.Expected || f.First < 1 || f.Seed != uint64(f.First) || f.Runs < 1 || f.Property == "" {
			t.Errorf("%+v", f)
		}
	}

	a := newApp(nil, &bytes.Buffer{}, nil)
	a.Out.Path = t.TempDir()
	outcomes := map[string]int{}
	for _, c := range gone(t, a).Printed().(*results.MatrixDocument).Cells {
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
}

func TestAMatrixWithoutAPlaceIsADocument(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1") // no server answers there
	r := lockcheck(t, "matrix", "redis-set-lua", "--on", "docker", "--json", "--out", t.TempDir())
	r.wants(t, unavailable, "no Docker engine answers")
	var doc results.MatrixDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	if doc.Verdict != results.Unavailable || doc.ExitCode != unavailable || !strings.Contains(doc.Reason, "no Docker engine answers") || len(doc.Cells) > 0 {
		t.Errorf("%s, exit code %d: %s", doc.Verdict, doc.ExitCode, doc.Reason)
	}
}

// The printed commands repeat and replay unexpected violations. A session is not a
// lease, so a grant cannot say how long it lasts: the runs show an overlap, and the
// table says whether it is an unavoidable one.
func TestOverlapsWithoutALeaseAreOfTheKindThatIsExpected(t *testing.T) {
	for _, tt := range []struct {
		lock      string
		want, not catalogue.Code
	}{
		{"zk-recipe", "Uf", "U"},
		{"zk-predecessor", "U", "Uf"},
	} {
		r := lockcheck(t, "matrix", tt.lock, "--fault", "pause", "--runs", "50", "--json", "--out", t.TempDir())
		r.wants(t, held)
		var doc results.MatrixDocument
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Cells) != 1 {
			t.Fatalf("%v\n%s", err, r.stdout)
		}
		if codes := doc.Cells[0].Codes; !slices.Contains(codes, tt.want) || slices.Contains(codes, tt.not) {
			t.Errorf("%s: found %v, want %s", tt.lock, codes, tt.want)
		}
	}
}

func TestWhatWasNotExpectedIsKept(t *testing.T) {
	a := newApp(nil, &bytes.Buffer{}, nil)
	a.Out.Path = t.TempDir()
	m := gone(t, a)
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
	r := lockcheck(t, "matrix", "redis-set-lua", "--holding", "--runs", "30", "--out", t.TempDir())
	r.wants(t, held, "15 cells: 15 as expected. 15 must hold, a slow hand-over aside")
}

// A fault that does not apply to a lock has no cell: nothing runs, and the reason is
// printed.
func TestWhereAFaultDoesNotApply(t *testing.T) {
	args := strings.Fields("matrix redlock redis-set-lua --fault failover,kill --runs 20 --out " + t.TempDir())
	const reason = "failover needs servers with replicas, and the nodes of redlock have none"
	r := lockcheck(t, args...)
	r.wants(t, held, "3 cells: 3 as expected", "n/a does not apply")
	if !regexp.MustCompile(`(?m)^redlock +✓l +n/a$`).MatchString(r.stdout) {
		t.Errorf("%s", r.stdout)
	}
	lockcheck(t, append(args, "-v")...).wants(t, held, "n/a redlock under failover: failover needs servers with replicas, and")
	markdown := lockcheck(t, append(args, "--markdown")...).stdout
	for _, line := range []string{"| `redlock` | ✓ l | n/a |", "| `redlock` | failover | n/a | | | | | " + summary.Sentence(reason) + " |"} {
		if !strings.Contains(markdown, line) {
			t.Errorf("no %q in\n%s", line, markdown)
		}
	}
	var doc results.MatrixDocument
	if err := json.Unmarshal([]byte(lockcheck(t, append(args, "--json")...).stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if want := []results.MatrixNoCell{{Lock: "redlock", Fault: "failover", Reason: reason}}; len(doc.Cells) != 3 || !slices.Equal(doc.Absent, want) {
		t.Errorf("%d cells, not applicable %+v", len(doc.Cells), doc.Absent)
	}
	lockcheck(t, strings.Fields("matrix redlock --fault failover --out "+t.TempDir())...).wants(t, usage, "none of these faults applies: "+reason)
}

func TestMatrixIsUsedWrongly(t *testing.T) {
	for args, words := range map[string]string{
		"redis-set-lau":        "did you mean redis-set-lua",
		"--json --markdown":    "one of them",
		"--fault pasue":        "did you mean pause",
		"--runs 0":             "--runs 0: it has to be at least 1",
		"--jobs 0":             "--jobs 0: it has to be at least 1",
		"--for 3s":             "--for is for docker",
		"--on docker --runs 3": "--runs is for sim",
		"redis-setnx --holding --fault restart-lost": "none of these cells must hold",
	} {
		t.Run(args, func(t *testing.T) {
			lockcheck(t, append([]string{"matrix", "--out", t.TempDir()}, strings.Fields(args)...)...).wants(t, usage, words)
		})
	}
}

func TestAnInterruptedMatrixShowsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := in(t, ctx, func(*changed) { cancel() }, "matrix", "--runs", "100")
	r.wants(t, interrupted, "No cell was begun", "lockcheck: interrupted")

	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	r = in(t, ctx, func(*changed) {}, "matrix", "--runs", "1000000", "--jobs", "1")
	r.wants(t, interrupted, "? proves nothing", "702 more were not begun", "lockcheck: interrupted")
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

// A matrix of many locks and faults is split into parts that fit a terminal.
func TestAWideMatrix(t *testing.T) {
	var stdout bytes.Buffer
	a := newApp(nil, &stdout, nil)
	a.Out.Path = t.TempDir()
	m := gone(t, a)
	for i := range m.Cells {
		m.Cells[i].Lock += strings.Repeat("-and-more", 6)
	}
	a.Matrix(m)
	result{stdout: stdout.String()}.wants(t, held, "none fina", "paus kill")
}
