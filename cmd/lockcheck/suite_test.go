package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// suiteRun writes a suite to this directory and runs it.
func suiteRun(t *testing.T, e *engine, text string, args ...string) (result, *results.Document) {
	t.Helper()
	if err := os.WriteFile("lockcheck.yaml", []byte("lockcheck: 1\n"+text), 0o666); err != nil {
		t.Fatal(err)
	}
	r := e.runs(t, append([]string{"suite"}, args...)...)
	doc, err := results.Read("lockcheck-out")
	if err != nil {
		doc = nil
	} else if doc.ExitCode != r.code && r.code != usage { // a usage error leaves the older result
		t.Errorf("exit code %d, and the document says %d", r.code, doc.ExitCode)
	}
	return r, doc
}

// verdicts returns the verdicts of a document's cells by name.
func verdicts(d *results.Document) map[string]results.Verdict {
	list := map[string]results.Verdict{}
	if d != nil {
		for _, c := range d.Cells {
			list[c.Name] = c.Verdict
		}
	}
	return list
}

const (
	// ownerless has a lock that any client's release removes.
	ownerless = `
runs: 60
locks:
  - lock: redis-set-del
    faults: pause
    promises: ownership
`
	// quick is a suite that holds.
	quick = `
runs: 40
locks:
  - {name: one, lock: redis-set-lua, faults: [pause, kill], promises: [ownership]}
  - {name: two, lock: redis-set-lua, faults: none, clients: 2}
`
)

func TestASuiteHoldsWhatItPromises(t *testing.T) {
	t.Chdir(t.TempDir())
	r, doc := suiteRun(t, new(engine), quick)
	r.wants(t, held, "✓ one on sim: pause  40 runs  held", "✓ two on sim: none   40 runs  held",
		"Lock     no promise was broken", "Place    nothing was the matter with it", "Exit     0: held")
	want := map[string]results.Verdict{"one on sim: pause": results.Held, "one on sim: kill": results.Held, "two on sim: none": results.Held}
	if got := verdicts(doc); fmt.Sprint(got) != fmt.Sprint(want) || doc.Runs != 120 || doc.Cells[1].Line == 0 {
		t.Errorf("%v", got)
	}
	if _, err := os.Stat(regressionsDir); err == nil {
		t.Error("nothing was broken, and something was kept")
	}
}

// One lock under one fault breaks in two entries, with one seed. Each entry has files
// of its own.
func TestTwoEntriesDoNotTakeEachOthersPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	const entry = "  - {name: %s, lock: redis-set-del, faults: none, workloads: finally, acquires: 5, clients: %d, promises: ownership}\n"
	_, doc := suiteRun(t, new(engine), "runs: 1\nlocks:\n"+fmt.Sprintf(entry, "one", 3)+fmt.Sprintf(entry, "two", 4))
	for i, name := range []string{"one", "two"} {
		p := doc.Cells[i].Property(checker.Ownership)
		if p.Counterexample == nil || p.Seed != 1 {
			t.Fatalf("%s: %+v", name, p)
		}
		if plan, err := rundir.ReadPlan(p.File); err != nil || len(plan.Clients) != 3+i || !strings.Contains(p.File, name+"-on-sim") {
			t.Errorf("%s: %s, %v: %+v", name, p.File, err, plan)
		}
	}
}

// On systems that ignore case, such as macOS and Windows, two names that differ only in
// case are the same directory.
func TestADirectoryIsUniqueWhateverTheCaseOfItsLetters(t *testing.T) {
	taken := map[string]bool{}
	for _, tt := range []struct{ base, want string }{{"Mine", "Mine"}, {"mine", "mine-2"}, {"MINE", "MINE-3"}, {"Mine-2", "Mine-2-2"}, {"yours", "yours"}} {
		if got := rundir.Unique(taken, tt.base); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.base, got, tt.want)
		}
	}
}

// The findings depend on the seed and the number of runs only, not on the number of
// jobs or on the other entries of the file.
func TestASuiteFindsTheSameInAnyOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := strings.Split(strings.TrimSpace(strings.SplitN(quick, "locks:\n", 2)[1]), "\n")
	for i := range lines {
		lines[i] = "  " + strings.TrimSpace(lines[i]) + "\n"
	}
	var before []string
	for i, jobs := range []string{"1", "4"} {
		_, doc := suiteRun(t, new(engine), "runs: 300\nlocks:\n"+strings.Join(lines, ""), "--jobs", jobs)
		slices.Reverse(lines)
		var now []string
		for _, c := range doc.Cells {
			c.Seconds, c.Line = 0, 0
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			now = append(now, string(text))
		}
		slices.Sort(now)
		if i > 0 && !slices.Equal(now, before) {
			t.Errorf("%s\n\n%s", strings.Join(before, "\n"), strings.Join(now, "\n"))
		}
		before = now
	}
}

