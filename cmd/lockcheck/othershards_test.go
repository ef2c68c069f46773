package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// write writes a file, and makes its directories.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A shard without runs is complete, whether its environment is available or not.
func TestAShardNeedsNoPlaceForTheRunsOfOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1") // no server answers there
	write(t, "lockcheck.yaml", "lockcheck: 1\nlocks:\n  - {lock: redis-setnx, on: docker, faults: none}\n")
	for _, command := range []string{"run redis-setnx --on docker --fault none", "suite"} {
		codes := map[int]int{}
		for _, n := range []string{"1", "2"} {
			r := lockcheck(t, append(strings.Fields(command), "--seed", "1", "--shard", n+"/2", "--out", filepath.Join(command[:3], n))...)
			if codes[r.code]++; (r.code == held) == strings.Contains(r.stderr, "no Docker engine") {
				t.Errorf("%s, shard %s: exit code %d\n%s", command, n, r.code, r.stderr)
			}
		}
		if codes[held] != 1 || codes[unavailable] != 1 {
			t.Errorf("%s: exit codes %v", command, codes)
		}
	}
	// Such a shard is not short of time either.
	codes := map[int]int{}
	for _, n := range []string{"1", "2"} {
		codes[lockcheck(t, "run", "redis-setnx", "--fault", "none", "--runs", "1", "--seed", "1", "--for", "1ns", "--shard", n+"/2", "--out", "time"+n).code]++
	}
	if codes[held] != 1 || codes[unproven] != 1 {
		t.Errorf("without time: exit codes %v", codes)
	}
}

// Trouble with an environment is reported once, however many cells it affects.
func TestAPlaceThatIsNotThereIsSaidOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	write(t, "lockcheck.yaml", "lockcheck: 1\nlocks:\n  - {lock: redis-setnx, on: docker, faults: [none, pause, kill]}\n")
	r := lockcheck(t, "suite")
	r.wants(t, unavailable, "the place failed: as above")
	if n := strings.Count(r.stdout, "DOCKER_HOST="); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, r.stdout)
	}
}

// The story, the files beside it and the page of a job describe the same run: the first
// one that broke a promise.
func TestOneViolationIsToldAndNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "lockcheck.yaml", "lockcheck: 1\nruns: 40\nlocks:\n  - {lock: redis-set-del, faults: partition, promises: [exclusion, handover]}\n")
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", "page.md")
	r := lockcheck(t, "suite", "--seed", "1")
	page, err := os.ReadFile("page.md")
	if err != nil {
		t.Fatal(err)
	}
	r.wants(t, violated)
	for text, pattern := range map[string]string{
		r.stdout:     `shrunk for (\w+) ─`,
		r.stderr:     `title=(\w+) is violated`,
		string(page): `### (\w+) is violated`,
	} {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(text); found == nil || !strings.Contains(r.stdout, "/shrunk-"+found[1]+"\n") {
			t.Errorf("%q are not of the files:\n%s", found, r.stdout)
		}
	}
}

// Two results of one shard count as the same, whatever name the suite's file or the
// baseline had.
func TestAShardTwiceIsOneHoweverItWasCalled(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "lockcheck.yaml", spreadSuite)
	for out, args := range map[string]string{"1": "--shard 1/2", "2": "--shard 2/2", "again": "lockcheck.yaml --shard 1/2"} {
		lockcheck(t, append(append([]string{"suite"}, strings.Fields(args)...), "--out", filepath.Join("s", out))...)
	}
	lockcheck(t, "merge", "s", "--out", "lockcheck-out").wants(t, violated, "Joined   shards 1, 2 of 2")
	known := filepath.Join("lockcheck-out", "result.json")
	lockcheck(t, "suite", "--shard", "1/2", "--baseline", known, "--out", "s/known")
	lockcheck(t, "merge", "s", "--baseline", known).wants(t, held, "Joined   shards 1, 2 of 2")
}

// A merged result is ignored, with a message, if there are shards.
func TestAMergedResultIsLeftOutAloud(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, n := range []string{"1", "2"} {
		lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--promise", "exclusion", "--runs", "20", "--seed", "1", "--shard", n+"/2", "--out", filepath.Join("other", n))
		lockcheck(t, "run", "zk-recipe", "--fault", "none", "--runs", "20", "--seed", "1", "--shard", n+"/2", "--out", filepath.Join("all", n)).wants(t, held)
	}
	lockcheck(t, "merge", "other", "--out", "all/merged").wants(t, violated)
	lockcheck(t, "merge", "all").wants(t, held, "all/merged/result.json is left out: it was merged, and there are shards")
}
