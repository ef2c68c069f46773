package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
)

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
	all := []string{"Remembers ", "Source: "}
	for _, m := range models.All() {
		all = append(all, m.Name)
	}
	tests["list models"] = all
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

// The help shows the purpose of each command, within the width of a screen.
func TestTheHelpGroupsAllCommands(t *testing.T) {
	r := lockcheck(t, "--help")
	r.wants(t, held, "Learn how locks break:", "Look for violations:", "Keep a lock safe in CI:", "The rest:")
	for _, c := range newApp(nil, nil, nil).root().Commands() {
		lockcheck(t, c.Name(), "--help").wants(t, held, "Usage:")
		if c.GroupID == "" && !c.Hidden {
			t.Errorf("%s is in no group", c.Name())
		}
	}
	if strings.Contains(r.stdout, "Additional Commands") {
		t.Error("some are left over")
	}
}