func TestTheCommandLineGoesBeforeTheFile(t *testing.T) {
	t.Chdir(t.TempDir())
	_, doc := suiteRun(t, new(engine), "seed: 5\nfor: 10m\n"+quick, "--runs", "7", "--seed", "9", "--for", "1ms")
	for _, c := range doc.Cells {
		if c.Seed != 9 || c.Runs > 7 {
			t.Errorf("%s: seed %d, %d runs", c.Name, c.Seed, c.Runs)
		}
	}
	for text, seed := range map[string]uint64{"": 1, "seed: 0\n": 0} {
		if _, doc := suiteRun(t, new(engine), text+quick, "--runs", "1"); doc.Seed != seed || doc.Cells[0].Seed != seed {
			t.Errorf("%q: seed %d", text, doc.Seed)
		}
	}
	if _, doc := suiteRun(t, new(engine), quick, "--runs", "1", "--seed", "0"); doc.Seed != 0 {
		t.Errorf("--seed 0: seed %d", doc.Seed)
	}
	_, doc = suiteRun(t, new(engine), "seed: 5\n"+quick, "--runs", "7")
	if doc.Seed != 5 || doc.Runs != 21 {
		t.Errorf("seed %d, %d runs", doc.Seed, doc.Runs)
	}
}

func TestASuiteRefusesWhatItCannotDo(t *testing.T) {
	t.Chdir(t.TempDir())
	e := new(engine)
	lockcheck(t, "suite").wants(t, usage, "no file lockcheck.yaml: lockcheck init writes one")
	lockcheck(t, "suite", "a.yaml", "b.yaml").wants(t, usage, "leave out b.yaml")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--runs", "0"}, "--runs 0: it has to be at least 1"},
		{[]string{"--runs", "1000000001"}, "--runs 1000000001: it can be 1000000000 at most"},
		{[]string{"--jobs", "257"}, "--jobs 257: it can be 256 at most"},
		{[]string{"--jobs", "0"}, "--jobs 0: it has to be at least 1"},
		{[]string{"--for", "0s"}, "--for 0s: it has to be more than 0"},
		{[]string{"--baseline", "nowhere.json"}, "the baseline: no file nowhere.json"},
		{[]string{"--baseline", "lockcheck.yaml"}, "lockcheck.yaml is no result of lockcheck"},
	} {
		r, doc := suiteRun(t, e, quick, tt.args...)
		r.wants(t, usage, tt.want)
		if doc != nil {
			t.Errorf("%q: there is a result", tt.args)
		}
	}
	r, _ := suiteRun(t, e, "locks: []\n")
	r.wants(t, usage)
}

func TestWhatBreaksAPromiseIsKeptAndReplayedFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	r, doc := suiteRun(t, new(engine), ownerless)
	r.wants(t, violated, "VIOLATED ownership", "redis-set-del on sim: pause  60 runs  violated ownership", "Kept     regressions/redis-set-del-on-sim-pause-",
		"Lock     broke 1 promise\n", "Exit     1: violated", "Again    ")
	dirs, err := filepath.Glob(filepath.Join(regressionsDir, "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%q, %v", dirs, err)
	}
	keptFiles(t, regressionsDir, historyFile, scheduleFile, storyFile, verdictFile)
	if v := doc.Violations[0]; v.Replay != "" {
		t.Errorf("the result names a command of this directory: %+v", v)
	}

	r, doc = suiteRun(t, new(engine), ownerless)
	r.wants(t, violated, "✗ "+filepath.ToSlash(dirs[0]), "Lock     broke 1 promise\n", "Again    ")
	if c := doc.Cells[0]; !c.Kept || c.Verdict != results.Violated || c.Lock != "redis-set-del" || !slices.Equal(c.Faults, []string{"pause"}) || c.Runs != 1 {
		t.Errorf("%+v", c)
	}
	if again, _ := filepath.Glob(filepath.Join(regressionsDir, "*")); len(again) != 1 {
		t.Errorf("it was kept again: %q", again)
	}

	// The lock is fixed; for a built-in lock that is another name.
	schedule := filepath.Join(dirs[0], scheduleFile)
	editJSON(t, schedule, func(s map[string]any) { s["lock"] = "redis-set-lua" })
	r, _ = suiteRun(t, new(engine), strings.ReplaceAll(ownerless, "redis-set-del", "redis-set-lua"))
	r.wants(t, held, "✓ "+filepath.ToSlash(dirs[0]))

	if err := os.WriteFile(schedule, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, doc = suiteRun(t, new(engine), ownerless)
	r.wants(t, usage, schedule)
	if doc == nil || doc.Verdict != results.Held {
		t.Errorf("nothing ran, and the result of an earlier time is gone: %+v", doc)
	}
}

