package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/cases"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The exit codes.
const (
	held, violated, unproven = exit.Held, exit.Violated, exit.Unproven
	unavailable, usage, bug  = exit.Unavailable, exit.Usage, exit.Bug
	interrupted              = exit.Interrupted
)

// The files of a kept run.
const (
	historyFile, scheduleFile = rundir.HistoryFile, rundir.ScheduleFile
	verdictFile, storyFile    = rundir.VerdictFile, rundir.StoryFile
)

// regressionsDir is the default directory of kept counterexamples.
const regressionsDir = "regressions"

// result is the output of one command.
type result struct {
	code           int
	stdout, stderr string
}

func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(stdin, stdout, stderr).execute(ctx, args)
}

// lockcheck runs the command in this process.
func lockcheck(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// ofAFile matches a quoted line of a history with its number. Such lines are not
// wrapped.
var ofAFile = regexp.MustCompile(`^ *\d+  .*[{"\[(]`)

func (r result) wants(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\n%s%s", r.code, code, r.stdout, r.stderr)
	}
	for _, w := range words {
		if !strings.Contains(r.stdout+r.stderr, w) {
			t.Errorf("%q is not said:\n%s%s", w, r.stdout, r.stderr)
		}
	}
	if strings.HasPrefix(r.stdout, "{") {
		return
	}
	for line := range strings.Lines(r.stdout) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > layout.Columns && !strings.Contains(line, "lockcheck-out") && !strings.Contains(line, os.TempDir()) && !ofAFile.MatchString(line) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// case also reports the violations without the fault.
func TestWhatTakesNoFaultIsSaid(t *testing.T) {
	lockcheck(t, "case", "redis-setnx-client-skew-ahead", "--out", t.TempDir()).wants(t, held,
		"Without the fault only answers is violated.")
}

func TestAllCasesAreReproduced(t *testing.T) {
	out := t.TempDir()
	r := lockcheck(t, "case", "--all", "--out", out)
	r.wants(t, held, "VIOLATED", "Remedy:", fmt.Sprintf("%d of %[1]d behaved as documented", len(catalogue.Cases)))
	for _, c := range catalogue.Cases {
		if !strings.Contains(r.stdout, c.ID) {
			t.Errorf("%s is not told", c.ID)
		}
	}

	r = lockcheck(t, "case", "--json", "--out", out)
	r.wants(t, held)
	var doc cases.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) != len(catalogue.Cases) {
		t.Errorf("%d cases in the document", len(doc.Cases))
	}
	for _, c := range doc.Cases {
		if !c.Reproduced || c.Remedy != "valid" && c.Remedy != "none" {
			t.Errorf("%+v", c)
		}
	}
}

// Without an ID, case prints one story and a summary that fits on a screen.
func TestTheSummaryOfAllCases(t *testing.T) {
	r := lockcheck(t, "case", "--out", t.TempDir())
	r.wants(t, held, "── redis-get-del-race ─", "broke as documented", "lockcheck case --all", "lockcheck init",
		fmt.Sprintf("%d of %[1]d behaved as documented", len(catalogue.Cases)))
	_, summary, _ := strings.Cut(r.stdout, fmt.Sprintf("── %d documented cases on sim ─", len(catalogue.Cases)))
	if n := strings.Count(summary, "\n"); n == 0 || n > 25 {
		t.Errorf("the summary has %d lines:\n%s", n, summary)
	}
	if stories := strings.Count(r.stdout, "\nSource "); stories != 1 {
		t.Errorf("%d stories", stories)
	}
}

