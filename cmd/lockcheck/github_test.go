package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"

	"github.com/lockcheck/lockcheck/internal/ci"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// job holds the output of one step of a GitHub job.
type job struct {
	result
	doc     results.Document
	summary string
	tests   junit.Totals
	errors  map[string]int // by type
	texts   string         // of failures and errors
}

// asGitHub runs a command as a step of a GitHub job, with --json and --junit.
func asGitHub(t *testing.T, args ...string) job {
	t.Helper()
	return asGitHubBy(t, lockcheck, args...)
}

// caller calls lockcheck in one way or another.
type caller func(t *testing.T, args ...string) result

func asGitHubBy(t *testing.T, call caller, args ...string) job {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir) // a suite keeps its counterexamples where it is called
	page, file := filepath.Join(dir, "summary.md"), filepath.Join(dir, "junit.xml")
	if err := os.WriteFile(page, []byte("What was before.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", page)
	j := job{result: call(t, append(args, "--json", "--junit", file, "--out", filepath.Join(dir, "out"))...), errors: map[string]int{}}
	if err := json.Unmarshal([]byte(j.stdout), &j.doc); err != nil {
		t.Fatalf("%v\n%s%s", err, j.stdout, j.stderr)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	j.summary = strings.TrimPrefix(string(text), "What was before.\n")
	suites, err := junit.IngestFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		j.tests.Tests += s.Totals.Tests
		j.tests.Failed += s.Totals.Failed
		j.tests.Error += s.Totals.Error
		j.tests.Skipped += s.Totals.Skipped
		for _, test := range s.Tests {
			if e, ok := test.Error.(junit.Error); ok {
				j.errors[e.Type]++
				j.texts += e.Body
			}
		}
	}
	return j
}

// annotations returns the number of errors and of warnings.
func (j *job) annotations() (errs, warnings int) {
	for line := range strings.Lines(j.stderr) {
		switch {
		case strings.HasPrefix(line, "::error "):
			errs++
		case strings.HasPrefix(line, "::warning "):
			warnings++
		}
	}
	return errs, warnings
}