// editJSON changes a JSON file.
func editJSON(t *testing.T, file string, change func(map[string]any)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	if text, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestABaselineFailsNothingThatIsKnown(t *testing.T) {
	t.Chdir(t.TempDir())
	suiteRun(t, new(engine), ownerless)
	if err := os.Rename(filepath.Join("lockcheck-out", results.File), "baseline.json"); err != nil {
		t.Fatal(err)
	}
	r, doc := suiteRun(t, new(engine), ownerless, "--baseline", "baseline.json")
	r.wants(t, held, "Compared with baseline.json", "  known  redis-set-del on sim: pause: ownership", "known: ownership")
	if len(doc.Baseline.Known) != 2 || len(doc.Baseline.New)+len(doc.Baseline.Gone) != 0 { // the second is the counterexample that the first run kept
		t.Errorf("%+v", doc.Baseline)
	}
	if dirs, _ := filepath.Glob(filepath.Join(regressionsDir, "*")); len(dirs) != 1 {
		t.Errorf("what is known was kept: %q", dirs)
	}
	if err := os.RemoveAll(regressionsDir); err != nil {
		t.Fatal(err)
	}
	r, _ = suiteRun(t, new(engine), "baseline: baseline.json\n"+strings.ReplaceAll(ownerless, "ownership", "[ownership, exclusion]"))
	r.wants(t, violated, "  known  redis-set-del on sim: pause: ownership", "violated exclusion; known: ownership")
	if err := os.RemoveAll(regressionsDir); err != nil {
		t.Fatal(err)
	}
	r, _ = suiteRun(t, new(engine), "baseline: baseline.json\n"+strings.ReplaceAll(ownerless, "redis-set-del", "redis-set-lua\n    name: redis-set-del.2"))
	r.wants(t, held, "  unseen redis-set-del on sim: pause: ownership: there is no such cell any more")
}

// An environment that is not available does not affect the others.
func TestAPlaceThatIsNotThereLeavesTheOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	text := quick + "  - {name: real, lock: redis-set-lua, on: docker, faults: [none, pause]}\n"
	text = strings.Replace(text, "[none, pause]", "[kill, pause]", 1)
	r, doc := suiteRun(t, &engine{gone: exit.Errorf(unavailable, "no engine answers")}, text)
	r.wants(t, unavailable, "lockcheck: no engine answers\n", "? real on docker: kill", "the place failed: no engine answers",
		"Place    it failed in 2 cells, which says nothing of the lock", "Lock     no promise was broken")
	if strings.Count(r.stderr, "no engine answers") != 1 {
		t.Errorf("it is not said once:\n%s", r.stderr)
	}
	if got := verdicts(doc); got["one on sim: pause"] != results.Held || got["real on docker: pause"] != results.Unavailable {
		t.Errorf("%v", got)
	}
}

const real = `
locks:
  - {name: real, lock: redis-set-lua, on: docker, faults: none, runs: 3}
  - {name: del, lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership}
`

func TestWhatThePlaceFailedIsTriedAgainInASuite(t *testing.T) {
	for _, tt := range []struct {
		name   string
		breaks []int
		code   int
		words  []string
		runs   int
	}{
		{"once", []int{1}, violated, []string{"Place    it failed in 1 run, tried again since"}, 4},
		{"twice", []int{1, 2}, unavailable, []string{"Place    it failed in 1 cell", "Lock     broke 1 promise", "Exit     3:"}, 1},
	} {
		t.Chdir(t.TempDir())
		e := &engine{breaks: goneIn(tt.breaks...)}
		r, doc := suiteRun(t, e, real)
		r.wants(t, tt.code, tt.words...)
		if doc.Retried != 1 || doc.Runs != tt.runs {
			t.Errorf("%s: %d retried, %d runs", tt.name, doc.Retried, doc.Runs)
		}
	}
}

// keptOnDocker keeps a run as a counterexample of an environment with real time.
func keptOnDocker(t *testing.T, promise string, args ...string) {
	t.Helper()
	lockcheck(t, append(append([]string{"run"}, args...), "--runs", "1", "--keep", "all", "--no-shrink", "--out", "past")...)
	files, _ := filepath.Glob(filepath.Join("past", "*", scheduleFile))
	if len(files) != 1 {
		t.Fatalf("%q", files)
	}
	editJSON(t, files[0], func(s map[string]any) { s["on"], s["promises"] = "docker", []string{promise} })
	if err := os.Rename("past", regressionsDir); err != nil {
		t.Fatal(err)
	}
}