// "none" in a list with other faults is drawn like one of them.
func TestRunsWithoutAFaultBesideOthers(t *testing.T) {
	var doc results.Document
	r := lockcheck(t, "run", "redis-set-lua", "--fault", "none,pause", "--runs", "50", "--seed", "1", "--json", "--out", t.TempDir())
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err, r.stderr)
	}
	c := doc.Cells[0]
	if !slices.Equal(c.Faults, []string{"pause", "none"}) || c.Drawn["pause"] == 0 || c.Drawn["pause"] == c.Runs || c.Hazards["none"] == nil {
		t.Errorf("%v, drawn %v of %d, %v", c.Faults, c.Drawn, c.Runs, c.Hazards)
	}
	lockcheck(t, "run", "redis-set-lua", "--fault", "none,pause", "--strategy", "exhaustive", "--out", t.TempDir()).wants(t, violated, "pause: all of this bound", "no fault: all of this bound")
	lockcheck(t, "run", "redis-set-lua", "--fault", "none,pause", "--mix").wants(t, usage, "leave out none")
}

func TestOneCaseIsToldAlone(t *testing.T) {
	r := lockcheck(t, "case", "redis-get-del-race", "--out", t.TempDir())
	r.wants(t, held, "c1 wakes up", "that update is lost", "1 of 1 behaved as documented", "Source   jiaduo")
	if strings.Contains(r.stdout, "redis-setnx") {
		t.Error("other cases are told as well")
	}
}

func TestACaseIsRetoldWithOneThingChanged(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "case", "redis-get-del-race", "--lock", "redis-set-lua", "--out", out).wants(t, held)
	lockcheck(t, "case", "redis-expiry-while-holding", "--pause", "3s", "--out", out).wants(t, held)
	lockcheck(t, "case", "redis-expiry-while-holding", "--lease", "2s", "--out", out).wants(t, violated, "VIOLATED resource")
}

func TestRunFindsTellsRepeatsAndReplays(t *testing.T) {
	out, again := t.TempDir(), t.TempDir()
	args := []string{"run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "100", "--out"}
	r := lockcheck(t, append(args, out)...)
	r.wants(t, violated, "VIOLATED exclusion", "paused", "Again")
	lockcheck(t, append(args, again)...).wants(t, violated)

	dirs, err := os.ReadDir(out)
	if err != nil || len(dirs) == 0 {
		t.Fatal("no files were kept", err)
	}
	for _, d := range dirs {
		for _, f := range []string{historyFile, scheduleFile, verdictFile, storyFile} {
			one, err1 := os.ReadFile(filepath.Join(out, d.Name(), f))
			two, err2 := os.ReadFile(filepath.Join(again, d.Name(), f))
			if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
				t.Errorf("%s/%s differs between two runs of one seed (%v, %v)", d.Name(), f, err1, err2)
			}
		}
	}
	first := filepath.Join(out, dirs[0].Name())
	for _, f := range []string{scheduleFile, historyFile} {
		lockcheck(t, "replay", filepath.Join(first, f), "--out", again).wants(t, violated, "The history is the same to the byte.")
	}
	lockcheck(t, "check", filepath.Join(first, historyFile)).wants(t, violated, "VIOLATED", "File     "+first)
	lockcheck(t, "check", filepath.Join(first, historyFile), filepath.Join(first, historyFile)).wants(t, violated)
}

func TestThePromiseDecides(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-lua", "--fault", "none", "--runs", "200", "--out", out).wants(t, held)
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "100", "--fencing",
		"--promise", "ownership,fencing,resource,liveness", "--out", out).
		wants(t, held, "✗ exclusion        violated", "not promised")
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "100",
		"--promise", "fencing", "--out", out).wants(t, usage, "none are drawn: turn fencing on")
}