// aSuite writes a suite with one lock to a new directory.
func aSuite(t *testing.T, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lockcheck.yaml")
	if err := os.WriteFile(file, []byte("lockcheck: 1\nseed: 33\nlocks:\n"+lines), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// interruptedAt returns a caller that interrupts the command during a run on docker.
func interruptedAt(run int) caller {
	return func(t *testing.T, args ...string) result {
		t.Helper()
		return interruptedEngine(t, run).runs(t, args...)
	}
}

// aBaseline returns the result of a suite that breaks some promises.
func aBaseline(t *testing.T, lines string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	out := t.TempDir()
	lockcheck(t, "suite", aSuite(t, lines), "--out", out).wants(t, violated)
	return filepath.Join(out, results.File)
}

// All outputs for CI report the same.
func TestWhatGitHubIsToldAgrees(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")                                                                                             // no server answers there
	const anyRuns = -1                                                                                                                       // any number of runs
	const vacuous = "  - lock: redis-set-lua\n    faults: [none]\n    clients: 1\n    acquires: 1\n    runs: 1\n    promises: [ownership]\n" // a single client: no contention in any number of runs
	const (
		breaks  = "  - lock: redis-set-get-del\n    faults: [pause]\n    runs: 40\n    promises: [exclusion, ownership]\n"
		nowhere = "  - lock: redis-set-lua\n    on: docker\n    faults: [pause]\n    runs: 1\n"
		long    = "  - lock: redis-set-lua\n    on: docker\n    faults: [none]\n    runs: 50\n    promises: [ownership]\n"
	)
	known := aBaseline(t, strings.Replace(breaks, "exclusion, ", "", 1))
	for _, tt := range []struct {
		name           string
		args           []string
		want           results.Verdict
		code           int
		runs           int
		violations     int // promised
		errs, warnings int // annotations
		mark           string
		kinds          string // of JUnit's failures and errors
	}{
		{"suite", []string{"suite", aSuite(t, "  - lock: redis-set-lua\n    faults: [pause]\n    runs: 20\n    promises: [ownership, answers]\n")}, results.Held, held, 20, 0, 0, 0, "✅ Held", ""},
		{"suite", []string{"suite", aSuite(t, breaks)}, results.Violated, violated, 40, 2, 2, 0, "❌ Violated", "violated"},
		{"suite", []string{"suite", aSuite(t, vacuous)}, results.Inconclusive, unproven, 1000, 0, 0, 1, "❓ Inconclusive", "inconclusive"},
		{"suite", []string{"suite", aSuite(t, nowhere)}, results.Unavailable, unavailable, 0, 0, 1, 0, "⚠️ Not available", "unavailable"},
		// Violations are shown in spite of any other trouble.
		{"suite", []string{"suite", aSuite(t, breaks+nowhere)}, results.Unavailable, unavailable, 40, 2, 3, 0, "⚠️ Not available", "unavailable violated"},
		{"suite", []string{"suite", aSuite(t, breaks), "--baseline", known}, results.Violated, violated, 40, 1, 1, 0, "❌ Violated", "violated"},
		{"suite", []string{"suite", aSuite(t, breaks+long)}, results.Violated, interrupted, anyRuns, 2, 2, 1, "❌ Violated", "inconclusive violated"},
		{"run", []string{"run", "redis-set-lua", "--fault", "pause", "--runs", "20", "--seed", "33", "--promise", "ownership,answers"}, results.Held, held, 20, 0, 0, 0, "✅ Held", ""},
		{"run", []string{"run", "redis-set-get-del", "--fault", "pause", "--runs", "40", "--seed", "33", "--promise", "exclusion,ownership"}, results.Violated, violated, 40, 2, 2, 0, "❌ Violated", "violated"},
		{
			"run",
			[]string{"run", "redis-set-lua", "--fault", "kill-connection", "--clients", "1", "--acquires", "1", "--faults", "1", "--runs", "1", "--seed", "33", "--promise", "ownership"},
			results.Inconclusive, unproven, 1, 0, 0, 1, "❓ Inconclusive", "inconclusive",
		},
		{"run", []string{"run", "redis-set-lua", "--fault", "pause", "--on", "docker"}, results.Unavailable, unavailable, 0, 0, 1, 0, "⚠️ Not available", "unavailable"},
	} {
		t.Run(tt.name+" "+string(tt.want), func(t *testing.T) {
			call := caller(lockcheck)
			if tt.code == interrupted {
				call = interruptedAt(3)
			}
			j := asGitHubBy(t, call, tt.args...)
			if j.code != tt.code || j.doc.ExitCode != tt.code || j.doc.Verdict != tt.want || tt.runs != anyRuns && j.doc.Runs != tt.runs || j.doc.Command != tt.name {
				t.Errorf("exit code %d; the document says %d, %s, %d runs\n%s", j.code, j.doc.ExitCode, j.doc.Verdict, j.doc.Runs, j.stderr)
			}
			if errs, warnings := j.annotations(); errs != tt.errs || warnings != tt.warnings {
				t.Errorf("annotations: %d errors and %d warnings, want %d and %d\n%s", errs, warnings, tt.errs, tt.warnings, j.stderr)
			}
			if !strings.HasPrefix(j.summary, "## "+tt.mark) || !strings.Contains(j.summary, fmt.Sprintf("exit code %d.", tt.code)) {
				t.Errorf("the summary begins %.200s", j.summary)
			}
			var broken []string
			aside := 0
			for _, c := range j.doc.Cells {
				for _, p := range c.Properties {
					if p.Outcome != "violated" || !p.Promised {
						continue
					}
					if p.Known {
						aside++
						continue
					}
					broken = append(broken, string(p.Property))
					seed := fmt.Sprintf("first with seed %d", p.Seed)
					for name, text := range map[string]string{"the summary": j.summary, "JUnit": j.texts, "annotations": j.stderr} {
						if !strings.Contains(text, seed) || !strings.Contains(text, p.Replay) {
							t.Errorf("%s: no %q and %q", name, seed, p.Replay)
						}
					}
				}
			}
			if aside != j.tests.Skipped || (aside > 0) != strings.Contains(j.summary, names.Count(aside, "known violation")+" aside") {
				t.Errorf("%d are known, %d tests were skipped, and the summary begins %.200s", aside, j.tests.Skipped, j.summary)
			}
			if len(broken) != tt.violations || j.tests.Failed != tt.violations {
				t.Errorf("%q are broken, and %d tests failed, want %d", broken, j.tests.Failed, tt.violations)
			}
			if kinds := strings.Join(slices.Sorted(maps.Keys(j.errors)), " "); kinds != tt.kinds {
				t.Errorf("tests that did not pass are %q, want %q", kinds, tt.kinds)
			}
			// The text shows the same; it is not printed beside a document.
			t.Chdir(t.TempDir())
			words := append(broken, fmt.Sprintf("%s from seed 33", names.Count(tt.runs, "run")))
			if tt.name == "suite" {
				words = append(broken, fmt.Sprintf("Exit     %d: %s", tt.code, tt.want))
				if tt.runs != anyRuns {
					words = append(words, "  "+names.Count(tt.runs, "run")+"  ")
				}
			} else if tt.code == unavailable {
				words = []string{"no Docker engine answers"}
			}
			call(t, append(tt.args, "--out", t.TempDir())...).wants(t, tt.code, words...)
		})
	}
}

// GitHub gets the same report from one machine as from two shards.
func TestWhatGitHubIsToldOfMergedShardsIsThatOfTheWhole(t *testing.T) {
	args := []string{"run", "redis-set-get-del", "--fault", "pause", "--runs", "40", "--seed", "33"}
	whole, dir := asGitHub(t, args...), t.TempDir()
	t.Setenv("GITHUB_ACTIONS", "")
	for _, shard := range []string{"1", "2"} {
		lockcheck(t, append(args, "--shard", shard+"/2", "--out", filepath.Join(dir, shard))...)
	}
	merged := asGitHub(t, "merge", dir)
	if merged.code != violated || merged.tests.Failed == 0 || merged.tests.Tests != whole.tests.Tests || merged.tests.Failed != whole.tests.Failed {
		t.Errorf("exit code %d: %+v of the shards, and %+v of the whole", merged.code, merged.tests, whole.tests)
	}
	if a, _ := merged.annotations(); a != merged.tests.Failed {
		t.Errorf("%d annotations, %d failures", a, merged.tests.Failed)
	}
	if !strings.Contains(merged.summary, "These are the runs of shards 1, 2 of 2.") {
		t.Error(merged.summary)
	}

	lost := asGitHub(t, "merge", filepath.Join(dir, "1"))
	if _, warnings := lost.annotations(); warnings != 1 || lost.errors["inconclusive"] != 1 || !strings.Contains(lost.summary, "missing: shard 2 of 2") {
		t.Errorf("%d warnings, %v\n%s", warnings, lost.errors, lost.summary)
	}
}

func TestGitHubIsToldWhyThereIsNoResult(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "true")
	lockcheck(t, "run", "no-such-lock").wants(t, usage, `::error title=lockcheck::no lock "no-such-lock"; the nearest are`)
	t.Setenv("GITHUB_ACTIONS", "")
	if r := lockcheck(t, "run", "no-such-lock"); strings.Contains(r.stderr, "::") {
		t.Error(r.stderr)
	}
}

func TestMistakesInASuiteAreShownAtTheirLines(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GITHUB_ACTIONS", "true")
	if err := os.WriteFile("mine.yaml", []byte("lockcheck: 1\nlocks:\n  - lock: redis-set-lau\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite", "mine.yaml").wants(t, usage, "::error title=lockcheck,file=mine.yaml,line=3,col=11::")
	if err := os.WriteFile("mine.yaml", []byte("lockcheck: 1\nbaseline: no.json\nlocks:\n  - lock: redis-set-lua\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite", "mine.yaml").wants(t, usage,
		"mine.yaml:2:11: the baseline: no file no.json", "::error title=lockcheck,file=mine.yaml,line=2,col=11::the baseline: no file no.json")
	if r := lockcheck(t, "suite", "mine.yaml", "--baseline", "not.json"); r.code != usage || strings.Contains(r.stderr, "mine.yaml:2") {
		t.Error(r.stderr) // an error in the flag has no line in the file
	}
}

// A suite that names something that this machine does not have is a mistake in the file
// like any other.
func TestWhatIsNotThereIsAMistakeInTheSuite(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GITHUB_ACTIONS", "true")
	text := `lockcheck: 1
regressions: out/kept
baseline: mine.yaml
locks:
  - {name: a, worker: nope1}
  - {name: b, worker: ./nope2 -v}
  - {lock: redis-set-lau}
`
	if err := os.WriteFile("mine.yaml", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, "suite", "mine.yaml", "--out", "out")
	for _, m := range []struct {
		line, column int
		words        string
	}{
		{2, 14, "out/kept and --out out are not apart"},
		{3, 11, "the baseline: mine.yaml is no result of lockcheck"},
		{5, 23, "worker nope1: executable file not found in $PATH"},
		{6, 23, "worker ./nope2: no such file or directory"},
		{7, 12, `no lock "redis-set-lau"`},
	} {
		r.wants(t, usage, fmt.Sprintf("\nmine.yaml:%d:%d: %s", m.line, m.column, m.words),
			fmt.Sprintf("::error title=lockcheck,file=mine.yaml,line=%d,col=%d::%s", m.line, m.column, m.words))
	}
	if strings.Contains(r.stderr, "--worker") {
		t.Errorf("a flag is named that nobody typed:\n%s", r.stderr)
	}
	if err := os.WriteFile("mine.yaml", []byte("lockcheck: 1\nbaseline: run.json\nlocks: [{lock: redis-setnx}]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := lockcheck(t, "run", "redis-setnx", "--runs", "1", "--json", "--out", "run")
	if err := os.WriteFile("run.json", []byte(run.stdout), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite", "mine.yaml").wants(t, usage, "mine.yaml:2:11: the baseline: run.json: it is of run, and this is suite")
}

// A page that cannot be written changes no verdict: a lock is neither broken nor held
// because of it.
func TestASummaryThatCannotBeWrittenChangesNothing(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", t.TempDir())
	lockcheck(t, "run", "redis-set-lua", "--fault", "none", "--runs", "5", "--out", t.TempDir()).wants(t, held, "there is no summary of this job: ")
}

func TestTestResultsThatCannotBeWrittenAreSaidBeforeTheRuns(t *testing.T) {
	dir, file := t.TempDir(), aSuite(t, "")
	for _, tt := range []struct{ file, why string }{
		{filepath.Join(file, "junit.xml"), "not a directory"},
		{dir, "it is a directory"},
		{"", "needs the name of a file"},
	} {
		for _, args := range [][]string{{"run", "redis-set-lua"}, {"suite", aSuite(t, "  - lock: redis-set-lua\n")}} {
			out := filepath.Join(t.TempDir(), "out")
			r := lockcheck(t, append(args, "--junit", tt.file, "--out", out)...)
			r.wants(t, usage, "--junit", tt.why)
			if _, err := os.Stat(out); err == nil || r.stdout != "" {
				t.Errorf("%q: it ran", args)
			}
		}
	}
}

func TestTestResultsMayBeBelowADirectoryThatIsNotThereYet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "junit.xml")
	lockcheck(t, "run", "redis-set-lua", "--fault", "none", "--runs", "5", "--out", t.TempDir(), "--junit", file).wants(t, held)
	if suites, err := junit.IngestFile(file); err != nil || len(suites) != 1 {
		t.Errorf("%v %v", suites, err)
	}
}

// The suite may be anywhere in a repository, and lockcheck may be run anywhere in it.
func TestAnnotationsNameTheSuiteFromTheRootOfTheRepository(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "a"))
	for _, tt := range []struct{ workspace, file, want string }{
		{root, "lockcheck.yaml", "a/lockcheck.yaml"},
		{root, "b/../lockcheck.yaml", "a/lockcheck.yaml"},
		{root, filepath.Join(root, "lockcheck.yaml"), "lockcheck.yaml"},
		{"", "lockcheck.yaml", "lockcheck.yaml"},
		{filepath.Join(root, "a", "b"), "lockcheck.yaml", "lockcheck.yaml"},
	} {
		t.Setenv("GITHUB_WORKSPACE", tt.workspace)
		if got := inRepository(tt.file); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestTheStoryOnThePageIsThatOfTheCounterexample(t *testing.T) {
	j := asGitHub(t, "run", "redis-set-lua", "--fault", "pause", "--runs", "40", "--seed", "1")
	c := j.doc.Cells[0].Property("exclusion")
	if c == nil || c.Counterexample == nil {
		t.Fatal("exclusion held")
	}
	story, err := os.ReadFile(filepath.Join(filepath.Dir(c.Shrunk), storyFile))
	if err != nil {
		t.Fatal(err)
	}
	fence := "\n```text\n" + strings.TrimRight(string(story), "\n") + "\n```\n"
	if !strings.Contains(j.summary, fence) || !strings.Contains(j.texts, strings.TrimRight(string(story), "\n")) {
		t.Errorf("the story is not there:\n%s", j.summary)
	}
	if len(j.summary) > ci.PageBytes {
		t.Errorf("%d bytes", len(j.summary))
	}
}