func TestACounterexampleOfRealTimeHasSeveralTries(t *testing.T) {
	idle := []string{"redis-set-lua", "--fault", "kill-connection", "--clients", "1", "--acquires", "1", "--faults", "1", "--seed", "33"}
	breaks := []string{"redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1"}
	for _, tt := range []struct {
		name    string
		args    []string
		promise string
		gone    []int
		calls   int
		want    results.Verdict
		retried int
	}{
		{"nothing is proven", idle, "exclusion", nil, batch.Tries, results.Inconclusive, 0},
		{"a violation counts at once", breaks, "ownership", nil, 1, results.Violated, 0},
		{"it holds", breaks, "liveness", nil, 1, results.Held, 0},
		{"the place fails once", breaks, "liveness", []int{1}, 2, results.Held, 1},
		{"the place fails twice", breaks, "liveness", []int{1, 2}, 2, results.Unavailable, 1},
		{"the place fails after a violation", breaks, "ownership", []int{1}, 1, results.Violated, 0},
	} {
		t.Chdir(t.TempDir())
		keptOnDocker(t, tt.promise, tt.args...)
		e := &engine{breaks: goneIn(tt.gone...)}
		_, doc := suiteRun(t, e, quick)
		if doc == nil {
			t.Fatalf("%s: no result", tt.name)
		}
		if c := doc.Cells[0]; c.Verdict != tt.want || e.calls != tt.calls || doc.Retried != tt.retried {
			t.Errorf("%s: %s after %d calls, %d retried: %+v", tt.name, c.Verdict, e.calls, doc.Retried, c)
		}
	}
}

func TestAnInterruptedSuiteLeavesWhatThereIs(t *testing.T) {
	t.Chdir(t.TempDir())
	e := interruptedEngine(t, 3)
	r, doc := suiteRun(t, e, "locks:\n  - {lock: redis-set-lua, on: docker, faults: none, runs: 50}\n  - {name: late, lock: redis-set-lua, on: docker, faults: none}\n")
	r.wants(t, interrupted, "2 runs  held; interrupted", "Exit     130: inconclusive: interrupted", "lockcheck: interrupted; what there was until then is kept")
	if doc == nil || !doc.Interrupted || doc.Runs != 3 || doc.Verdict != results.Inconclusive {
		t.Errorf("%+v", doc)
	}
}

// A killed suite leaves no older result.
func TestARestartedSuiteBeginsWithoutAResult(t *testing.T) {
	t.Chdir(t.TempDir())
	suiteRun(t, new(engine), quick)
	there := true
	e := &engine{seen: func(*harness.Plan) {
		_, err := os.Stat(filepath.Join("lockcheck-out", results.File))
		there = err == nil
	}}
	suiteRun(t, e, real)
	if there {
		t.Error("the result of an earlier time is there while a suite runs")
	}
}

func TestASuiteWithoutAnyPromiseBrokenShowsNoStory(t *testing.T) {
	t.Chdir(t.TempDir())
	r, doc := suiteRun(t, new(engine), quick)
	for _, c := range doc.Cells {
		if p := c.Property(checker.Exclusion); c.Name == "one on sim: pause" && p.Outcome != "violated" {
			t.Errorf("exclusion is %s, and nobody promised it", p.Outcome)
		}
	}
	if strings.Contains(r.stdout, "VIOLATED") {
		t.Errorf("what nobody promised is told:\n%s", r.stdout)
	}
}

// A cell continues until its runs have reached something that could have broken its
// promises, and shows that. If they never do, the promise is not held.
func TestASuiteSaysWhetherAPromiseWasTested(t *testing.T) {
	for _, tt := range []struct {
		entry string
		code  int
		says  []string
	}{
		// The first two pauses of this cell are shorter than a lease.
		{"{lock: redis-set-del, faults: pause, promises: exclusion, runs: 2}", violated, []string{"violated exclusion"}},
		{"{lock: redis-set-lua, faults: none, clients: 1, promises: ownership, runs: 2}", unproven, []string{"not tested: "}},
		{"{lock: redis-set-lua, faults: delay, promises: [exclusion, liveness], runs: 2}", held, []string{
			"exclusion: in 2 runs the fault hit an operation on the lock, or a lease ran out, while another client held or waited",
			"liveness: in 2 runs a client wanted the lock after the last fault",
		}},
	} {
		t.Chdir(t.TempDir())
		r, _ := suiteRun(t, new(engine), "seed: 1\nlocks:\n  - "+tt.entry+"\n")
		if r.code != tt.code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", tt.entry, r.code, tt.code, r.stdout, r.stderr)
		}
		for _, words := range tt.says {
			if !strings.Contains(flat(r.stdout), words) {
				t.Errorf("%s: %q is not said:\n%s", tt.entry, words, r.stdout)
			}
		}
	}
}