func TestRunsThatReachedNothingProveNothing(t *testing.T) {
	// The only connection has to be reset when nothing is being sent on it any more.
	lockcheck(t, "run", "redis-set-lua", "--fault", "kill-connection", "--clients", "1", "--acquires", "1", "--faults", "1", "--seed", "33",
		"--runs", "1", "--promise", "exclusion", "--out", t.TempDir()).wants(t, unproven, "Proves nothing")
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broken := write("broken.jsonl", `{"lockcheck":1}`+"\n"+`{"type":"invoke","f":"acquire","process":1}`+"\n"+`{"type":`+"\n"+`{"type":"ok","f":"acquire","process":1}`+"\n")
	empty := write("empty.jsonl", "")
	quiet := write("quiet.jsonl", `{"lockcheck":1,"lease_ms":1000}`+"\n")
	nobody := write("nobody.jsonl", `{"lockcheck":1,"lease_ms":1000}`+"\n"+`{"type":"invoke","f":"acquire","process":1,"time":0}`+"\n"+`{"type":"fail","f":"acquire","process":1,"time":5}`+"\n")
	open := write("open.jsonl", `{"lockcheck":1}`+"\n"+`{"type":"ok","f":"acquire","process":1}`+"\n")
	schedule := write("schedule.json", `{"hello":1}`)
	tests := []struct {
		args  string
		code  int
		words []string
	}{
		{"fly", usage, []string{`no command "fly"`}},
		{"runs redis-set-lua", usage, []string{"did you mean run"}},
		{"case redis-get-del-rce", usage, []string{"did you mean redis-get-del-race?"}},
		{"case redis-get-del-race --lock redis-set-lu", usage, []string{"did you mean redis-set-lua"}},
		{"case etcd-*", usage, []string{`no case "etcd-*"`}},
		{"run", usage, []string{"run needs a LOCK"}},
		{"run zk-recipe --fault evict", usage, []string{"none of these faults applies: evict needs a server that evicts", "zk-recipe keeps all"}},
		{"run redis-set-lua --fault session-expiry", usage, []string{"none of these faults applies: session-expiry needs a server that keeps sessions"}},
		{"run redlock --fault failover", usage, []string{"the nodes of redlock have none"}},
		{"run zk-recipe --strategy exhaustive", usage, []string{"use random runs"}},
		{"run zk-recipe --option spin", usage, []string{"zk-recipe has no option spin"}},
		{"case redis-get-del-race --lock zk-recipe", usage, []string{"cannot be told with zk-recipe, which stands on ZooKeeper: it happens to Redis"}},
		{"run redis-setlua", usage, []string{"did you mean redis-set-lua"}},
		{"run redis-set-lua --fault pasue", usage, []string{"did you mean pause?"}},
		{"run redis-set-lua --promise exclusio", usage, []string{"did you mean exclusion"}},
		{"run redis-set-lua --on dokcer", usage, []string{"did you mean docker"}},
		{"run redis-set-lua --strategy luck", usage, []string{"it can be random, pct"}},
		{"run redis-set-lua --strategy pct --on docker", usage, []string{"how long each message takes"}},
		{"run redis-set-lua --strategy pct --depth 0", usage, []string{"--depth 0: it goes from 1 to 16"}},
		{"run redis-set-lua --strategy pct --depth 17", usage, []string{"--depth 17: it goes from 1 to 16"}},
		{"run redis-set-lua --depth 2", usage, []string{"--depth is of --strategy pct only"}},
		{"run redis-set-lua --strategy random --depth 2", usage, []string{"--depth is of --strategy pct only"}},
		{"run redis-set-lua --clients 0", usage, []string{"--clients 0: it has to be at least 1"}},
		{"run redis-set-lua --clients 3000000", usage, []string{"--clients 3000000: it can be 200 at most"}},
		{"run redis-set-lua --acquires 1000000000", usage, []string{"--acquires 1000000000: it can be 1000 at most"}},
		{"run redis-set-lua --faults 1001", usage, []string{"--faults 1001: it can be 1000 at most"}},
		{"run redis-set-lua --jobs 257", usage, []string{"--jobs 257: it can be 256 at most"}},
		{"run redis-set-lua --runs 1000000001", usage, []string{"--runs 1000000001: it can be 1000000000 at most"}},
		{"matrix redis-set-lua --jobs 257", usage, []string{"--jobs 257: it can be 256 at most"}},
		{"bench contention --jobs 257", usage, []string{"--jobs 257: it can be 256 at most"}},
		{"run --on docker --worker 'a", usage, []string{`--worker: "'a" cannot be split into words: a quote or a backslash has no end`}},
		{"run --on docker --worker nothing-like-it", usage, []string{"--worker: nothing-like-it: executable file not found in $PATH"}},
		{"run redis-set-lua --runs 0", usage, []string{"--runs 0: it has to be at least 1"}},
		{"run redis-set-lua --jobs 0", usage, []string{"--jobs 0: it has to be at least 1"}},
		{"run redis-set-lua --for 0s", usage, []string{"--for 0s: it has to be more than 0"}},
		{"run redis-set-lua --fault pause,-pause", usage, []string{"leaves no kind of fault", "none means no fault"}},
		{"run redis-set-lua --fault all,-all", usage, []string{"leaves no kind of fault"}},
		{"run redis-set-lua --fault=", usage, []string{"leaves no kind of fault"}},
		{"run redis-set-lua --workload nest", usage, []string{"did you mean nested?"}},
		{"run redis-set-lua --workload finally", usage, []string{"finally needs a lock that releases by name, and redis-set-lua is none"}},
		{"run redis-set-lua --workload -all", usage, []string{"leaves nothing that clients could do"}},
		{"run redis-set-lua --workload all --strategy exhaustive", usage, []string{"one workload at a time"}},
		{"run redis-set-lua --workload give-up --strategy exhaustive", usage, []string{"give-up cannot be searched"}},
		{"run redis-set-lua --fault pause,-kill", usage, []string{"-kill takes out what is not in the list"}},
		{"run redis-set-lua --runs many", usage, []string{`--runs "many": it has to be a whole number`}},
		{"run redis-set-lua --seed -1", usage, []string{`--seed "-1": it has to be a whole number from 0`}},
		{"run redis-set-lua --json=maybe", usage, []string{`--json "maybe": it has to be true or false`}},
		{"run redis-set-lua --lease 1", usage, []string{"--lease"}},
		{"run redis-set-lua --lease 1ms", usage, []string{"it has to be 200ms or more", "a quarter of the lease"}},
		{"run redis-set-lua --lease 0s", usage, []string{"it has to be 200ms or more"}},
		{"case --lease 199ms", usage, []string{"it has to be 200ms or more"}},
		{"case --lease 500500us", usage, []string{"whole milliseconds"}},
		{"run redis-set-lua --lease 11m", usage, []string{"10m at most"}},
		{"case --pause 0s", usage, []string{"--pause 0s: it has to be more than 0"}},
		{"case redis-expiry-while-holding --pause -5s", usage, []string{"--pause -5s: it has to be more than 0"}},
		{"case redis-token-reuse --pause 5s", usage, []string{"--pause changes nothing in redis-token-reuse"}},
		{"case redis-get-del-race redis-token-reuse --pause 5s", usage, []string{"--pause changes nothing in redis-token-reuse"}},
		{"case redis-setnx-client-* --pause 5s", usage, []string{"--pause changes nothing"}},
		{"case redis-token-reuse --lock redis-setnx", usage, []string{"redis-setnx has no option reuse-id", "redis-set-lua"}},
		{"case --lock=", usage, []string{"no lock"}},
		{"case --lock redis-set-lua extra", usage, []string{`no case "extra"`}},
		{"run redis-set-lua --option fast", usage, []string{`no option "fast"`}},
		{"run zk-children --option czxid", usage, []string{"zk-children has no option czxid; these have: zk-recipe"}},
		{"run redis-setnx --option claim", usage, []string{"redis-setnx has no option claim", "redis-set-lua"}},
		{"run redis-set-lua --fencing=some", usage, []string{"--fencing"}},
		{"run redis-set-lua --fly", usage, []string{"unknown flag: --fly; did you mean --for?"}},
		{"run redis-set-lua --fautl pause", usage, []string{"unknown flag: --fautl; did you mean --fault"}},
		{"run redis-set-lua -seed 7", usage, []string{"unknown flag: -seed; did you mean --seed?"}},
		{"run -help", usage, []string{"unknown flag: -help; did you mean --help?"}},
		{"run redis-set-lua -x", usage, []string{"unknown flag: -x; all: lockcheck run --help"}},
		{"suite --shema", usage, []string{"unknown flag: --shema; did you mean --schema?"}},
		{"bench herd --client 3", usage, []string{"unknown flag: --client; did you mean --clients?"}},
		{"--verbos", usage, []string{"unknown flag: --verbos; did you mean --verbose?"}},
		{"run etcd", usage, []string{`no lock "etcd"; the nearest are redlock, zk-recipe, redis-setnx (all: lockcheck list locks)`}},
		{"run redlock --option token", usage, []string{"redlock has no option token; did you mean token=own?"}},
		{"run --worker cat", usage, []string{"--on docker only"}},
		{"run redis-set-lua --worker cat", usage, []string{"leave out redis-set-lua"}},
		{"run --worker= --on docker", usage, []string{"--worker needs a command"}},
		{"help fly", usage, []string{`no command "fly"`}},
		{"clean up", usage, []string{"clean takes no arguments: leave out up"}},
		{"list locks faults", usage, []string{"one thing at a time"}},
		{"list", usage, []string{"locks, faults, workloads, cases, properties"}},
		{"list lock", usage, []string{"did you mean locks"}},
		{"suite " + dir, usage, []string{dir + " is a directory: name a file in it"}},
		{"shrink " + dir, usage, []string{dir + " is a directory: name a file in it"}},
		{"run redis-set-lua --baseline " + dir, usage, []string{"the baseline: " + dir + " is a directory: name the result.json in it"}},
		{"check", usage, []string{"check needs a FILE"}},
		{"check " + dir + "/none.jsonl", usage, []string{"no file"}},
		{"check " + broken, usage, []string{"broken.jsonl:3"}},
		{"check " + open, usage, []string{"open.jsonl"}},
		{"check " + empty, unproven, nil},
		{"check " + quiet, unproven, nil},
		{"check " + nobody, unproven, nil},
		{"check " + schedule, usage, nil},
		{"replay " + schedule, usage, []string{"not a schedule"}},
		{"replay " + broken, usage, nil},
		{"replay " + dir + "/none.json", usage, nil},
		{"version fly", usage, nil},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			r := lockcheck(t, append(strings.Fields(tt.args), "--out", filepath.Join(dir, "out"))...)
			r.wants(t, tt.code, tt.words...)
			if strings.Contains(r.stderr, "goroutine") || strings.Contains(r.stderr, "panic") {
				t.Errorf("a stack trace:\n%s", r.stderr)
			}
			if tt.code == usage && strings.Count(r.stderr, "\n") > 3 {
				t.Errorf("the message is long:\n%s", r.stderr)
			}
		})
	}
}

