package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// everything is what there is below this directory.
func everything(t *testing.T) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// brokenSuite breaks a promise.
const brokenSuite = "lockcheck: 1\nruns: 20\nlocks:\n  - {lock: redis-set-lua, faults: pause, promises: exclusion}\n"

// Where nothing can be kept that is said before anything is done, and not after
// hours of it.
func TestNothingIsBegunWhereNothingCanBeKept(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "run redis-set-lua --fault none --runs 5", held)
	lockcheck(t, strings.Fields("case redis-get-del-race --out kept")...).wants(t, held)
	for name, text := range map[string]string{"lockcheck.yaml": brokenSuite, "file": ""} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("closed", 0o555); err != nil {
		t.Fatal(err)
	}
	outs := []string{"file", "file/out", "file/a/b"}
	if os.Geteuid() != 0 { // whom no mode keeps out
		outs = append(outs, "closed", "closed/a/b")
	}
	before := everything(t)
	for _, args := range []string{
		"suite", "suite --shard 1/2", "run redis-set-lua --runs 1000000", "run redis-set-lua --strategy exhaustive",
		"matrix --runs 1000000", "case", "case --lease 2s", "merge s", "replay kept", "shrink kept/redis-get-del-race/schedule.json",
		"bench contention",
	} {
		for _, out := range outs {
			r := lockcheck(t, append(strings.Fields(args), "--json", "--out", out)...)
			r.wants(t, usage, "lockcheck: cannot write to --out "+out+": ")
			if r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("%s --out %s:\n%s%s", args, out, r.stdout, r.stderr)
			}
		}
	}
	lockcheck(t, "suite", "--schema", "--out", "file").wants(t, held) // keeps nothing
	if now := everything(t); !slices.Equal(now, before) {
		t.Errorf("there are %s, and before there were %s", now, before)
	}
	lockcheck(t, "merge", "s", "--out", "new/of/them").wants(t, held)
}
