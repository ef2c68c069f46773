package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/cases"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

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