func TestHelpAndLists(t *testing.T) {
	tests := map[string][]string{
		"":              {"Begin with:", "lockcheck init", "Exit codes", "case", "run", "check", "replay", "list"},
		"--help":        {"Begin with:"},
		"help":          {"Begin with:"},
		"help run":      {"--fault", "--seed", "lockcheck run redis-set-lua --fault pause"},
		"run --help":    {"--fault", "--seed", "whichever comes first", "200ms to 10m"},
		"case --help":   {"with the remedy, which has to hold", "--lock", "--pause"},
		"matrix --help": {"must be found", "--holding", "--markdown", "docs/random.md"},
		"check --help":  {"standard input"},
		"replay --help": {"the same to", "schedule.json"},
		"list --help":   {"locks, faults, workloads, cases, properties"},
		"clean --help":  {"kill -9"},
		"worker --help": {"docs/worker.md"},
		"version":       {"lockcheck " + harness.Version, "history format 1"},
		"--version":     {"lockcheck " + harness.Version, "history format 1"},
	}
	locks, kinds, cases, properties := []string{"Promises", "Source: Redis manual"}, []string{"Acts on a client.", "Acts on a server.", "On sim, docker"}, []string{"Source: "}, []string{}
	for _, l := range catalogue.Locks {
		locks = append(locks, l.ID, l.Does[:min(20, len(l.Does))])
	}
	for _, o := range catalogue.AllOptions {
		locks = append(locks, o.Name, o.Does[:20])
	}
	kinds = append(kinds, names.Faults()...)
	cases = append(cases, names.Cases()...)
	properties = append(properties, names.Properties()...)
	tests["list locks"], tests["list faults"], tests["list cases"], tests["list properties"] = locks, kinds, cases, properties
	for args, words := range tests {
		t.Run(args, func(t *testing.T) { lockcheck(t, strings.Fields(args)...).wants(t, held, words...) })
	}

	var doc struct {
		Faults []listed
		Locks  []listed
	}
	for _, what := range []string{"faults", "locks"} {
		if err := json.Unmarshal([]byte(lockcheck(t, "list", what, "--json").stdout), &doc); err != nil {
			t.Fatal(err)
		}
	}
	if len(doc.Faults) != len(names.Faults()) || doc.Faults[0].Acts != "a client" || !slices.Contains(doc.Faults[0].On, "sim") {
		t.Errorf("%+v", doc.Faults)
	}
	if len(doc.Locks) != len(catalogue.Locks) || doc.Locks[0].Source == "" || len(doc.Locks[0].Options) == 0 || doc.Locks[0].Options[0].Does == "" {
		t.Errorf("%+v", doc.Locks)
	}
}

