package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/results"
)

// unmerged checks that merge rejects the shards with a reason.
func unmerged(t *testing.T, want string, args ...string) {
	t.Helper()
	r := lockcheck(t, append([]string{"merge"}, args...)...)
	r.wants(t, usage)
	if text := strings.Join(strings.Fields(r.stderr), " "); !strings.Contains(text, want) {
		t.Errorf("%s, want %s", text, want)
	}
}

// rewrite changes the text of a result.
func rewrite(t *testing.T, dir string, change func(text string) string) {
	t.Helper()
	file := filepath.Join(dir, results.File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := change(string(text))
	if now == string(text) {
		t.Fatalf("nothing is changed in %s", text)
	}
	if err := os.WriteFile(file, []byte(now), 0o666); err != nil {
		t.Fatal(err)
	}
}

// The table of cells and their expectations may depend on the machine. A cell that only
// one shard has is not lost.
func TestShardsOfAMatrixHaveOneTable(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "matrix redis-set-del redis-set-lua --fault none,pause --runs 20", held, held)
	lockcheck(t, "merge", "s").wants(t, held)
	lockcheck(t, "merge", "s", "--markdown", "--json").wants(t, usage, "--json and --markdown: one of them")
	rewrite(t, filepath.Join("s", "1"), func(text string) string {
		var d results.MatrixDocument
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		name := "redis-set-lua pause"
		d.Table = slices.DeleteFunc(d.Table, func(n string) bool { return n == name })
		d.Cells = slices.DeleteFunc(d.Cells, func(c results.MatrixCellDocument) bool { return c.Lock+" "+c.Fault == name })
		now, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(now)
	})
	unmerged(t, `s/2/result.json (shard 2) and s/1/result.json (shard 1) are not of one exploration: only the former has the cell "redis-set-lua pause"`, "s")
	for name, tt := range map[string]struct{ table, want string }{
		"twice": {`["redis-set-del none","redis-set-del none"]`, `table[1] is "redis-set-del none", as another cell`},
		"none":  {`["redis-set-del"]`, "which is not in the table"},
	} {
		text := `{"schema":1,"command":"matrix","verdict":"held","settings":{},"table":` + tt.table +
			`,"cells":[{"lock":"redis-set-lua","fault":"none","outcome":"missing","result":{"verdict":"held"}}]}`
		if err := os.MkdirAll(name, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name, results.File), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		unmerged(t, tt.want, name)
	}
}

// Servers of other images are other servers, and may not support a fault: their shards
// do not belong to one suite. This does not apply in virtual time, which has no
// servers.
func TestShardsHaveTheSameServers(t *testing.T) {
	t.Chdir(t.TempDir())
	e := new(engine)
	shard := func(n, text string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join("s", n)); err != nil {
			t.Fatal(err)
		}
		if r, _ := suiteRun(t, e, text, "--shard", n+"/2", "--out", filepath.Join("s", n)); r.code > violated {
			t.Fatalf("%s%s", r.stdout, r.stderr)
		}
	}
	onDocker := strings.Replace(ownerless, "    faults", "    on: docker\n    faults", 1)
	for _, tt := range []struct{ env, want string }{
		{docker.MySQLEnv, "LOCKCHECK_MYSQL_IMAGE is not set in the one and other:1 in the other"},
		{docker.BaseEnv, "LOCKCHECK_BASE_IMAGE is debian:bookworm-slim in the one and other:1 in the other"},
	} {
		t.Run(tt.env, func(t *testing.T) {
			shard("1", onDocker)
			t.Setenv(docker.BaseEnv, docker.DefaultBase) // the default value, as if it were not set
			t.Setenv(tt.env, "other:1")
			shard("2", onDocker)
			unmerged(t, tt.want, "s")
			rewrite(t, filepath.Join("s", "2"), func(text string) string { return strings.ReplaceAll(text, `"os": "`, `"os": "Plan 9 not `) })
			shard("1", onDocker)
			unmerged(t, "the operating system is", "s")
		})
	}
	shard("1", ownerless)
	t.Setenv(docker.MySQLEnv, "other:1")
	shard("2", ownerless)
	if r := lockcheck(t, "merge", "s"); r.code != violated {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
}

// Shards must replay the same kept counterexamples.
func TestShardsHaveTheSamePast(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lockcheck.yaml", []byte(spreadSuite), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite", "--shard", "1/2", "--out", "s/1", "--json").wants(t, violated)
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "20", "--promise", "exclusion", "--out", "regressions").wants(t, violated)
	lockcheck(t, "suite", "--shard", "2/2", "--out", "s/2", "--json").wants(t, violated)
	unmerged(t, "the counterexamples of the past were others", "s")
}

// A merged result counts only if there are no shards.
func TestAMergedResultCountsAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "run redis-set-lua --fault pause --runs 60 --no-shrink", violated, violated, violated)
	lockcheck(t, "merge", "s", "--out", "c/merged").wants(t, violated, "Joined   shards 1, 2, 3 of 3")
	lockcheck(t, "merge", "c").wants(t, violated, "Joined   shards 1, 2, 3 of 3")
	if err := os.CopyFS("c/3", os.DirFS("s/3")); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "merge", "c").wants(t, violated, "Missing  shards 1, 2", "c/merged/result.json is left out")
}

// A shard that is found twice counts once if both results are the same. If they differ
// it is an error, also if one of them is incomplete.
func TestAShardThatIsThereTwice(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "run redis-set-lua --fault none --runs 10", held, held)
	if err := os.CopyFS("s/again", os.DirFS("s/2")); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "merge", "s").wants(t, held, "Joined   shards 1, 2 of 2")
	rewrite(t, "s/again", func(text string) string { return strings.Replace(text, `"have": [`, `"cut": [2], "have": [`, 1) })
	unmerged(t, "s/2/result.json and s/again/result.json are both shard 2 of 2, and they differ: leave out one of them", "s")
	lockcheck(t, "merge", "s/1", "s/again").wants(t, unproven, "Cut      shard 2")
}

// A document without settings is not a result, neither of a shard nor of a baseline.
func TestADocumentWithoutSettingsIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "run redis-set-lua --fault none --runs 10", held)
	for _, dir := range []string{"x", "b"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		const text = `{"schema":1,"command":"run","version":"0.1.0","verdict":"held","cells":[]}`
		if err := os.WriteFile(filepath.Join(dir, results.File), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	unmerged(t, "x/result.json is no result of lockcheck: settings is not there", "x", "--baseline", "s/1/result.json")
	unmerged(t, "b/result.json is no result of lockcheck: settings is not there", "s", "--baseline", "b/result.json")
}
