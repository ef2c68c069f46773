package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

// In results of run, cells have the name of their lock only. The baseline must have the
// same settings, or it could hide a violation under another fault.
func TestABaselineOfRunIsOfTheSameSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	args := func(seed, runs string, more ...string) []string {
		return append([]string{"run", "redis-set-del", "--seed", seed, "--runs", runs, "--no-shrink", "--promise", "ownership"}, more...)
	}
	save := func(file string, r result) {
		t.Helper()
		if r.wants(t, violated); os.WriteFile(file, []byte(r.stdout), 0o666) != nil {
			t.Fatal(file)
		}
	}
	save("run.json", lockcheck(t, args("1", "60", "--fault", "pause", "--json")...))
	save("search.json", lockcheck(t, "run", "redis-set-del", "--strategy", "exhaustive", "--fault", "pause", "--no-shrink", "--json"))
	suiteRun(t, new(engine), ownerless)
	take(t, "suite.json")
	for _, tt := range []struct {
		args []string
		file string
		code int
		want string
	}{
		{args("1", "60", "--fault", "pause"), "run.json", held, "  known  redis-set-del: ownership"},
		{args("7", "90", "--fault", "pause", "--for", "10m"), "run.json", held, "  known  redis-set-del: ownership"},
		{args("1", "1", "--fault", "pause", "--jobs", "1"), "run.json", unproven, "  unseen redis-set-del: ownership: not found in 1 run; then it was broken in 2"},
		{args("1", "60", "--fault", "kill"), "run.json", usage, "--fault is [pause] there and [kill] here"},
		{args("1", "60"), "run.json", usage, "--fault is [pause] there and not set here"},
		{args("1", "60", "--fault", "pause", "--clients", "3"), "run.json", usage, "--clients is not set there and 3 here"},
		{args("1", "60", "--fault", "pause"), "suite.json", usage, "suite.json: it is of suite, and this is run"},
		{[]string{"run", "redis-set-del", "--strategy", "exhaustive", "--fault", "pause", "--no-shrink"}, "search.json", held, "  known  redis-set-del pause: ownership"},
		{[]string{"run", "redis-set-del", "--strategy", "exhaustive", "--fault", "kill", "--no-shrink"}, "search.json", usage, "--fault is [pause] there"},
		{[]string{"suite"}, "run.json", usage, "run.json: it is of run, and this is suite"},
	} {
		lockcheck(t, append(tt.args, "--baseline", tt.file)...).wants(t, tt.code, tt.want)
	}
	// merge behaves like the command whose shards it joins.
	for _, n := range []string{"1", "2"} {
		lockcheck(t, args("1", "60", "--fault", "kill", "--shard", n+"/2", "--out", filepath.Join("s", n))...)
	}
	lockcheck(t, "merge", "s", "--baseline", "run.json").wants(t, usage, "--fault is [pause] there and [kill] here")
	lockcheck(t, "merge", "s", "--baseline", "suite.json").wants(t, usage, "it is of suite, and this is run")
}

// An empty name is an unset variable of CI; it does not mean "no baseline".
func TestABaselineHasAName(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"run", "redis-setnx", "--runs", "1"}, {"suite"}, {"merge", "shards"}} {
		lockcheck(t, append(args, "--baseline", "")...).wants(t, usage, `--baseline "": it has to be the name of a file`)
	}
}

// Results of shards are joined only if all had the same baseline.
func TestShardsAreHeldAgainstOneBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lockcheck.yaml", []byte("lockcheck: 1\n"+ownerless), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite", "--out", "lockcheck-out-lax").wants(t, violated)
	if err := os.RemoveAll(regressionsDir); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite", "--out", "lockcheck-out-strict", "--runs", "1").wants(t, held)
	lax, strict := filepath.Join("lockcheck-out-lax", results.File), filepath.Join("lockcheck-out-strict", results.File)
	shards := func(baselines ...string) {
		t.Helper()
		if err := os.RemoveAll("lockcheck-out-s"); err != nil {
			t.Fatal(err)
		}
		for i, file := range baselines {
			n := fmt.Sprint(i + 1)
			args := []string{"suite", "--shard", n + "/2", "--out", filepath.Join("lockcheck-out-s", n)}
			if file != "" {
				args = append(args, "--baseline", file)
			}
			if r := lockcheck(t, args...); r.code > violated {
				t.Fatalf("%s%s", r.stdout, r.stderr)
			}
		}
	}
	shards(lax, strict)
	lockcheck(t, "merge", "lockcheck-out-s").wants(t, usage, "the baseline was another one")
	lockcheck(t, "merge", "lockcheck-out-s", "--baseline", strict).wants(t, violated, "new    redis-set-del on sim: pause: ownership")
	shards(lax, "")
	lockcheck(t, "merge", "lockcheck-out-s").wants(t, usage, "the baseline was another one")
	lockcheck(t, "merge", "lockcheck-out-s", "--baseline", lax, "--out", "merged").wants(t, held, "known  redis-set-del on sim: pause: ownership")
	lockcheck(t, "merge", "merged").wants(t, held, "known  redis-set-del on sim: pause: ownership")
	shards(lax, lax)
	lockcheck(t, "merge", "lockcheck-out-s").wants(t, held, "known  redis-set-del on sim: pause: ownership")
	if r := lockcheck(t, "merge", "lockcheck-out-s", "--baseline", strict, "--json"); r.code != violated || strings.Contains(r.stdout, `"known": true`) {
		t.Errorf("what the shards knew is known to another baseline: %d\n%s", r.code, r.stdout)
	}
}