// The README shows what the command prints.
func TestTheReadmeIsNotStale(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	story := lockcheck(t, "case", "redis-get-del-race", "--out", t.TempDir()).stdout
	from, to := strings.Index(story, "✗ VIOLATED"), strings.Index(story, "\n\n  Also violated")
	if from < 0 || to < from {
		t.Fatalf("the story has changed its shape:\n%s", story)
	}
	if !strings.Contains(string(readme), asShown(story[from:to])) {
		t.Error("the README tells another story of redis-get-del-race")
	}
	page, err := os.ReadFile("../../docs/properties.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checker.Properties {
		if !strings.Contains(string(page), "| `"+string(p)+"` |") {
			t.Errorf("docs/properties.md does not explain %s", p)
		}
	}
}

// asShown returns the output of a command as the README shows it.
func asShown(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight("    "+line, " \n"))
	}
	return strings.Join(lines, "\n")
}

// The searches in docs/search.md have the results that the page shows.
func TestSearchesOfThePageComeToWhatItSays(t *testing.T) {
	page, err := os.ReadFile("../../docs/search.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	searches := map[string]func(r result){
		"lockcheck run mysql-optimistic --fault none --workload finally": func(r result) {
			from, to := strings.Index(r.stdout, "✗ VIOLATED"), strings.Index(r.stdout, "\n\n               0 s")
			if r.code != violated || to < from || !strings.Contains(string(page), asShown(r.stdout[from:to])) {
				t.Errorf("exit code %d, and the page tells another story of misuse:\n%s", r.code, r.stdout)
			}
		},
		"lockcheck run redis-set-lua --fencing": func(r result) { r.wants(t, held) },
	}
	for _, line := range commandsOf(string(page)) {
		for search, comes := range searches {
			if strings.HasPrefix(line, search) {
				comes(lockcheck(t, append(strings.Fields(line)[1:], "--seed", "1")...))
				delete(searches, search)
			}
		}
	}
	for search := range searches {
		t.Errorf("the page has no %s", search)
	}
}
